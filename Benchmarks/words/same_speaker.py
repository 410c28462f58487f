"""Words by the person who taught them: three takes of a speaker, and the speaker's other clips of the word.

    python -m Benchmarks.words.same_speaker --data DIR --cache DIR --work DIR --model MODEL WORD…

The clips are those of Speech Commands, of speakers with four clips of a word or more. The model's embedding must not have been trained on
the words: `python -m Training.embedding.train --without WORD…` trains one. Each speaker's word is taught by itself, at its own threshold.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import numpy as np

from Benchmarks.words.programs import Beckon
from Benchmarks.words.recordings import write
from Training.data import recordings, sources
from Training.data.audio import RATE

ROOT = Path(__file__).resolve().parents[2]
# Takes, and random choices of them by each speaker.
TAKES, DRAWS, NAME = 3, 4, "taught"


def speakers(table, word):
    """For each speaker with more than TAKES clips of a word their rows."""
    rows = defaultdict(list)
    for row in np.flatnonzero((table["kind"] == "clip") & (table["label"] == word)):
        rows[str(sources.speaker(table["name"][row]))].append(row)
    return {speaker: found for speaker, found in rows.items() if len(found) > TAKES}


def measure(beckon, table, word, generator):
    """The number of clips over all draws, and of those in which the word is detected by mode."""
    count, found = 0, {"command": 0, "spot": 0}
    for speaker, rows in speakers(table, word).items():
        paths = [beckon.work / "same-speaker" / word / speaker / f"{number}.wav" for number in range(len(rows))]
        for path, row in zip(paths, rows):
            wave = np.pad(recordings.samples(table, row), (RATE // 2, RATE * 3 // 4))
            write(path, wave + generator.normal(0, 1e-4, len(wave)))
        for _ in range(DRAWS):
            order = [paths[number] for number in generator.permutation(len(paths))]
            count += len(order) - TAKES
            for mode, files in detected(beckon, order[:TAKES], order[TAKES:]).items():
                found[mode] += files
    return count, found


def detected(beckon, takes, others):
    """The number of other clips in which a word taught by takes is detected, by mode; none if it cannot be taught."""
    store = beckon.work / "stores/same-speaker.words"
    store.parent.mkdir(parents=True, exist_ok=True)
    store.unlink(missing_ok=True)
    where = ("--words", store, "--model", beckon.model)
    if not beckon.run("enroll", NAME, *where, "--json", "--force", "--from", *takes, fails=True):
        return {}
    events = {mode: beckon.run("classify", "--json", "--mode", mode, *where, *others) for mode in ("command", "spot")}
    return {mode: len({event["file"] for event in map(json.loads, text.splitlines()) if event["word"] == NAME}) for mode, text in events.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, required=True, help="the folder of recordings")
    parser.add_argument("--cache", type=Path, required=True, help="folder of decoded recordings")
    parser.add_argument("--work", type=Path, required=True, help="folder to write into")
    parser.add_argument("--beckon", type=Path, default=ROOT / ".build/release/beckon")
    parser.add_argument("--model", type=Path, required=True, help="model folder")
    parser.add_argument("words", nargs="+", metavar="WORD")
    options = parser.parse_args()
    table = recordings.load_all([options.data], options.cache)
    beckon, generator = Beckon(options.work, options.beckon, options.model), np.random.default_rng(3)
    sums = defaultdict(int)
    print("| word | clips | `command` | `spot` |\n|---|---|---|---|")
    for word in options.words:
        count, found = measure(beckon, table, word, generator)
        sums["clips"] += count
        for mode, hits in found.items():
            sums[mode] += hits
        print(f"| {word} | {count} | " + " | ".join(f"{100 * hits / max(1, count):.1f} %" for hits in found.values()) + " |", flush=True)
    print(f"| all | {sums['clips']} | " + " | ".join(f"{100 * sums[mode] / max(1, sums['clips']):.1f} %" for mode in ("command", "spot")) + " |")


if __name__ == "__main__":
    main()
