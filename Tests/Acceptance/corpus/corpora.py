"""Corpora of short files for acceptance tests."""

import array
import os
import sys
import wave
from pathlib import Path

VOICES = Path(os.environ.get("VOICES", "/usr/share/sounds/alsa"))


def clips(folder):
    """Some dozens of short files: cuts of Debian's voices at 16 kHz, silence, and files that cannot be read."""
    if not (VOICES / "Front_Left.wav").exists():
        sys.exit("needs the Debian package alsa-utils, for its recorded voices")
    folder.mkdir()
    made = []

    def write(name, samples):
        with wave.open(str(folder / name), "wb") as file:
            file.setparams((1, 2, 16000, 0, "NONE", ""))
            file.writeframes(array.array("h", samples).tobytes())
        made.append(folder / name)

    for path in sorted(VOICES.glob("*_*.wav")):
        with wave.open(str(path)) as voice:
            data = array.array("h", voice.readframes(voice.getnframes()))
        # Every third sample of 48 kHz: the words are still found.
        whole = data[::3]
        for cut in range(4):
            write(f"{path.stem}-{cut}.wav", whole[cut * 800 :])
    write("silence.wav", [0] * 16000)
    for name, content in [("empty.wav", b""), ("text.wav", b"no audio"), ("torn.wav", made[0].read_bytes()[:9000])]:
        (folder / name).write_bytes(content)
        made.append(folder / name)
    return made


def corpus(folder, made, count, random):
    """`count` names, a thousand in a folder, linked to the clips."""
    for number in range(count):
        if number % 1000 == 0:
            part = folder / f"{number // 1000:04d}"
            part.mkdir(parents=True)
        # One in a hundred cannot be read.
        source = made[-1 - number // 100 % 3] if number % 100 == 77 else made[random.randrange(len(made) - 3)]
        os.link(source, part / f"{number % 1000:03d}.wav")
