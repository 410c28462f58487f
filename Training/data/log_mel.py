"""Log-mel features as Models/FORMAT.md defines them, in single precision, for training."""

import numpy as np
import scipy.fft

from Training.data.audio import RATE, WINDOW

FRAME, HOP, FFT, BANDS, LOW, HIGH, FLOOR = 400, 200, 512, 40, 20.0, 7600.0, 1e-6
COLUMNS = (WINDOW - FRAME) // HOP + 1
# Subtracted from the logs, and their divisor: near the mean and the deviation of the training data, and fixed, so that networks
# can be compared and their weights averaged.
MEAN, DEVIATION = -6.0, 5.0
# For `contrast`: columns that are averaged, the power that is added to each, and of how many columns one is below a band's background.
RUN, LEAST, QUANTILE = 6, 1e-10, 10
# The decibels at which something begins to stand out of a clip's background, and does so fully.
CLIP_CONTRAST = (5.0, 10.0)
# Waveforms in one step of `mel_energies`, which bounds its memory.
CHUNK = 256


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


def corner_hertz(front):
    """The bands + 2 corner frequencies of the filters, in hertz, evenly spaced on the HTK mel scale."""
    mel = lambda hertz: 2595 * np.log10(1 + hertz / 700)
    points = np.linspace(mel(front["lowHertz"]), mel(front["highHertz"]), front["bands"] + 2)
    return 700 * (10 ** (points / 2595) - 1)


def mel_filters(front, rate=RATE):
    """Triangular filters of height 1, [bands, bins], float64; `front` is a front end as model.json states it."""
    corner = corner_hertz(front)
    bins = np.arange(front["fftSize"] // 2 + 1) * rate / front["fftSize"]
    rising = (bins - corner[:-2, None]) / (corner[1:-1] - corner[:-2])[:, None]
    falling = (corner[2:, None] - bins) / (corner[2:] - corner[1:-1])[:, None]
    return np.maximum(0, np.minimum(rising, falling))


def hann_window(samples):
    """The periodic Hann window, [samples], float64."""
    return 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(samples) / samples)


_WINDOW = hann_window(FRAME).astype(np.float32)
_FILTERS = np.ascontiguousarray(mel_filters(description()).T.astype(np.float32))


def mel_energies(waves):
    """Waveforms [n, 16000] float32 in [−1, 1] → mel energies [n, 79, 40] float32."""
    return _energies(np.lib.stride_tricks.sliding_window_view(waves, FRAME, axis=1)[:, ::HOP])


def _energies(frames):
    """Frames [..., 400] → mel energies [..., 40] float32."""
    spectrum = scipy.fft.rfft(frames * _WINDOW, FFT, axis=-1)
    return (spectrum.real**2 + spectrum.imag**2) @ _FILTERS


def normalized(energies):
    """Mel energies [..., 40] → the network's input: (ln(energy + floor) − mean) / deviation, float32."""
    return ((np.log(energies + np.float32(FLOOR)) - MEAN) / DEVIATION).astype(np.float32)


def stream_features(wave):
    """A waveform [samples] → the network's input for all of it [columns, 40] float32."""
    frames = np.lib.stride_tricks.sliding_window_view(wave, FRAME)[::HOP]
    step = CHUNK * COLUMNS
    return np.concatenate([normalized(_energies(frames[i : i + step])) for i in range(0, len(frames), step)])


def features(waves):
    """Waveforms [n, 16000] float32 → the network's input [n, 79, 40] float32."""
    parts = [normalized(mel_energies(waves[i : i + CHUNK])) for i in range(0, len(waves), CHUNK)]
    return np.concatenate(parts) if parts else np.zeros((0, COLUMNS, BANDS), np.float32)


def contrast(features):
    """Features [n, 79, 40] → how far the loudest 75 ms stand out of the median, in dB [n]; see Models/FORMAT.md."""
    energies = np.maximum(np.exp(features.astype(np.float64) * DEVIATION + MEAN) - FLOOR, 0)
    backgrounds = np.sort(energies, axis=1)[:, energies.shape[1] // QUANTILE, None]
    powers = np.maximum(energies - backgrounds, 0).sum(axis=2) + LEAST
    sums = np.cumsum(np.pad(powers, ((0, 0), (1, 0))), axis=1)
    means = np.sort((sums[:, RUN:] - sums[:, :-RUN]) / RUN, axis=1)
    return 10 * np.log10(means[:, -1] / np.maximum(means[:, means.shape[1] // 2], LEAST))


def foreground(features):
    """Features [n, 79, 40] → how far something stands out of the background [n], 0 to 1."""
    low, high = CLIP_CONTRAST
    return np.clip((contrast(features) - low) / (high - low), 0, 1)
