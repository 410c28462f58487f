"""Renders one-second training examples: a recording placed in the window, speech around it, a room, noise and a level.

The inner loops are compiled by numba: one example costs some 50 µs, so that one core keeps the other's network fed.
"""

import numba
import numpy as np
import scipy.fft

WINDOW = 16000
ROOM = 4096
PADDED = 20480


@numba.njit(cache=True)
def place(audio, out, start, length, offset, speed, low, high):
    """out[t] = audio[start + offset + t · speed], linear interpolation, zero outside [low, high) of the recording,
    with 5 ms fades at those edges where they cut the recording."""
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
    """Adds audio[start…] to out[first:last) with 5 ms fades."""
    for t in range(max(0, first), min(out.shape[0], last)):
        fade = min(1.0, (t - first) / 80.0, (last - t) / 80.0)
        out[t] += audio[start + t - first] * (gain * fade / 32768.0)


@numba.njit(cache=True)
def add_scaled(out, other, gain):
    for t in range(out.shape[0]):
        out[t] += other[t] * gain


@numba.njit(cache=True)
def finish(out, gain, offset):
    """Scales, moves and clips as a converter would."""
    for t in range(out.shape[0]):
        out[t] = min(1.0, max(-1.0, out[t] * gain + offset))


def hum(generator):
    """One second of mains hum, unit RMS: 50 or 60 Hz and its harmonics."""
    base, time = generator.choice([50.0, 60.0]), np.arange(WINDOW) / WINDOW
    orders = range(1, generator.integers(2, 9))
    wave = sum(
        generator.uniform(0.1, 1) / k * np.sin(2 * np.pi * (base * k * time + generator.random())) for k in orders
    )
    return (wave / np.sqrt((wave**2).mean())).astype(np.float32)


def rooms(count, generator):
    """Simulated room impulse responses (exponential decay, a few early reflections, direct sound first), as spectra of
    PADDED samples. Shape [count, PADDED // 2 + 1]."""
    responses = np.zeros((count, ROOM), np.float32)
    time = np.arange(ROOM) / WINDOW
    for row in responses:
        decay = generator.uniform(0.1, 0.7)
        tail = generator.normal(size=ROOM) * np.exp(-6.9 * time / decay)
        tail[: generator.integers(20, 160)] = 0
        row[:] = tail * generator.uniform(0.02, 0.12)
        row[0] = 1
        for _ in range(generator.integers(1, 6)):
            row[generator.integers(20, 800)] += generator.uniform(-0.4, 0.4)
        row /= np.sqrt((row**2).sum())
    return scipy.fft.rfft(responses, PADDED, axis=1)


def reverberate(waves, spectra):
    return scipy.fft.irfft(scipy.fft.rfft(waves, PADDED, axis=1) * spectra, PADDED, axis=1)[:, :WINDOW]


def coloured_noise(generator):
    """One second of made noise, unit RMS: white to brown, or hum, or a tone, or a mixture."""
    kind = generator.integers(4)
    if kind <= 1:
        spectrum = generator.normal(size=8001) + 1j * generator.normal(size=8001)
        spectrum *= np.maximum(np.arange(8001), 20.0) ** -generator.uniform(0, 1.2)
        wave = scipy.fft.irfft(spectrum)
    else:
        time = np.arange(WINDOW) / WINDOW
        base = generator.choice([50.0, 60.0]) if kind == 2 else np.exp(generator.uniform(np.log(60), np.log(6000)))
        wave = sum(
            generator.uniform(0.1, 1) / k * np.sin(2 * np.pi * (base * k * time + generator.random()))
            for k in range(1, generator.integers(2, 8))
            if base * k < 7900
        )
        wave = wave + generator.normal(size=WINDOW) * 10 ** generator.uniform(-3, -0.5)
    return (wave / np.sqrt((wave**2).mean() + 1e-12)).astype(np.float32)


def throats(count, generator, widest=0.1):
    """Matrices [count, 40, 40] that stretch the mel axis by up to ±`widest` about its low end, as a longer or shorter vocal tract
    does to the formants; half of them change nothing."""
    bands = np.arange(40)
    out = np.zeros((count, 40, 40), np.float32)
    for matrix in out:
        stretch = generator.uniform(1 - widest, 1 + widest) if generator.random() < 0.5 else 1.0
        source = np.minimum(bands * stretch, 39)
        low = np.minimum(source.astype(int), 38)
        matrix[low, bands] = 1 - (source - low)
        matrix[low + 1, bands] = source - low
    return out


def colour(count, generator):
    """Band gains (energy, [count, 40]): microphone tilt and ripple; for some, a telephone's or a narrow-band
    recording's missing bands."""
    from frontend import centres

    corner = centres()[1:-1]
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
