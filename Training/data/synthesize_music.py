"""Has FluidSynth play music for training, which no collection of recordings here holds: the pieces of Debian's openttd-openmsx, and
random ones.

    python -m Training.data.synthesize_music --out DIR

Writes `DIR/noise/music/…flac`, the first two minutes of each piece, and one of each random one. Needs the Debian packages fluidsynth, fluid-soundfont-gm and
openttd-openmsx.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile

import soundfile

from Training.data.audio import RATE
from Training.data.random_music import random_piece
from Training.data.seeding import generator as seeded

PIECES, SOUNDS = "/usr/share/games/openttd/baseset/openmsx", "/usr/share/sounds/sf2/FluidR3_GM.sf2"
SECONDS = 120
RANDOM_PIECES, RANDOM_SECONDS = 60, 60


def play(piece, path):
    """Writes the beginning of a MIDI file as mono FLAC at 16 kHz."""
    with tempfile.TemporaryDirectory() as folder:
        wave = os.path.join(folder, "played.wav")
        settings = ["-ni", "-q", "-g", "0.5", "-r", str(RATE), "-F", wave, "-T", "wav"]
        subprocess.run(["fluidsynth", *settings, SOUNDS, piece], check=True, capture_output=True)
        samples, _ = soundfile.read(wave, frames=SECONDS * RATE, dtype="float32", always_2d=True)
    soundfile.write(path, samples.mean(axis=1), RATE, subtype="PCM_16")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="folder to write to")
    options = parser.parse_args(arguments)
    if not (shutil.which("fluidsynth") and os.path.exists(SOUNDS) and os.path.isdir(PIECES)):
        sys.exit("synthesize_music needs: apt-get install fluidsynth fluid-soundfont-gm openttd-openmsx")
    folder = os.path.join(options.out, "noise", "music")
    os.makedirs(folder, exist_ok=True)
    pieces = sorted(name for name in os.listdir(PIECES) if name.endswith(".mid"))
    for name in pieces:
        play(os.path.join(PIECES, name), os.path.join(folder, name[:-4] + ".flac"))
    with tempfile.TemporaryDirectory() as written:
        for number in range(RANDOM_PIECES):
            piece = os.path.join(written, f"random-{number:02}.mid")
            with open(piece, "wb") as file:
                file.write(random_piece(RANDOM_SECONDS, seeded("random music", number)))
            # After the others, so that these keep their places in a table of recordings.
            play(piece, os.path.join(folder, f"zz-random-{number:02}.flac"))
    print(f"{len(pieces)} pieces and {RANDOM_PIECES} random ones")


if __name__ == "__main__":
    main()
