"""The inner loops that place recordings in a one-second window, compiled by numba: one example costs some 50 µs.

Recordings are int16 in one long array; windows are float32 [16000] in [−1, 1].
"""

import numba
import numpy as np
import scipy.fft

from Training.data.audio import RATE


@numba.njit(cache=True)
def place(audio, out, start, length, offset, speed, low, high):
    """out[t] = audio[start + offset + t · speed] by linear interpolation, 0 outside samples [low, high) of the recording.

    `length` is the recording's. There are fades of 5 ms where `low` or `high` cuts it.
    """
    fade = 80.0
    for t in range(out.shape[0]):
        position = offset + t * speed
        if position < low or position >= high - 1 or position < 0 or position >= length - 1:
            out[t] = 0.0
            continue
        whole = int(position)
        part = position - whole
        value = audio[start + whole] * (1.0 - part) + audio[start + whole + 1] * part
        if low > 0 and position - low < fade:
            value *= (position - low) / fade
        if high < length and high - position < fade:
            value *= (high - position) / fade
        out[t] = value * (1.0 / 32768.0)


@numba.njit(cache=True)
def level(wave, first, last):
    """Root mean square over [first, last)."""
    first, last = max(0, first), min(wave.shape[0], last)
    if last <= first:
        return 0.0
    total = 0.0
    for t in range(first, last):
        total += wave[t] * wave[t]
    return np.sqrt(total / (last - first))


@numba.njit(cache=True)
def add_segment(audio, out, start, first, last, gain):
    """Adds audio[start…] times a gain to out[first:last), with fades of 5 ms."""
    for t in range(max(0, first), min(out.shape[0], last)):
        fade = min(1.0, (t - first) / 80.0, (last - t) / 80.0)
        out[t] += audio[start + t - first] * (gain * fade / 32768.0)


@numba.njit(cache=True)
def add_scaled(out, other, gain):
    """out += other · gain."""
    for t in range(out.shape[0]):
        out[t] += other[t] * gain


@numba.njit(cache=True)
def convert(out, gain, offset):
    """What an analog-digital converter does: scales, adds an offset and clips to [−1, 1]."""
    for t in range(out.shape[0]):
        out[t] = min(1.0, max(-1.0, out[t] * gain + offset))


def low_passed(wave, hertz):
    """The waveform without what is above a frequency."""
    spectrum = scipy.fft.rfft(wave)
    spectrum[int(hertz * len(wave) / RATE) :] = 0
    return scipy.fft.irfft(spectrum, len(wave))
