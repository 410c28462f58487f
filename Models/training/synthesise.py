"""Has espeak-ng and flite speak words: a few thousand others, many of them near our own, and the commands themselves.

    python synthesise.py --out DIR

Writes `DIR/words/synthetic/…wav` and `DIR/words/<command>/…wav`. The commands are there so that the network cannot take a
synthetic voice itself for a sign of an unknown word. Needs the Debian packages espeak-ng, flite and wamerican-small.
"""

import argparse
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from examples import COMMANDS

DICTIONARY = "/usr/share/dict/american-english-small"
# Words that differ from a command by a sound or two, or hold one.
NEAR = """
yet yell yen yesterday guess chess less mess dress west jazz yeah know now node note nose nope own gnome snow low show knew
new none nor oh cup pup but up-end upper uptown hub tub sup jump app op hop pop pup puff town done dawn don gown drown noun
crown around brown found dumb dun drawn lift leaf lefty laugh lept let lend less loft theft cleft deft bereft leather ride
rife write rate rye rice rise lied light bright fright trite might white wrote route front frown runt ron one won own an in
and awe arm aunt lawn long john gone dawn off-hand of oft often office offer cough soft loss awful alf stoop stock stomp step
stab star start stove stuff top tops shop chop drop slop spot soap stone storm gold goal goat ghost god good grow toe though
hello hi hey please thanks open close play pause next back front rear side center centre middle bottom high higher volume
music light lights lamp door window kitchen robot computer forward backward turn move follow wait help home house cancel
""".split()
ESPEAK = ["en-us", "en-gb", "en-gb-scotland", "en-gb-x-rp", "en-029", "en-gb-x-gbclan"]
VARIANTS = [f"+m{i}" for i in range(1, 9)] + [f"+f{i}" for i in range(1, 6)] + [""]
FLITE = ["kal16", "awb", "rms", "slt"]


def speak(word, path, generator):
    """The command that records a word by a drawn voice at a drawn speed and pitch; drawn before anything runs, so that the order in which
    programs end does not matter."""
    if generator.random() < 0.6:
        voice = generator.choice(ESPEAK) + generator.choice(VARIANTS)
        speed, pitch = generator.integers(120, 220), generator.integers(15, 90)
        return f"espeak-ng -v {voice} -s {speed} -p {pitch} -w".split() + [path, word]
    stretch, pitch = generator.uniform(0.8, 1.3), generator.uniform(80, 220)
    settings = f"--setf duration_stretch={stretch:.2f} --setf int_f0_target_mean={pitch:.0f}"
    return f"flite -voice {generator.choice(FLITE)} {settings} -t".split() + [word, "-o", path]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument("--words", type=int, default=3500, help="dictionary words")
    parser.add_argument("--each", type=int, default=1, help="recordings of each dictionary word")
    parser.add_argument("--phrases", type=int, default=0, help="pairs of dictionary words, said as often as each word")
    parser.add_argument("--near", type=int, default=10, help="recordings of each near word")
    parser.add_argument("--commands", default=" ".join(COMMANDS), help="the words that shall fire")
    parser.add_argument("--takes", type=int, default=120, help="recordings of each command")
    options = parser.parse_args()
    if not os.path.exists(DICTIONARY):
        sys.exit(f"{DICTIONARY} is missing: apt-get install wamerican-small espeak-ng flite")
    generator, commands = np.random.default_rng(30), options.commands.split()
    with open(DICTIONARY) as file:
        listed = [
            w for w in file.read().split() if w.isalpha() and w.islower() and 2 < len(w) < 10 and w not in commands
        ]
    once = list(generator.choice(listed, options.words, replace=False))
    short = [word for word in listed if len(word) < 7]
    once += [" ".join(generator.choice(short, 2, replace=False)) for _ in range(options.phrases)]
    chosen = once * options.each + [w for w in NEAR if w not in commands] * options.near
    jobs = []
    for label, words in [("synthetic", chosen)] + [(c, [c] * options.takes) for c in commands]:
        folder = os.path.join(options.out, "words", label)
        os.makedirs(folder, exist_ok=True)
        for number, word in enumerate(words):
            jobs.append(speak(str(word), os.path.join(folder, f"{word}-{number}.wav"), generator))
    with ThreadPoolExecutor(2) as pool:
        failed = sum(pool.map(lambda job: subprocess.run(job, capture_output=True).returncode != 0, jobs))
    print(f"{len(jobs) - failed} recordings, {failed} failed")


if __name__ == "__main__":
    main()
