"""Measures what a command that is taught in the speaker's voice brings, and what it costs the other words, through the program.

    python -m Training.evaluate.own_voice --data DIR --cache DIR --beckon BINARY --model MODEL

Speakers of the reporting half with five takes of a command: three are enrolled, two are tested. Voices are also raised
like children's by playing them faster. The cost is counted on clips of other words by all speakers, half of them raised too:
commands that are still recognized, and clips that become a wrong word.
"""

import collections
import json
import os
import subprocess
import tempfile

import numpy as np
import scipy.signal
import soundfile

from Training.data import command_line, recordings, sources
from Training.data.audio import RATE
from Training.data.seeding import generator as seeded
from Training.data.vocabulary import COMMANDS

# Pairs of word and speaker, clips of other words, and takes of a pair: enrolled and in all.
PAIRS, OTHERS = 40, 240
ENROLLED, TAKES = 3, 5
# Whose clips are used.
PART = "report"
# Factors of playback speed.
RAISED = (1.0, 1.3, 1.45)


def write_take(table, row, raised, path, generator):
    """Writes a clip as a file with quiet noise before and after it; returns the path."""
    wave = scipy.signal.resample_poly(recordings.samples(table, row), 100, int(100 * raised))
    quiet = generator.normal(0, 3e-4, 28000)
    soundfile.write(path, np.concatenate([quiet[:16000], wave, quiet[16000:]]).astype(np.float32), RATE)
    return path


class Program:
    """The built program with a word store of its own."""

    def __init__(self, beckon, model, folder):
        self.beckon, self.model, self.words = beckon, model, os.path.join(folder, "words")

    def run(self, *arguments):
        return subprocess.run([self.beckon, *arguments, "--model", self.model], capture_output=True, text=True)

    def enroll(self, word, paths):
        """Whether `enroll` accepts these takes."""
        if os.path.exists(self.words):
            os.remove(self.words)
        return self.run("enroll", word, "--words", self.words, "--from", *paths).returncode == 0

    def detections(self, paths, words):
        """The words that are detected in each file, by path."""
        found = collections.defaultdict(list)
        for line in self.run("classify", "--json", "--words", words, *paths).stdout.splitlines():
            event = json.loads(line)
            found[event["file"]].append(event["word"])
        return found


def pairs_of(table, generator):
    """(word, rows of five takes) of random speakers of the reporting half."""
    takes = collections.defaultdict(list)
    for row in np.flatnonzero((table["kind"] == "clip") & (table["part"] == PART)):
        if table["label"][row] in COMMANDS:
            takes[str(table["label"][row]), sources.speaker(table["name"][row])].append(row)
    pairs = [(word, rows[:TAKES]) for (word, _), rows in sorted(takes.items()) if len(rows) >= TAKES]
    generator.shuffle(pairs)
    return pairs[:PAIRS]


def measure(program, folder, table, pairs, raised, generator):
    """Prints one row of the table: before → after enrolling."""
    clips = np.flatnonzero((table["kind"] == "clip") & (table["part"] == PART))
    others, labels = [], {}
    for number, row in enumerate(generator.choice(clips, OTHERS, replace=False)):
        path = os.path.join(folder, f"other-{number}.wav")
        others.append(write_take(table, row, raised if number % 2 else 1.0, path, generator))
        labels[path] = table["label"][row]
    commands = [path for path in others if labels[path] in COMMANDS]
    right = lambda found: sum(labels[path] in found[path] for path in commands) / len(commands)
    wrong = lambda found: sum(any(word != labels[path] for word in found[path]) for path in others)
    before, own, still_right, now_wrong = program.detections(others, "none"), [], [], []
    for number, (word, rows) in enumerate(pairs):
        files = []
        for take, row in enumerate(rows):
            path = os.path.join(folder, f"{number}-{take}.wav")
            files.append(write_take(table, row, raised, path, generator))
        if not program.enroll(word, files[:ENROLLED]):
            continue
        tested = files[ENROLLED:]
        found = [program.detections(tested, words) for words in ("none", program.words)]
        own.append([sum(word in part[path] for path in tested) / len(tested) for part in found])
        after = program.detections(others, program.words)
        still_right.append(right(after))
        now_wrong.append(wrong(after))
    was, now = np.mean(own, 0) * 100
    print(
        f"{raised:6}   {was:5.1f} -> {now:5.1f} %     {right(before) * 100:8.1f} -> {np.mean(still_right) * 100:.1f} %"
        f"     {wrong(before):12} -> {np.mean(now_wrong):.2f} of {OTHERS}, {len(own)} times",
        flush=True,
    )


def main(arguments=None):
    parser = command_line.parser(__doc__)
    command_line.add_program(parser)
    options = parser.parse_args(arguments)
    table, generator = recordings.load_all(options.data, options.cache), seeded("adapted commands")
    pairs = pairs_of(table, generator)
    print("raised   own word detected     other commands detected     clips with a wrong word")
    for raised in RAISED:
        with tempfile.TemporaryDirectory() as folder:
            program = Program(options.beckon, options.model, folder)
            measure(program, folder, table, pairs, raised, generator)


if __name__ == "__main__":
    main()
