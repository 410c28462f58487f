"""Makes a small dataset from the voices of Debian's alsa-utils, in the layout that Training/README.md describes.

Eight recordings say "front left", "rear right" and so on. Each is cut between its two words; other speakers are made by playing
the words faster or slower.
"""

import io
import tarfile
from pathlib import Path

import numpy as np
import scipy.signal
import soundfile
from PIL import Image

from Training.data import pictures
from Training.data.audio import RATE
from Training.data.recordings import decode
from Training.data.split import partition

VOICES = Path("/usr/share/sounds/alsa")
COMMANDS = ("left", "right")
OTHERS = ("front", "rear", "side", "center")
SPEAKERS = {"training": 20, "tune": 8, "report": 8}
# How many of them, the last ones, which are of all parts, are in the running speech and name the other sounds.
FEW = 20


def phrases():
    """The alsa-utils recordings by name, such as `Front_Left`: int16 at 16 kHz."""
    found = {path.stem: decode(path.read_bytes()) for path in sorted(VOICES.glob("*_*.wav"))}
    if not found:
        raise FileNotFoundError(f"{VOICES} holds no voices: apt-get install alsa-utils")
    return found


def split_words(phrase):
    """The two words of a phrase: cut at the quietest 50 ms in the middle third of what is not silent."""
    loudness = np.convolve(np.abs(phrase.astype(np.float64)), np.ones(800) / 800, mode="same")
    spoken = np.flatnonzero(loudness > 0.05 * loudness.max())
    first, last = spoken[0], spoken[-1] + 1
    third = (last - first) // 3
    cut = first + third + int(loudness[first + third : last - third].argmin())
    return phrase[first:cut], phrase[cut:last]


def speakers():
    """Names of speakers, as many in each partition as SPEAKERS says."""
    missing, number = dict(SPEAKERS), 0
    while any(missing.values()):
        name = f"voice{number}"
        number += 1
        if missing.get(partition(name), 0):
            missing[partition(name)] -= 1
            yield name


def write(path, samples):
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, np.clip(samples, -32768, 32767).astype(np.int16), RATE)


def as_spoken_by(number, word):
    """A word as another speaker says it: pitch and speed differ by up to a quarter."""
    speed = 80 + (number * 7) % 45
    return scipy.signal.resample_poly(word.astype(np.float64), 100, speed)


def write_clips(folder, words, generator):
    """One-second clips `<word>/<speaker>_nohash_0.wav` of every word by every speaker."""
    for number, speaker in enumerate(speakers()):
        for label, takes in words.items():
            spoken = as_spoken_by(number, takes[number % len(takes)])[: RATE - 1000]
            clip = generator.normal(0, 20, RATE)
            start = generator.integers(0, RATE - len(spoken))
            clip[start : start + len(spoken)] += spoken * generator.uniform(0.3, 1)
            write(folder / label / f"{speaker}_nohash_0.wav", clip)


def write_speech(folder, found, generator):
    """Running speech: four phrases in another order by each of some speakers."""
    for number, speaker in enumerate(list(speakers())[-FEW:]):
        order = generator.permutation(sorted(found))[:4]
        write(
            folder / "speech/alsa" / f"{speaker}.wav", np.concatenate([as_spoken_by(number, found[n]) for n in order])
        )


def write_noise(folder, generator):
    """Background recordings of 20 s, and short sounds for all parts."""
    for number in range(3):
        wave = np.cumsum(generator.normal(0, 1, 20 * RATE)) if number == 2 else generator.normal(0, 1, 20 * RATE)
        write(folder / "_background_noise_" / f"noise{number}.wav", (wave - wave.mean()) / np.abs(wave).max() * 8000)
    for number, speaker in enumerate(list(speakers())[-FEW:]):
        tone = np.sin(2 * np.pi * (200 + 150 * number) * np.arange(2 * RATE) / RATE)
        write(folder / "noise/tones" / f"{speaker}.wav", tone * 5000 + generator.normal(0, 200, len(tone)))


def write_images(folder):
    """`melspec.tar`: pictures of every fourth clip."""
    with tarfile.open(folder / "melspec.tar", "w") as archive:
        for path in sorted(folder.glob("*/*_nohash_0.wav"))[::4]:
            picture = pictures.picture_of(soundfile.read(path)[0][None])[0]
            add_picture(archive, f"other/{path.parent.name}/{path.stem}.jpg", picture)


def add_picture(archive, name, picture):
    """Adds a picture [98, 40] to a tar file."""
    data = io.BytesIO()
    Image.fromarray(picture).save(data, "JPEG")
    entry = tarfile.TarInfo(name)
    entry.size = len(data.getvalue())
    archive.addfile(entry, io.BytesIO(data.getvalue()))


def write_dataset(folder):
    """Writes the whole dataset into `folder`."""
    generator = np.random.default_rng(1)
    found = phrases()
    words = {}
    for name, phrase in found.items():
        for label, word in zip(name.lower().split("_"), split_words(phrase)):
            words.setdefault(label, []).append(word)
    write_clips(folder, {label: words[label] for label in (*COMMANDS, *OTHERS)}, generator)
    # In place of a synthetic voice: the commands and another word at other speeds.
    for label in (*COMMANDS, "rear"):
        name = label if label in COMMANDS else "synthetic"
        for number in range(12):
            write(folder / "words" / name / f"{label}-{number}.wav", as_spoken_by(3 * number + 1, words[label][0]))
    write_speech(folder, found, generator)
    write_noise(folder, generator)
    write_images(folder)
