"""Gives clips that end at 4 kHz, as those made of pictures do, what they lack above it: noise with the levels that voices have there.

Published networks never heard a microphone that ends at 4 kHz; what they make of one tells how they take the missing half, not how they know
a voice. What is missing is mostly the noise of consonants, whose levels follow from what is below: a linear map from the logarithms of the
40 bands of a picture, in five frames, to those of eight bands above. It is learned from recordings of the training partition. Its phases are random.
"""

import numpy as np
import scipy.fft

from Training.data import pictures
from Training.data.audio import RATE
from Training.data.recordings import samples
from Training.data.seeding import generator as seeded

# Bands above, of as many bins each; frames before and after the one whose levels are found, 20 ms apart.
BANDS, BESIDE, APART = 8, 2, 2
FIRST = int(pictures.HIGH * pictures.FFT / RATE)
# Clips that the map is learned from, and what is added to the diagonal of its equations per frame.
CLIPS, RIDGE = 1500, 1e-3
# Added to a power before its logarithm.
LEAST = 1e-7


def low_passed(waves):
    """Waveforms [n, 16000] without what is above 4 kHz."""
    spectrum = scipy.fft.rfft(waves, axis=1)
    spectrum[:, int(pictures.HIGH * waves.shape[1] / RATE) :] = 0
    return scipy.fft.irfft(spectrum, waves.shape[1], axis=1).astype(np.float32)


def below(spectra):
    """Spectra [n, frames, bins] → logarithms of the bands of a picture around each frame, and a 1, [n, frames, inputs]."""
    logs = np.log(np.abs(spectra) ** 2 @ pictures.FILTERS.T + LEAST)
    padded = np.pad(logs, ((0, 0), (BESIDE * APART, BESIDE * APART), (0, 0)), mode="edge")
    around = [padded[:, APART * i : APART * i + logs.shape[1]] for i in range(2 * BESIDE + 1)]
    return np.concatenate([*around, np.ones((*logs.shape[:2], 1), logs.dtype)], axis=2)


def above(spectra):
    """Spectra [n, frames, bins] → logarithms of the mean powers of the bands above 4 kHz [n, frames, 8]."""
    powers = np.abs(spectra[..., FIRST:-1]) ** 2
    return np.log(powers.reshape(*powers.shape[:2], BANDS, -1).mean(axis=3) + LEAST)


class UpperBand:
    """The map, learned from waveforms [n, 16000] that have all frequencies."""

    def __init__(self, waves):
        inputs = outputs = 0
        for begin in range(0, len(waves), pictures.CHUNK):
            spectra = pictures.spectra(waves[begin : begin + pictures.CHUNK])
            x, y = (part.reshape(-1, part.shape[2]).astype(np.float64) for part in (below(spectra), above(spectra)))
            inputs, outputs = inputs + x.T @ x, outputs + x.T @ y
        self.weights = np.linalg.solve(inputs + RIDGE * inputs[-1, -1] * np.eye(len(inputs)), outputs)
        self.spread = self._spread(waves[: pictures.CHUNK])

    def _spread(self, waves):
        """Standard deviation of what the map does not tell, for each band [8]."""
        spectra = pictures.spectra(waves)
        return (above(spectra) - below(spectra) @ self.weights).std(axis=(0, 1))

    def explained(self, waves):
        """Share of the variance of the logarithms above that the map explains."""
        spectra = pictures.spectra(waves)
        logs = above(spectra)
        return 1 - ((logs - below(spectra) @ self.weights) ** 2).mean() / logs.var(axis=(0, 1)).mean()

    def added(self, waves, first=0):
        """Waveforms [n, 16000] that end at 4 kHz, with noise above; its random numbers are those of the clips from number `first` on."""
        chunks = [self._added(waves[i : i + pictures.CHUNK], first + i) for i in range(0, len(waves), pictures.CHUNK)]
        return np.concatenate(chunks) if chunks else waves

    def _added(self, waves, number):
        spectra = pictures.spectra(waves)
        powers = np.exp(below(spectra) @ self.weights)
        powers = np.repeat(powers, (spectra.shape[2] - 1 - FIRST) // BANDS, axis=2)
        generator = seeded("noise above pictures", number)
        noise = generator.normal(size=waves.shape).astype(np.float32)
        shaped = pictures.spectra(noise)
        # White noise of variance 1 has a mean power of the sum of the squared window.
        shaped[..., FIRST:-1] *= np.sqrt(powers / (pictures.HANN**2).sum())
        shaped[..., :FIRST] = shaped[..., -1] = 0
        upper = pictures.waves_from(shaped)
        return (waves + upper).astype(np.float32)


def learned(table):
    """The UpperBand of the training partition's recordings of words."""
    rows = np.flatnonzero((table["part"] == "training") & (table["kind"] == "clip"))
    rows = seeded("noise above pictures").permutation(rows)[:CLIPS]
    return UpperBand(np.stack([samples(table, row) for row in rows]))
