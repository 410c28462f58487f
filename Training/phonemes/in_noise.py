"""Talk in noise."""

from pathlib import Path

import numpy as np

from Training.data.recordings import decode, read_tar
from Training.data.split import partition
from Training.data.vocabulary import BACKGROUND
from Training.phonemes.speakers import RATE

# Seconds of a piece, and decibels of its speech over noise.
PIECE, NOISE_RATIO = 5, (0, 15)


def in_noise(samples, noises, every, generator):
    """Talk of which each so many-th piece is in noise; each piece has another level and another noise."""
    mixed = samples.copy()
    for start in range(0, len(samples), every * PIECE * RATE):
        piece = mixed[start : start + PIECE * RATE]
        noise = np.resize(noises[generator.integers(len(noises))], len(piece))
        # The level of speech is that of its louder half.
        level = np.sqrt(np.mean(np.sort(piece**2)[-max(1, len(piece) // 2) :]))
        piece += noise / (noise.std() + 1e-9) * level * 10 ** (-generator.uniform(*NOISE_RATIO) / 20)
    return np.clip(mixed, -1, 1)


def noises(data, part):
    """Recordings of noise of a part: `tune` for talk that calibrates, `report` for what measures."""
    found = [content for name, content in read_tar(Path(data) / "noise.tar") if partition(name) == part and f"/{BACKGROUND}/" not in name]
    return [decode(content).astype(np.float32) / 32768 for content in found]
