# Completion of beckon for bash.

# The words that were taught; a name may hold blanks.
_beckon_taught()
{
    local name typed="${1//[\\\"\']/}"
    while IFS= read -r name; do
        [[ $name == "$typed"* ]] && COMPREPLY+=("$name")
    done < <(beckon words --json 2>/dev/null | sed -n 's/^{"word": "\([^"\\]*\)".*/\1/p')
}

_beckon()
{
    local current="${COMP_WORDS[COMP_CWORD]}" previous="${COMP_WORDS[COMP_CWORD - 1]}"
    local commands="listen classify enroll words forget record evaluate inspect devices config doctor bench status mute unmute reload set events help"
    local words="yes no up down left right on off stop go"
    local hearing="--threshold --word --mode --trigger --model --channel --help"
    local options=""
    COMPREPLY=()

    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$commands --version --help" -- "$current")
        return
    fi

    # The value of an option.
    case "${COMP_WORDS[1]} $previous" in
        *\ --mode) mapfile -t COMPREPLY < <(compgen -W "command spot" -- "$current"); return ;;
        *\ --trigger) mapfile -t COMPREPLY < <(compgen -W "early end" -- "$current"); return ;;
        *\ --kernels | "bench -k") mapfile -t COMPREPLY < <(compgen -W "scalar baseline avx2 avx512" -- "$current"); return ;;
        *\ --channel) mapfile -t COMPREPLY < <(compgen -W "mix 0 1 0,1" -- "$current"); return ;;
        *\ --format | "classify -f") mapfile -t COMPREPLY < <(compgen -W "table json csv audacity" -- "$current"); return ;;
        *\ --word | *\ -w)
            compopt -o nospace
            mapfile -t COMPREPLY < <(compgen -W "$words" -S = -- "$current")
            return
            ;;
        *\ --device | *\ -d)
            local devices
            devices=$(beckon devices --json 2>/dev/null | sed -n 's/^{"device": "\([^"]*\)".*/\1/p')
            mapfile -t COMPREPLY < <(compgen -W "auto $devices" -- "$current")
            type __ltrim_colon_completions &>/dev/null && __ltrim_colon_completions "$current"
            return
            ;;
        *\ --words)
            mapfile -t COMPREPLY < <(compgen -W none -- "$current"; compgen -f -- "$current")
            return
            ;;
        *\ --model | *\ -m | "classify --output" | "classify -o") mapfile -t COMPREPLY < <(compgen -d -- "$current"); return ;;
        *\ --config | *\ -c | *\ --file | *\ --track | *\ --stamp | *\ --record | *\ --list | *\ --html | *\ --output | *\ -o | *\ --socket | "enroll --from")
            mapfile -t COMPREPLY < <(compgen -f -- "$current")
            return
            ;;
        *\ --threshold | *\ -t | *\ --phrase | *\ --jobs | *\ -j | *\ --tolerance | *\ --from | *\ --to | *\ --seconds | *\ --streams) return ;;
        *\ --takes | *\ --count | *\ -n | *\ --label | *\ -l | *\ --speaker | "record -s") return ;;
    esac

    case "${COMP_WORDS[1]}" in
        listen) options="$hearing --words --device --file --phrase --config --json --record" ;;
        classify) options="$hearing --words --clips --phrase --json --format --output --stats --jobs --null" ;;
        enroll) options="--device --config --channel --takes --from --more --no-audio --words --model --json --help" ;;
        words | forget) options="--words --model --json --help" ;;
        record) options="--label --speaker --count --device --config --channel --file --model --help" ;;
        evaluate) options="$hearing --words --list --stream --tolerance --json --html --jobs" ;;
        inspect) options="$hearing --words --from --to --output --json" ;;
        devices) options="--json --help" ;;
        config) options="--help" ;;
        doctor) options="--device --config --model --json --help" ;;
        bench) options="$hearing --end-to-end --first-score --compare --kernels --seconds --streams --device --track --stamp --json" ;;
        status | mute | unmute | reload | set | events) options="--socket --json --help" ;;
    esac
    if [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
        return
    fi

    case "${COMP_WORDS[1]}" in
        help) mapfile -t COMPREPLY < <(compgen -W "$commands" -- "$current") ;;
        classify | evaluate | inspect | bench) mapfile -t COMPREPLY < <(compgen -f -- "$current") ;;
        enroll)
            if [[ " ${COMP_WORDS[*]} " == *" --from "* ]]; then
                mapfile -t COMPREPLY < <(compgen -f -- "$current")
            elif [[ " ${COMP_WORDS[*]} " == *" --more "* ]]; then
                _beckon_taught "$current"
            fi
            ;;
        words)
            if ((COMP_CWORD == 2)); then
                mapfile -t COMPREPLY < <(compgen -W "export import" -- "$current")
            elif ((COMP_CWORD == 3)); then
                mapfile -t COMPREPLY < <(compgen -f -- "$current")
            elif [[ ${COMP_WORDS[2]} == export ]]; then
                _beckon_taught "$current"
            fi
            ;;
        forget) _beckon_taught "$current" ;;
        record) mapfile -t COMPREPLY < <(compgen -d -- "$current") ;;
        config)
            if ((COMP_CWORD == 2)); then
                mapfile -t COMPREPLY < <(compgen -W "check show" -- "$current")
            else
                mapfile -t COMPREPLY < <(compgen -f -- "$current")
            fi
            ;;
        set)
            compopt -o nospace
            mapfile -t COMPREPLY < <(compgen -W "$words" -S = -- "$current")
            ;;
    esac
}
complete -o filenames -F _beckon beckon
