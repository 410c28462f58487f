"""What teaching a command word in one's own voice brings, and what it costs the other words, through the program.

    python adapted.py --data DIR --runs RUNS --beckon PROGRAM --model MODEL

Speakers of the validation partition with five takes of a command: three teach it, two are looked for. Voices are also raised, as
children's are, by playing them faster. What the others lose is counted on clips of other words by all speakers, half of them
raised too: command words that are still heard, and clips that become a word they are not.
"""

import argparse
import collections
import json
import os
import subprocess
import tempfile

import numpy as np
import scipy.signal
import soundfile

import recordings
from examples import COMMANDS

PAIRS, OTHERS = 40, 240
RAISED = (1.0, 1.3, 1.45)


def write(table, row, raised, path, generator):
    """A clip as a file, quiet before and after it."""
    wave = table["audio"][table["start"][row] :][: table["length"][row]].astype(np.float32) / 32768
    wave = scipy.signal.resample_poly(wave, 100, int(100 * raised))
    quiet = generator.normal(0, 3e-4, 28000)
    soundfile.write(path, np.concatenate([quiet[:16000], wave, quiet[16000:]]).astype(np.float32), recordings.RATE)
    return path


class Program:
    def __init__(self, beckon, model, folder):
        self.beckon, self.model, self.words = beckon, model, os.path.join(folder, "words")

    def run(self, *arguments):
        return subprocess.run([self.beckon, *arguments, "--model", self.model], capture_output=True, text=True)

    def teach(self, word, paths):
        if os.path.exists(self.words):
            os.remove(self.words)
        return self.run("enroll", word, "--words", self.words, "--from", *paths).returncode == 0

    def hear(self, paths, words):
        """The words that are heard in each file."""
        heard = collections.defaultdict(list)
        for line in self.run("classify", "--json", "--words", words, *paths).stdout.splitlines():
            event = json.loads(line)
            heard[event["file"]].append(event["word"])
        return heard


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder of recordings, as for train.py")
    parser.add_argument("--runs", required=True, help="folder of the recordings' cache")
    parser.add_argument("--beckon", required=True)
    parser.add_argument("--model", required=True)
    options = parser.parse_args()
    table, generator = recordings.load_all([options.data], options.runs), np.random.default_rng(2)
    clips = np.flatnonzero((table["kind"] == "clip") & (table["part"] == "validation"))
    takes = collections.defaultdict(list)
    for row in clips:
        word, name = table["name"][row].split("/")
        if word in COMMANDS:
            takes[word, name.split("_nohash_")[0]].append(row)
    pairs = [(word, rows[:5]) for (word, _), rows in sorted(takes.items()) if len(rows) >= 5]
    generator.shuffle(pairs)
    pairs = pairs[:PAIRS]
    print("raised   own word heard     other commands heard     clips that become a wrong word")
    for raised in RAISED:
        with tempfile.TemporaryDirectory() as folder:
            program, others, labels = Program(options.beckon, options.model, folder), [], {}
            for number, row in enumerate(generator.choice(clips, OTHERS, replace=False)):
                path = os.path.join(folder, f"other-{number}.wav")
                others.append(write(table, row, raised if number % 2 else 1.0, path, generator))
                labels[path] = table["label"][row]
            commands = [path for path in others if labels[path] in COMMANDS]
            right = lambda heard: sum(labels[path] in heard[path] for path in commands) / len(commands)
            wrong = lambda heard: sum(any(word != labels[path] for word in heard[path]) for path in others)
            before, own, other, mistaken = program.hear(others, "none"), [], [], []
            for number, (word, rows) in enumerate(pairs):
                path = lambda take: os.path.join(folder, f"{number}-{take}.wav")
                files = [write(table, row, raised, path(take), generator) for take, row in enumerate(rows)]
                if not program.teach(word, files[:3]):
                    continue
                heard = [program.hear(files[3:], words) for words in ("none", program.words)]
                own.append([sum(word in part[path] for path in files[3:]) / 2 for part in heard])
                after = program.hear(others, program.words)
                other.append(right(after))
                mistaken.append(wrong(after))
            was, now = np.mean(own, 0) * 100
            print(
                f"{raised:6}   {was:5.1f} -> {now:5.1f} %     {right(before) * 100:8.1f} -> {np.mean(other) * 100:.1f} %"
                f"     {wrong(before):12} -> {np.mean(mistaken):.2f} of {OTHERS}, {len(own)} times",
                flush=True,
            )


if __name__ == "__main__":
    main()
