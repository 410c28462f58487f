"""Synthetic noise and simulated rooms."""

import numpy as np
import scipy.fft

from Training.data.audio import RATE, WINDOW

# Samples of a room's impulse response, and of the FFT that convolves a window with it.
ROOM, PADDED = 8192, 24576


def hum(generator):
    """One second of mains hum [16000] float32 at RMS 1: 50 or 60 Hz and its harmonics."""
    base, time = generator.choice([50.0, 60.0]), np.arange(WINDOW) / RATE
    orders = range(1, generator.integers(2, 9))
    wave = sum(
        generator.uniform(0.1, 1) / k * np.sin(2 * np.pi * (base * k * time + generator.random())) for k in orders
    )
    return (wave / np.sqrt((wave**2).mean())).astype(np.float32)


def colored_noise(generator):
    """One second of noise [16000] float32 at RMS 1: white to brown, or hum or a tone with some white noise."""
    kind = generator.integers(4)
    if kind <= 1:
        spectrum = generator.normal(size=8001) + 1j * generator.normal(size=8001)
        spectrum *= np.maximum(np.arange(8001), 20.0) ** -generator.uniform(0, 1.2)
        wave = scipy.fft.irfft(spectrum)
    else:
        time = np.arange(WINDOW) / RATE
        base = generator.choice([50.0, 60.0]) if kind == 2 else np.exp(generator.uniform(np.log(60), np.log(6000)))
        wave = sum(
            generator.uniform(0.1, 1) / k * np.sin(2 * np.pi * (base * k * time + generator.random()))
            for k in range(1, generator.integers(2, 8))
            if base * k < 7900
        )
        wave = wave + generator.normal(size=WINDOW) * 10 ** generator.uniform(-3, -0.5)
    return (wave / np.sqrt((wave**2).mean() + 1e-12)).astype(np.float32)


def room_spectra(count, generator):
    """Spectra [count, PADDED // 2 + 1] of simulated room impulse responses.

    Each response has the direct sound first, a few early reflections and a tail that decays exponentially.
    """
    responses = np.zeros((count, ROOM), np.float32)
    time = np.arange(ROOM) / RATE
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


def spectra(responses):
    """Spectra [count, PADDED // 2 + 1] of measured room impulse responses, cut to ROOM samples, each with energy 1."""
    fade = np.minimum(1, np.arange(ROOM, 0, -1) / 800).astype(np.float32)
    rows = np.stack([np.pad(r[:ROOM], (0, max(0, ROOM - len(r)))) * fade for r in responses])
    return scipy.fft.rfft(rows / np.sqrt((rows**2).sum(axis=1, keepdims=True)), PADDED, axis=1)


def reverberate(waves, spectra):
    """Waveforms [n, 16000] convolved with room responses given as spectra [n, PADDED // 2 + 1]."""
    return scipy.fft.irfft(scipy.fft.rfft(waves, PADDED, axis=1) * spectra, PADDED, axis=1)[:, :WINDOW]
