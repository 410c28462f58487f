"""Augmentation of features: vocal tract length perturbation, microphone responses and SpecAugment."""

import numpy as np

from Training.data import log_mel


def vtlp(count, generator, widest=0.1):
    """Matrices [count, 40, 40] for vocal tract length perturbation (VTLP): energies @ matrix.

    Each stretches the mel axis by up to ±`widest` about its low end; half of them change nothing.
    """
    bands = np.arange(40)
    out = np.zeros((count, 40, 40), np.float32)
    for matrix in out:
        stretch = generator.uniform(1 - widest, 1 + widest) if generator.random() < 0.5 else 1.0
        source = np.minimum(bands * stretch, 39)
        low = np.minimum(source.astype(int), 38)
        matrix[low, bands] = 1 - (source - low)
        matrix[low + 1, bands] = source - low
    return out


def microphone_response(count, generator):
    """Energy gains [count, 40] of the bands: a microphone's tilt and ripple, for some the missing bands of a telephone or of a
    narrow-band recording."""
    corner = log_mel.corner_hertz(log_mel.description())[1:-1]
    x = np.linspace(-1, 1, len(corner))
    decibels = generator.normal(0, 4, (count, 1)) * x
    decibels = decibels + generator.normal(0, 1.5, (count, 1)) * np.sin(
        np.pi * generator.uniform(0.5, 3, (count, 1)) * x + generator.uniform(0, 6.28, (count, 1))
    )
    narrow = generator.random(count)
    for row, draw in zip(decibels, narrow):
        if draw < 0.05:
            row[(corner < 300) | (corner > 3400)] -= generator.uniform(20, 60)
        elif draw < 0.10:
            row[corner > generator.uniform(3600, 5500)] -= generator.uniform(40, 90)
        elif draw < 0.14:
            row[corner < generator.uniform(100, 350)] -= generator.uniform(10, 40)
    return (10 ** (decibels / 10)).astype(np.float32)


def spec_augment(features, generator):
    """SpecAugment, in place, on features [n, 79, 40]: in four of five, up to two runs of ≤ 10 columns and two of ≤ 5 bands are
    set to 0, the mean."""
    for row in features:
        if generator.random() < 0.2:
            continue
        for _ in range(2):
            width, at = generator.integers(0, 11), generator.integers(0, log_mel.COLUMNS)
            row[at : at + width] = 0
            width, at = generator.integers(0, 6), generator.integers(0, log_mel.BANDS)
            row[:, at : at + width] = 0
    return features
