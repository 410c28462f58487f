"""Log-mel features as Models/FORMAT.md defines them, in single precision, for training."""

import numpy as np
import scipy.fft

RATE, WINDOW, FRAME, HOP, FFT, BANDS, LOW, HIGH, FLOOR = 16000, 16000, 400, 200, 512, 40, 20.0, 7600.0, 1e-6
COLUMNS = (WINDOW - FRAME) // HOP + 1


def hann():
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(FRAME) / FRAME)


def centres():
    """The bands + 2 corner frequencies of the filters, in hertz, evenly spaced on the HTK mel scale."""
    mel = np.linspace(2595 * np.log10(1 + LOW / 700), 2595 * np.log10(1 + HIGH / 700), BANDS + 2)
    return 700 * (10 ** (mel / 2595) - 1)


def filters():
    """Triangles of height 1: shape [bins, bands]."""
    corner, bins = centres(), np.arange(FFT // 2 + 1) * RATE / FFT
    rising = (bins[:, None] - corner[None, :-2]) / (corner[1:-1] - corner[:-2])
    falling = (corner[None, 2:] - bins[:, None]) / (corner[2:] - corner[1:-1])
    return np.maximum(0, np.minimum(rising, falling))


HANN32, FILTERS32 = hann().astype(np.float32), filters().astype(np.float32)


def mel_energies(waves):
    """[n, 16000] float32 in [−1, 1] → [n, 79, 40] mel energies."""
    frames = np.lib.stride_tricks.sliding_window_view(waves, FRAME, axis=1)[:, ::HOP] * HANN32
    spectrum = scipy.fft.rfft(frames, FFT, axis=2)
    return (spectrum.real**2 + spectrum.imag**2) @ FILTERS32


# What is taken off the logs and what they are divided by: near the mean and deviation of what is trained on, and fixed, so that
# networks can be compared and averaged.
MEAN, DEVIATION = -6.0, 5.0


def description():
    """The front end as model.json states it."""
    return {
        "kind": "log-mel",
        "frameSamples": FRAME,
        "hopSamples": HOP,
        "fftSize": FFT,
        "bands": BANDS,
        "lowHertz": LOW,
        "highHertz": HIGH,
        "floor": FLOOR,
        "mean": MEAN,
        "deviation": DEVIATION,
    }


def normalised(energies):
    """Mel energies → what the network sees."""
    return ((np.log(energies + np.float32(FLOOR)) - MEAN) / DEVIATION).astype(np.float32)
