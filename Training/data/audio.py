"""The audio format that all modules share, and the level, fade and rate of a waveform."""

import numpy as np
import scipy.signal

# Samples per second, per window of the network, and per hop of the detector.
RATE, WINDOW, HOP = 16000, 16000, 1600


def rms(wave):
    """Root mean square of a waveform [n]; 0 for an empty one."""
    return float(np.sqrt(np.mean(np.square(wave, dtype=np.float64)))) if len(wave) else 0.0


def unit_rms(wave):
    """The waveform scaled to RMS 1, float32; digital silence is returned unchanged."""
    level = rms(wave)
    return (wave / level).astype(np.float32) if level > 0 else wave


def fade(wave, samples=RATE // 100):
    """The waveform with linear fades of `samples` at both ends (10 ms by default), so that a cut makes no click."""
    ramp = np.minimum(1, np.arange(1, len(wave) + 1, dtype=np.float32) / samples)
    return wave * ramp * ramp[::-1]


def resample(wave, rate):
    """A waveform [n] at `rate` Hz → the same at 16 kHz."""
    shared = np.gcd(RATE, rate)
    return scipy.signal.resample_poly(wave, RATE // shared, rate // shared)
