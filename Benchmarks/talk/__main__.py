"""False accepts an hour of detectors in hours of acted English dialogue that anyone can get: two games of Debian.

    python -m Benchmarks.talk --folder DIR

Beckon's ten words in both modes at each sensitivity, with the confirming networks and without; its taught words, if there are recordings to teach from; its ready
wake words, typed words; and openWakeWord, microWakeWord, efficientword-net and PocketSphinx on the same streams. What cannot be installed is skipped with a line. See
extract.py for what is heard. It measures only: no threshold, network or word may be chosen by it, or it promises nothing any more.

The folder keeps the audio and what each detector found, by checksums of program, model and audio: another run goes on where one ended. --misses prints each
false accept of the default settings with its subtitle.
"""

import argparse
import concurrent.futures
import functools
import importlib.util
import json
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import numpy as np

from Benchmarks.talk import extract, packages, rates
from Benchmarks.talk.answers import Answers, digest
from Training.data.vocabulary import COMMANDS

ROOT = Path(__file__).resolve().parents[2]
MODES, SENSITIVITIES = ("command", "spot"), ("strict", "balanced", "eager")
# Names that are typed; the dialogues say none of them.
TYPED = ("alexa", "computer", "hey house", "hey jarvis", "okay nabu", "smart mirror", "snowboy", "view glass")
# Numbers of takes that words are taught from, random choices of them, and streams that one call of Beckon reads.
TAKES, DRAWS, AT_ONCE = (3, 5), 4, 8


class Bench:
    """The talk, the answers, and the rows of the table."""

    def __init__(self, options, talk):
        self.options, self.talk, self.answers, self.rows = options, talk, Answers(options.folder / "answers"), []
        chosen = sorted(talk["streams"])[:: options.every]
        self.streams = [options.folder / "streams" / f"{name}.wav" for name in chosen]
        self.hours = sum(talk["streams"][name]["seconds"] for name in chosen) / 3600

    def row(self, name, task, found, words=1, draws=1):
        """Adds a row: false accepts of all `words` and `draws` in `found`, and their rate an hour and word, or of all words at once if `words` is 1."""
        hours = self.hours * words * draws
        low, high = rates.interval(len(found), hours)
        by_game = [sum(item[0].startswith(game) for item in found) for game in self.talk["games"]]
        self.rows.append([name, task, str(len(found)), " + ".join(map(str, by_game)), f"{len(found) / hours:.2f}", f"{low:.2f}–{high:.2f}"])
        print(*self.rows[-1], sep=" | ", file=sys.stderr, flush=True)

    def beckon(self, *settings, files=()):
        """Detections by stream of `beckon classify`; `files` are those that the settings name, whose contents count, not their names."""

        def ask(streams):
            for start in range(0, len(streams), AT_ONCE):
                some = streams[start : start + AT_ONCE]
                arguments = ["classify", "--json", "--jobs", self.options.jobs, "--model", self.options.model, *settings, *some]
                found = {str(stream): [] for stream in some}
                for event in map(json.loads, run(self.options.beckon, *arguments).splitlines()):
                    found[event["file"]].append([event[key] for key in ("time", "word", "confidence", "start", "end")])
                yield from ((stream, found[str(stream)]) for stream in some)

        names = [str(part) for part in settings if part not in files]
        question = ["beckon", digest(self.options.beckon), digest(self.options.model), *names, *map(digest, files)]
        return self.answers(question, self.streams, ask)

    def package(self, name, function, *question):
        """Detections by stream of a package, or None, with a line, if it is not installed. `function` gets a stream."""
        try:
            known = version(name)
        except PackageNotFoundError:
            print(f"{name}: skipped: not installed", flush=True)
            return None

        def ask(streams):
            with concurrent.futures.ProcessPoolExecutor(self.options.jobs) as workers:
                asked = {workers.submit(function, stream): stream for stream in streams}
                for done in concurrent.futures.as_completed(asked):
                    yield asked[done], done.result()

        try:
            return self.answers([name, known, *question], self.streams, ask)
        except ImportError as error:
            print(f"{name}: skipped: {error}", flush=True)
            return None


def run(program, *arguments, fails=False):
    ended = subprocess.run([str(part) for part in (program, *arguments)], capture_output=True, text=True)
    if ended.returncode and not fails:
        sys.exit(f"{program}: {ended.stderr.strip()}")
    return "" if ended.returncode else ended.stdout


def ten_words(bench):
    for confirm in ((), ("--no-confirm",)):
        for mode in MODES:
            for sensitivity in SENSITIVITIES:
                found = bench.beckon("--mode", mode, "--sensitivity", sensitivity, "--words", "none", *confirm)
                found = rates.false_accepts(bench.talk, found, COMMANDS)
                bench.row("Beckon", f"ten words, `{mode}`, {sensitivity}" + (", `--no-confirm`" if confirm else ""), found)


def wake_words(bench):
    """The shipped models of microWakeWord, and the heads of openWakeWord that pyopen-wakeword has, both run by Beckon."""
    kinds = {"ready wake word": sorted((bench.options.model.parent / "wake-words").glob("*.tflite"))}
    if importlib.util.find_spec("pyopen_wakeword"):
        heads = Path(importlib.util.find_spec("pyopen_wakeword").origin).parent / "models"
        kinds["openWakeWord's"] = [heads / f"{word}.tflite" for word in packages.words_of("pyopen-wakeword")]
    for kind, models in kinds.items():
        chosen = [part for model in models for part in ("--wake-word", model)]
        found = bench.beckon("--words", "none", *chosen, files=models)
        for model in models:
            bench.row("Beckon", f"{kind} {model.stem}", rates.false_accepts(bench.talk, found, [model.stem]))


def typed_words(bench):
    """Words that are made from their names, all at once."""
    store = bench.options.folder / "stores/typed.words"
    store.parent.mkdir(exist_ok=True)
    store.unlink(missing_ok=True)
    for name in TYPED:
        run(bench.options.beckon, "enroll", name, "--typed", "--force", "--words", store, "--model", bench.options.model, "--json")
    found = bench.beckon("--words", store, "--no-confirm", files=[store])
    for name in TYPED:
        bench.row("Beckon", f"typed word {name}", rates.false_accepts(bench.talk, found, [name]))


def clips(options):
    """Clips of the words that bench-words teaches, by word; written once."""
    from Benchmarks.words.recordings import write
    from Benchmarks.words.strangers import CLIPS
    from Training.data.recordings import decode, read_tar

    folder, found = options.folder / "clips", {}
    for word, (archive, part) in CLIPS.items():
        if not (folder / word).is_dir():
            generator = np.random.default_rng(5)
            named = [data for name, data in read_tar(options.data / archive) if part in f"/{name}"]
            for number, wave in enumerate(decode(data) / 32768 for data in named):
                wave = np.pad(wave, (8000, 12000))
                write(folder / f"{word}.new" / f"{number}.wav", wave + generator.normal(0, 1e-4, len(wave)))
            (folder / f"{word}.new").rename(folder / word)
        found[word] = sorted((folder / word).iterdir(), key=lambda path: int(path.stem))
    return found


def draws(found, takes):
    """Random takes of each word, DRAWS times; the same whatever else is measured."""
    generator = np.random.default_rng([6, takes])
    for _ in range(DRAWS):
        yield [(word, [files[n] for n in generator.choice(len(files), takes, replace=False)]) for word, files in found.items()]


def taught_words(bench):
    found = clips(bench.options)
    for takes in TAKES:
        stores = []
        for number, draw in enumerate(draws(found, takes)):
            stores.append(bench.options.folder / "stores" / f"{takes}-{number}.words")
            if not stores[-1].exists():
                stores[-1].parent.mkdir(exist_ok=True)
                new = stores[-1].with_suffix(".new")
                new.unlink(missing_ok=True)
                for word, files in draw:
                    run(bench.options.beckon, "enroll", word, "--words", new, "--model", bench.options.model, "--json", "--force", "--from", *files, fails=True)
                new.rename(stores[-1])
        for mode in MODES:
            answers = [bench.beckon("--mode", mode, "--words", store, files=[store]) for store in stores]
            wrong = [item for one in answers for item in rates.false_accepts(bench.talk, one, found)]
            bench.row("Beckon", f"a word taught by {takes} takes, `{mode}`", wrong, words=len(found), draws=DRAWS)
    for number, draw in enumerate(draws(found, 5) if not bench.options.beckon_only else ()):
        takes = [(word, [str(file) for file in files]) for word, files in draw]
        function = functools.partial(packages.efficient_word_net, takes=takes, kept=bench.options.folder / "embeddings")
        one = bench.package("efficientword-net", function, *(digest(file) for _, files in draw for file in files))
        if one is None:
            return
        wrong = rates.false_accepts(bench.talk, one, found) + ([] if number == 0 else wrong)
    if not bench.options.beckon_only:
        bench.row(f"efficientword-net {version('efficientword-net')}", "a word taught by 5 takes", wrong, words=len(found), draws=DRAWS)


def other_packages(bench):
    for name, called, function in (
        ("pymicro-wakeword", "microWakeWord", packages.micro_wake_word),
        ("pyopen-wakeword", "openWakeWord", packages.open_wake_word),
    ):
        answers = bench.package(name, function)
        if answers is not None:
            found = rates.false_accepts(bench.talk, answers)
            for word in packages.words_of(name):
                bench.row(f"{called} ({name} {version(name)})", word, [item for item in found if item[2] == word])
    answers = bench.package("pocketsphinx", functools.partial(packages.pocket_sphinx, words=COMMANDS))
    if answers is not None:
        bench.row(f"PocketSphinx {version('pocketsphinx')}", "ten words, threshold 1e-1", rates.false_accepts(bench.talk, answers))


def misses(bench):
    """Prints each false accept at the default sensitivity: mode, word, confidence, stream, time, and the line with its subtitle."""
    for mode in MODES:
        found = bench.beckon("--mode", mode, "--sensitivity", "balanced", "--words", "none")
        for stream, time, word, score, line in rates.false_accepts(bench.talk, found, COMMANDS):
            text = bench.talk["lines"][line]["text"] if line else ""
            print(mode, word, f"{score:.3f}", f"{stream}@{time:.2f}", line or "-", text, sep="\t")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", required=True, type=Path, help="folder for audio and answers, 1.5 GB")
    parser.add_argument("--data", type=Path, help="recordings to teach words from (see Training/README.md)")
    parser.add_argument("--beckon", default=ROOT / ".build/release/beckon", type=Path, help="the built program")
    parser.add_argument("--model", default=ROOT / "Models/commands", type=Path)
    parser.add_argument("--jobs", type=int, default=2, help="streams at a time")
    parser.add_argument("--every", type=int, default=1, metavar="N", help="every Nth stream only, for a shorter run")
    parser.add_argument("--beckon-only", action="store_true", help="without the packages")
    parser.add_argument("--misses", action="store_true", help="print each false accept of the ten words at balanced, and nothing else")
    options = parser.parse_args()
    if options.every < 1 or options.jobs < 1:
        parser.error("--every, --jobs: at least one")
    options.folder = options.folder.resolve()
    return options


def main():
    options, sources = arguments(), {}
    for name, (package, _) in extract.GAMES.items():
        sources[name] = extract.find_game(name, options.folder)
        if sources[name] is None:
            print(f"{package}: skipped: neither installed nor to be had by apt-get download", flush=True)
    sources = {name: data for name, data in sources.items() if data}
    if not sources:
        sys.exit("no talk: apt-get install beneath-a-steel-sky flight-of-the-amazon-queen")
    bench = Bench(options, extract.extract(options.folder, sources, options.jobs))
    if options.misses:
        return misses(bench)
    lines = bench.talk["lines"]
    print(f"{len(lines)} lines, {bench.talk['left_out']} files left out ({options.folder}/left-out.tsv); {bench.hours:.2f} h are heard", flush=True)
    ten_words(bench)
    wake_words(bench)
    typed_words(bench)
    if not options.beckon_only:
        other_packages(bench)
    if options.data:
        taught_words(bench)
    else:
        print("taught words: skipped: no DATA to teach them from")
    heads = ["detector", "listens for", "false accepts", " + ".join(bench.talk["games"]), "an hour", "95 %"]
    print("\n| " + " | ".join(heads) + " |\n|---|---|---:|---:|---:|---:|")
    for row in bench.rows:
        print("| " + " | ".join(row) + " |")


if __name__ == "__main__":
    main()
