"""Has espeak-ng and flite speak words: dictionary words, words near the commands, and the commands themselves.

    python -m Training.data.synthesize --out DIR

Writes `DIR/words/synthetic/…wav` and `DIR/words/<command>/…wav`. The commands are included so that the network cannot learn
that a synthetic voice means an unknown word. Needs the Debian packages espeak-ng, flite and wamerican-small.
"""

import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

from Training.data import command_line
from Training.data.seeding import generator as seeded
from Training.data.vocabulary import NEAR_WORDS, SYNTHETIC

DICTIONARY = "/usr/share/dict/american-english-small"
ESPEAK = ["en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-029", "en-gb-x-gbclan"]
VARIANTS = [f"+m{i}" for i in range(1, 9)] + [f"+f{i}" for i in range(1, 6)] + [""]
FLITE = ["kal16", "awb", "rms", "slt"]


def speak_command(word, path, generator):
    """The command line that records a word with a random voice, speed and pitch."""
    if generator.random() < 0.6:
        voice = generator.choice(ESPEAK) + generator.choice(VARIANTS)
        speed, pitch = generator.integers(120, 220), generator.integers(15, 90)
        return f"espeak-ng -v {voice} -s {speed} -p {pitch} -w".split() + [path, word]
    stretch, pitch = generator.uniform(0.8, 1.3), generator.uniform(80, 220)
    settings = f"--setf duration_stretch={stretch:.2f} --setf int_f0_target_mean={pitch:.0f}"
    return f"flite -voice {generator.choice(FLITE)} {settings} -t".split() + [word, "-o", path]


def main(arguments=None):
    parser = command_line.parser(__doc__, data=False)
    parser.add_argument("--out", required=True, help="folder to write to")
    parser.add_argument("--dictionary-words", type=int, default=3500, help="number of dictionary words")
    parser.add_argument("--phrases", type=int, default=0, help="number of pairs of dictionary words")
    parser.add_argument("--dictionary-takes", type=int, default=1, help="recordings of each dictionary word and phrase")
    parser.add_argument("--near-takes", type=int, default=10, help="recordings of each word near a command")
    parser.add_argument("--command-takes", type=int, default=120, help="recordings of each command")
    command_line.add_words(parser)
    options = parser.parse_args(arguments)
    missing = [name for name in ("espeak-ng", "flite") if not shutil.which(name)]
    missing += [] if os.path.exists(DICTIONARY) else ["wamerican-small"]
    if missing:
        sys.exit(f"synthesize needs: apt-get install {' '.join(missing)}")
    generator, commands = seeded("synthetic words"), options.words
    with open(DICTIONARY) as file:
        listed = [
            w for w in file.read().split() if w.isalpha() and w.islower() and 2 < len(w) < 10 and w not in commands
        ]
    once = list(generator.choice(listed, options.dictionary_words, replace=False))
    short = [word for word in listed if len(word) < 7]
    once += [" ".join(generator.choice(short, 2, replace=False)) for _ in range(options.phrases)]
    others = once * options.dictionary_takes + [w for w in NEAR_WORDS if w not in commands] * options.near_takes
    # All voices are drawn before anything runs, so that the order in which the programs end does not matter.
    jobs = []
    for label, words in [(SYNTHETIC, others)] + [(c, [c] * options.command_takes) for c in commands]:
        folder = os.path.join(options.out, "words", label)
        os.makedirs(folder, exist_ok=True)
        for number, word in enumerate(words):
            jobs.append(speak_command(str(word), os.path.join(folder, f"{word}-{number}.wav"), generator))
    with ThreadPoolExecutor(2) as pool:
        failed = sum(pool.map(lambda job: subprocess.run(job, capture_output=True).returncode != 0, jobs))
    print(f"{len(jobs) - failed} recordings, {failed} failed")


if __name__ == "__main__":
    main()
