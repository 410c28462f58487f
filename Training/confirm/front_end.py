"""The front ends of the confirming networks: powers of centred frames with mirrored edges, through triangles on the HTK mel scale."""

import numpy as np
import torch

from Training.data.audio import RATE


def mel_bank(bands, fft_size, high_hertz=RATE / 2):
    """Triangles of height 1, linear in hertz, [bins, bands] float32; the scale begins at 0 Hz."""
    edges = 700 * ((1 + high_hertz / 700) ** np.linspace(0, 1, bands + 2) - 1)
    bins = np.linspace(0, RATE / 2, fft_size // 2 + 1)[:, None]
    rising = (bins - edges[:-2]) / (edges[1:-1] - edges[:-2])
    falling = (edges[2:] - bins) / (edges[2:] - edges[1:-1])
    return torch.tensor(np.maximum(0, np.minimum(rising, falling)), dtype=torch.float32)


def powers(waves, fft_size, frame, hop):
    """Waveforms [n, samples] → power spectra [n, frames, bins]: a periodic Hann window of `frame` samples in the middle of the FFT, a
    frame centred on every `hop`-th sample, the waveform mirrored at its edges."""
    window = torch.hann_window(frame)
    spectra = torch.stft(waves, fft_size, hop, frame, window, center=True, pad_mode="reflect", return_complex=True)
    return (spectra.real.square() + spectra.imag.square()).transpose(1, 2)
