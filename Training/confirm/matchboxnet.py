"""NVIDIA's MatchboxNet 3×2×64 (NeMo, Apache-2.0): one-dimensional convolutions over MFCC, 93 k numbers, with published weights.

Its norms are folded into the convolutions when the published weights are read. It takes waveforms of any length, and answers for all of it.
"""

import numpy as np
import scipy.fft
import torch
from torch import nn

from Training.confirm.front_end import mel_bank, powers
from Training.confirm.networks import WORDS35, add_outputs

# The published network's outputs, in their order.
PUBLISHED = (
    "visual wow learn backward dog two left happy nine go up bed stop one zero tree seven on four bird right eight no six "
    "forward house marvin sheila five off three down cat follow yes"
).split()
# What the published norms add to a variance.
EPS = 1e-3


class Separable(nn.Module):
    """A depthwise convolution that keeps the frames, and one over the channels."""

    def __init__(self, inputs, outputs, kernel, dilation=1):
        super().__init__()
        padding = dilation * (kernel - 1) // 2
        self.depthwise = nn.Conv1d(inputs, inputs, kernel, padding=padding, dilation=dilation, groups=inputs, bias=False)
        self.pointwise = nn.Conv1d(inputs, outputs, 1)

    def forward(self, x):
        return self.pointwise(self.depthwise(x))


class Block(nn.Module):
    """Two separable convolutions beside a 1×1 skip."""

    def __init__(self, inputs, outputs, kernel):
        super().__init__()
        self.first, self.second = Separable(inputs, outputs, kernel), Separable(outputs, outputs, kernel)
        self.skip = nn.Conv1d(inputs, outputs, 1)

    def forward(self, x):
        return torch.relu(self.second(torch.relu(self.first(x))) + self.skip(x))


class MatchboxNet(nn.Module):
    """Waveforms [n, samples] → logits [n, outputs]."""

    FFT, FRAME, HOP, BANDS = 512, 400, 160, 64
    KERNELS = (13, 15, 17)

    def __init__(self, added=()):
        super().__init__()
        self.labels = [*WORDS35, *added]
        self.register_buffer("bank", mel_bank(self.BANDS, self.FFT), persistent=False)
        cosines = scipy.fft.dct(np.eye(self.BANDS), norm="ortho", axis=1)
        self.register_buffer("dct", torch.tensor(cosines, dtype=torch.float32), persistent=False)
        self.stem = Separable(self.BANDS, 128, 11)
        self.blocks = nn.ModuleList(Block(inputs, 64, kernel) for inputs, kernel in zip((128, 64, 64), self.KERNELS))
        self.wide = Separable(64, 128, 29, dilation=2)
        self.head = nn.Conv1d(128, 128, 1)
        self.logits = nn.Linear(128, len(self.labels))

    def log_mel(self, waves):
        """Waveforms [n, samples] → the front end's [n, frames, 64]."""
        return torch.log(powers(waves, self.FFT, self.FRAME, self.HOP) @ self.bank + 1e-6)

    def features(self, waves):
        """Waveforms [n, samples] → MFCC [n, 64, frames]."""
        return (self.log_mel(waves) @ self.dct).transpose(1, 2)

    def forward(self, waves):
        x = torch.relu(self.stem(self.features(waves)))
        for block in self.blocks:
            x = block(x)
        x = torch.relu(self.head(torch.relu(self.wide(x))))
        return self.logits(x.mean(dim=2))


def matchboxnet(weights, added=()):
    """The network with published or fine-tuned weights, {name: array}, in evaluation mode; outputs in `added` that these lack are added."""
    network = MatchboxNet(added)
    lacking = len(network.labels) - len(weights["logits.bias"])
    weights = add_outputs(weights, "logits", lacking) if lacking else weights
    network.load_state_dict({name: torch.from_numpy(np.array(value, np.float32)) for name, value in weights.items()})
    return network.eval()


def read_published_matchboxnet(path):
    """The weights in the published checkpoint under the names of MatchboxNet, {name: array}, norms folded in, outputs as in WORDS35."""
    stored = {name: value.double().numpy() for name, value in torch.load(path, map_location="cpu", weights_only=True).items()}
    weights, encoder = {}, "encoder.encoder."

    def folded(name, convolution, norm):
        scale = stored[norm + ".weight"] / np.sqrt(stored[norm + ".running_var"] + EPS)
        weights[name + ".weight"] = stored[convolution + ".conv.weight"] * scale[:, None, None]
        weights[name + ".bias"] = stored[norm + ".bias"] - stored[norm + ".running_mean"] * scale

    def separable(name, block, place):
        weights[name + ".depthwise.weight"] = stored[f"{encoder}{block}.mconv.{place}.conv.weight"]
        folded(name + ".pointwise", f"{encoder}{block}.mconv.{place + 1}", f"{encoder}{block}.mconv.{place + 2}")

    separable("stem", 0, 0)
    for number in range(3):
        separable(f"blocks.{number}.first", number + 1, 0)
        separable(f"blocks.{number}.second", number + 1, 5)
        folded(f"blocks.{number}.skip", f"{encoder}{number + 1}.res.0.0", f"{encoder}{number + 1}.res.0.1")
    separable("wide", 4, 0)
    folded("head", encoder + "5.mconv.0", encoder + "5.mconv.1")
    order = [PUBLISHED.index(word) for word in WORDS35]
    weights["logits.weight"] = stored["decoder.decoder_layers.0.weight"][order]
    weights["logits.bias"] = stored["decoder.decoder_layers.0.bias"][order]
    return {name: value.astype(np.float32) for name, value in weights.items()}
