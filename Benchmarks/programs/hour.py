"""Writes audio to listen to, 16 kHz mono WAV.

    python -m Benchmarks.programs.hour OUT SECONDS [DATA]

With a folder of recordings (see Training/README.md) it is running speech with commands of the validation speakers in between;
without, the voices of Debian's alsa-utils, repeated.
"""

import itertools
import sys
import wave
from pathlib import Path

import numpy as np

from Training.data.audio import RATE
from Training.data.recordings import decode, partition, read_tar
from Training.data.vocabulary import COMMANDS

VOICES = Path("/usr/share/sounds/alsa")


def commands(data):
    """Clips of the ten words in turns, int16 [n]."""
    archives = [read_tar(data / f"speech_commands-{word}.tar") for word in COMMANDS]
    held_out = [(clip for name, clip in archive if partition(name) == "validation") for archive in archives]
    for clips in zip(*held_out):
        yield from map(decode, clips)


def pieces(data):
    """The recordings in order, int16 [n] each."""
    if not data:
        voices = [decode(path.read_bytes()) for path in sorted(VOICES.glob("*.wav"))]
        if not voices:
            sys.exit(f"{VOICES}: no recordings; install alsa-utils or name a folder of recordings")
        yield from itertools.cycle(voices)
    words = commands(data)
    for _, speech in read_tar(data / "speech.tar"):
        yield decode(speech)
        yield next(words)


def main():
    out, seconds, *data = sys.argv[1:]
    left = int(seconds) * RATE
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        pause = np.zeros(RATE // 2, np.int16)
        for piece in pieces(Path(data[0]) if data else None):
            samples = np.concatenate([piece, pause])[:left].astype("<i2")
            file.writeframes(samples.tobytes())
            left -= len(samples)
            if left <= 0:
                return
    sys.exit(f"{data[0]}: {left / RATE:.0f} seconds missing")


if __name__ == "__main__":
    main()
