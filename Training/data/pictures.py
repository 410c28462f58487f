"""Pictures of log-mel features of Speech Commands clips, and the waveforms that sound as they look.

A picture has 98 frames of 40 bands in 8 bits: grey = 10.14 · ln(P + 1e-6) + 146.8, P the power spectrum (samples in ±1, FFT of 512, periodic
Hann window of 480 samples every 160) through triangles of height 1 on the HTK mel scale from 0 to 4000 Hz. So a waveform made of one is as from a
microphone that ends at 4 kHz: the powers of the bins are those without negative ones that explain the bands, their phases those of
Griffin and Lim. Their archives are `melspec….tar` in a folder of recordings.
"""

import glob
import io
import os

import numpy as np
import scipy.fft
from PIL import Image

from Training.data import log_mel
from Training.data.audio import WINDOW
from Training.data.recordings import read_tar
from Training.data.seeding import generator as seeded

FRAME, HOP, FFT, BANDS, HIGH, FLOOR = 480, 160, 512, 40, 4000.0, 1e-6
FRAMES = (WINDOW - FRAME) // HOP + 1
# Grey of a picture: SLOPE · ln(power) + OFFSET.
SLOPE, OFFSET = 10.14, 146.8
# Steps of the powers and of the phases for what is measured, the momentum of the latter, and pictures at once.
STEPS, MOMENTUM, CHUNK = (200, 60), 0.9, 64
# The least sum of squared windows by which a sample is divided.
LEAST_WEIGHT = 0.02

HANN = log_mel.hann_window(FRAME).astype(np.float32)
FILTERS = log_mel.mel_filters({"bands": BANDS, "fftSize": FFT, "lowHertz": 0.0, "highHertz": HIGH}).astype(np.float32)


def names_and_pictures(folder, wanted):
    """(name `<word>/<file>` without extension, picture [98, 40] of 0 to 255) of the folder's pictures for whose names `wanted` is true."""
    for archive in sorted(glob.glob(os.path.join(folder, "melspec*.tar"))):
        for path, data in read_tar(archive, (".jpg", ".jpeg")):
            name = "/".join(os.path.splitext(path)[0].split("/")[-2:])
            if wanted(name):
                yield name, np.asarray(Image.open(io.BytesIO(data)).convert("L"))


def spectra(waves):
    """Waveforms [n, 16000] → spectra [n, 98, 257]."""
    frames = np.lib.stride_tricks.sliding_window_view(waves, FRAME, axis=1)[:, ::HOP]
    return scipy.fft.rfft(frames * HANN, FFT, axis=2)


def picture_of(waves):
    """Pictures [n, 98, 40] uint8 of waveforms [n, 16000] in ±1."""
    powers = np.abs(spectra(waves)) ** 2 @ FILTERS.T
    return np.uint8(np.clip(np.round(SLOPE * np.log(powers + FLOOR) + OFFSET), 0, 255))


def waves_of(pictures, steps=STEPS):
    """Waveforms [n, 16000] float32 of pictures [n, 98, 40], found in these steps of the powers and of the phases."""
    chunks = [_waves_of(np.stack(pictures[i : i + CHUNK]), *steps) for i in range(0, len(pictures), CHUNK)]
    return np.concatenate(chunks) if chunks else np.zeros((0, WINDOW), np.float32)


def _waves_of(pictures, power_steps, phase_steps):
    bands = np.maximum(np.exp((pictures.astype(np.float32) - OFFSET) / SLOPE) - FLOOR, 0)
    magnitudes = np.sqrt(bin_powers(bands, power_steps))
    generator = seeded("phases of pictures")
    phases = np.exp(2j * np.pi * generator.random(magnitudes.shape)).astype(np.complex64)
    earlier = np.zeros_like(phases)
    for _ in range(phase_steps):
        found = spectra(waves_from(magnitudes * phases))
        phases = found + MOMENTUM * (found - earlier)
        phases /= np.abs(phases) + 1e-12
        earlier = found
    return waves_from(magnitudes * phases).astype(np.float32)


def bin_powers(bands, steps):
    """Powers [n, frames, 257] ≥ 0 of the bins that explain the powers [n, frames, 40] of the bands, by so many multiplicative steps."""
    sums = FILTERS.sum(axis=0)
    used = sums > 0
    filters = FILTERS[:, used]
    powers = np.repeat(bands.mean(axis=2, keepdims=True), used.sum(), axis=2) + 1e-12
    for _ in range(steps):
        powers *= (bands / (powers @ filters.T + 1e-12)) @ filters / sums[used]
    result = np.zeros((*bands.shape[:2], len(sums)), bands.dtype)
    result[..., used] = powers
    return result


def waves_from(spectra):
    """Waveforms [n, 16000] whose spectra come nearest to these [n, 98, 257]."""
    frames = scipy.fft.irfft(spectra, FFT, axis=2)[..., :FRAME] * HANN
    # The first and the last samples are hardly seen by any frame.
    waves, weight = np.zeros((len(spectra), WINDOW), np.float32), np.full(WINDOW, LEAST_WEIGHT, np.float32)
    for number in range(FRAMES):
        span = slice(number * HOP, number * HOP + FRAME)
        waves[:, span] += frames[:, number]
        weight[span] += HANN**2
    return waves / weight
