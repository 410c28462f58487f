# Completion of beckon for fish.

set -l commands listen classify enroll words forget record evaluate inspect devices config doctor bench status mute unmute reload set events help
set -l words yes= no= up= down= left= right= on= off= stop= go=
set -l hears '__fish_seen_subcommand_from listen classify evaluate inspect bench'
set -l teaches '__fish_seen_subcommand_from listen classify enroll words forget evaluate inspect'
set -l talks '__fish_seen_subcommand_from status mute unmute reload set events'

function __beckon_devices
    echo auto
    beckon devices --json 2>/dev/null | string replace --filter --regex '^{"device": "([^"]*)".*' '$1'
end

# The words that were taught.
function __beckon_taught
    beckon words --json 2>/dev/null | string replace --filter --regex '^{"word": "([^"\\\\]*)".*' '$1'
end

complete -c beckon -f
complete -c beckon -n __fish_use_subcommand -l version -d 'Print the version'
complete -c beckon -s h -l help -d 'Explain the command'
complete -c beckon -n __fish_use_subcommand -a listen -d 'Say which words a microphone hears'
complete -c beckon -n __fish_use_subcommand -a classify -d 'Say which words are in audio files'
complete -c beckon -n __fish_use_subcommand -a enroll -d 'Teach a word of your own'
complete -c beckon -n __fish_use_subcommand -a words -d 'List, export or import your own words'
complete -c beckon -n __fish_use_subcommand -a forget -d 'Take words of your own away'
complete -c beckon -n __fish_use_subcommand -a record -d 'Collect a dataset of spoken words'
complete -c beckon -n __fish_use_subcommand -a evaluate -d 'Measure how well a model hears'
complete -c beckon -n __fish_use_subcommand -a inspect -d 'Show what the model sees of a recording'
complete -c beckon -n __fish_use_subcommand -a devices -d 'List capture devices'
complete -c beckon -n __fish_use_subcommand -a config -d 'Check or print the configuration'
complete -c beckon -n __fish_use_subcommand -a doctor -d 'Say what keeps it from listening'
complete -c beckon -n __fish_use_subcommand -a bench -d 'Measure how quick it all is'
complete -c beckon -n __fish_use_subcommand -a status -d 'Ask the service how it is'
complete -c beckon -n __fish_use_subcommand -a mute -d 'Close the microphone'
complete -c beckon -n __fish_use_subcommand -a unmute -d 'Open the microphone again'
complete -c beckon -n __fish_use_subcommand -a reload -d 'Read the configuration again'
complete -c beckon -n __fish_use_subcommand -a set -d 'Give words other thresholds'
complete -c beckon -n __fish_use_subcommand -a events -d 'Print every event'
complete -c beckon -n __fish_use_subcommand -a help -d 'Explain a command'

complete -c beckon -n $hears -s t -l threshold -x -d 'Confidence that every word needs'
complete -c beckon -n $hears -s w -l word -x -a "$words" -d 'Confidence that one word needs'
complete -c beckon -n $hears -l mode -x -a 'command spot' -d 'Where words are found'
complete -c beckon -n $hears -l trigger -x -a 'early end' -d 'When a word is reported'
complete -c beckon -n $hears -s m -l model -x -a '(__fish_complete_directories)' -d 'Model folder'
complete -c beckon -n $hears -l channel -x -a 'mix 0 1 0,1' -d 'Channels to listen to'
complete -c beckon -n $teaches -l words -r -F -a none -d 'File of your own words, or none'

set -l on '__fish_seen_subcommand_from listen'
complete -c beckon -n $on -s d -l device -x -a '(__beckon_devices)' -d 'Capture device'
complete -c beckon -n $on -l file -r -F -d 'Play a file as if from a microphone'
complete -c beckon -n $on -l phrase -x -d 'Report words in this order'
complete -c beckon -n $on -s c -l config -r -F -d 'Configuration'
complete -c beckon -n $on -l json -d 'Print JSON'
complete -c beckon -n $on -l record -r -F -d 'Also write what is heard'

set -l on '__fish_seen_subcommand_from classify'
complete -c beckon -n $on -F
complete -c beckon -n $on -l clips -d 'One label a file'
complete -c beckon -n $on -l phrase -x -d 'Report words in this order'
complete -c beckon -n $on -l json -d 'Print JSON'
complete -c beckon -n $on -s f -l format -x -a 'table json csv audacity' -d 'How to print'
complete -c beckon -n $on -s o -l output -x -a '(__fish_complete_directories)' -d 'Folder for label tracks'
complete -c beckon -n $on -l stats -d 'Tell time and speed'
complete -c beckon -n $on -s j -l jobs -x -d 'Files at a time'
complete -c beckon -n $on -s 0 -l null -d 'Names end with NUL'

set -l on '__fish_seen_subcommand_from enroll'
complete -c beckon -n "$on; and __fish_contains_opt from" -F
complete -c beckon -n "$on; and __fish_contains_opt more" -a '(__beckon_taught)'
complete -c beckon -n $on -s d -l device -x -a '(__beckon_devices)' -d 'Capture device'
complete -c beckon -n $on -s c -l config -r -F -d 'Configuration'
complete -c beckon -n $on -l channel -x -a 'mix 0 1 0,1' -d 'Channels to listen to'
complete -c beckon -n $on -s n -l takes -x -d 'Takes to ask for'
complete -c beckon -n $on -l from -r -F -d 'Recordings to learn from'
complete -c beckon -n $on -l more -d 'Add takes to a word'
complete -c beckon -n $on -l no-audio -d 'Do not keep the recordings'
complete -c beckon -n $on -s m -l model -x -a '(__fish_complete_directories)' -d 'Model folder'
complete -c beckon -n $on -l json -d 'Print JSON'

set -l on '__fish_seen_subcommand_from words forget'
complete -c beckon -n $on -s m -l model -x -a '(__fish_complete_directories)' -d 'Model folder'
complete -c beckon -n $on -l json -d 'Print JSON'
complete -c beckon -n '__fish_seen_subcommand_from words; and not __fish_seen_subcommand_from export import' -a 'export import'
complete -c beckon -n '__fish_seen_subcommand_from words; and __fish_seen_subcommand_from export import' -F
complete -c beckon -n '__fish_seen_subcommand_from words; and __fish_seen_subcommand_from export' -a '(__beckon_taught)'
complete -c beckon -n '__fish_seen_subcommand_from forget' -a '(__beckon_taught)'

set -l on '__fish_seen_subcommand_from record'
complete -c beckon -n $on -a '(__fish_complete_directories)'
complete -c beckon -n $on -s l -l label -x -d 'What is said'
complete -c beckon -n $on -s s -l speaker -x -d 'Who says it'
complete -c beckon -n $on -s n -l count -x -d 'End after so many'
complete -c beckon -n $on -s d -l device -x -a '(__beckon_devices)' -d 'Capture device'
complete -c beckon -n $on -s c -l config -r -F -d 'Configuration'
complete -c beckon -n $on -l channel -x -a 'mix 0 1 0,1' -d 'Channels to listen to'
complete -c beckon -n $on -l file -r -F -d 'Play a file as if from a microphone'
complete -c beckon -n $on -s m -l model -x -a '(__fish_complete_directories)' -d 'Model folder'

set -l on '__fish_seen_subcommand_from evaluate'
complete -c beckon -n $on -F
complete -c beckon -n $on -l list -r -F -d 'Only the clips named there'
complete -c beckon -n $on -l stream -d 'Long recordings with label tracks'
complete -c beckon -n $on -l tolerance -x -d 'How late a word may be decided'
complete -c beckon -n $on -l json -d 'Print JSON'
complete -c beckon -n $on -l html -r -F -d 'Also write a report'
complete -c beckon -n $on -s j -l jobs -x -d 'Files at a time'

set -l on '__fish_seen_subcommand_from inspect'
complete -c beckon -n $on -F
complete -c beckon -n $on -l from -x -d 'Begin here'
complete -c beckon -n $on -l to -x -d 'End here'
complete -c beckon -n $on -s o -l output -r -F -d 'Page to write'
complete -c beckon -n $on -l json -d 'Print JSON'

complete -c beckon -n '__fish_seen_subcommand_from devices' -l json -d 'Print JSON'

set -l on '__fish_seen_subcommand_from doctor'
complete -c beckon -n $on -s d -l device -x -a '(__beckon_devices)' -d 'Capture device'
complete -c beckon -n $on -s c -l config -r -F -d 'Configuration'
complete -c beckon -n $on -s m -l model -x -a '(__fish_complete_directories)' -d 'Model folder'
complete -c beckon -n $on -l json -d 'Print JSON'

set -l on '__fish_seen_subcommand_from bench'
complete -c beckon -n $on -F
complete -c beckon -n $on -l end-to-end -d 'From the end of a word to its action'
complete -c beckon -n $on -l first-score -d 'Load the model and score a hop'
complete -c beckon -n $on -l compare -d 'Two reports side by side'
complete -c beckon -n $on -s k -l kernels -x -a 'scalar baseline avx2 avx512' -d 'Kernels to measure'
complete -c beckon -n $on -s s -l seconds -x -d 'How long to measure'
complete -c beckon -n $on -l streams -x -d 'Also so many streams in turn'
complete -c beckon -n $on -s d -l device -x -a '(__beckon_devices)' -d 'Device that plays a recording'
complete -c beckon -n $on -l track -r -F -d 'Label track of the recording'
complete -c beckon -n $on -l stamp -r -F -d 'Program that tells when it began'
complete -c beckon -n $on -l json -d 'Print JSON'

complete -c beckon -n '__fish_seen_subcommand_from config; and not __fish_seen_subcommand_from check show' -a 'check show'
complete -c beckon -n '__fish_seen_subcommand_from check show' -F

complete -c beckon -n $talks -l socket -r -F -d 'Control socket'
complete -c beckon -n $talks -l json -d 'Print JSON'
complete -c beckon -n '__fish_seen_subcommand_from set' -a "$words"
complete -c beckon -n '__fish_seen_subcommand_from help' -a "$commands"
