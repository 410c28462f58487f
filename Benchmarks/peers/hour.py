"""Writes audio to listen to, 16 kHz mono WAV: `hour.py OUT SECONDS [DATA]`.

With a folder of recordings (see Models/training) it is running speech with commands of the validation speakers in between;
without, the voice of Debian's alsa-utils again and again.
"""

import itertools
import sys
import tarfile
import wave
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from peers.network import recipe  # noqa: E402

recordings = recipe("recordings")
VOICES = Path("/usr/share/sounds/alsa")
WORDS = ("yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go")


def members(archive):
    with tarfile.open(archive) as tar:
        for member in sorted(tar.getmembers(), key=lambda member: member.name):
            if member.name.endswith(recordings.AUDIO):
                yield member.name, lambda: recordings.decode(tar.extractfile(member).read())


def commands(data):
    """Clips of the ten words in turns."""
    held = [
        (
            sound
            for name, sound in members(data / f"speech_commands-{word}.tar")
            if recordings.partition(name) == "validation"
        )
        for word in WORDS
    ]
    for sounds in zip(*held):
        for sound in sounds:
            yield sound()


def pieces(data):
    if not data:
        voices = [recordings.decode(path.read_bytes()) for path in sorted(VOICES.glob("*.wav"))]
        if not voices:
            sys.exit(f"{VOICES}: no recordings; install alsa-utils or name a folder of recordings")
        yield from itertools.cycle(voices)
    words = commands(data)
    for _, sound in members(data / "speech.tar"):
        yield sound()
        yield next(words)


def main():
    out, seconds, *data = sys.argv[1:]
    left = int(seconds) * recordings.RATE
    with wave.open(out, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(recordings.RATE)
        pause = np.zeros(recordings.RATE // 2, np.int16)
        for piece in pieces(Path(data[0]) if data else None):
            samples = np.concatenate([piece, pause])[:left].astype("<i2")
            file.writeframes(samples.tobytes())
            left -= len(samples)
            if left <= 0:
                return
    sys.exit(f"{data[0]}: {left / recordings.RATE:.0f} seconds too little")


if __name__ == "__main__":
    main()
