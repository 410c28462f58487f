"""The phoneme network in PyTorch, from the tensors that Beckon ships."""

import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from Training.export import model_weights
from Training.phonemes import archive, tensors
from Training.phonemes.tensors import BLOCKS, HEADS, WIDTH

# Samples at 16 kHz from one answer to the next.
FRAME = 320


def from_folder(folder):
    """The network of `Models/phonemes`, and the names of its symbols."""
    stored = model_weights.load(Path(folder), "network.safetensors")
    found = {name: tensor.astype(np.float32) for name, tensor in stored.items() if name != "ranges" and not name.endswith(".step")}
    return Network(found), json.loads((Path(folder) / "phonemes.json").read_text())["symbols"]


def from_package(wheel):
    """The network as it was published."""
    return Network(tensors.phonemes(archive.read(archive.from_wheel(wheel, "asr_waveform.hama"))))


class Network(torch.nn.Module):
    """[windows, samples] → log-probabilities [windows, frames, symbols]."""

    def __init__(self, numbers):
        super().__init__()
        # The mel bands are not learnt.
        self.mel = torch.tensor(np.array(numbers["mel"]))
        self.learnt = torch.nn.ParameterDict(
            {name.replace(".", "/"): torch.nn.Parameter(torch.tensor(np.array(tensor))) for name, tensor in numbers.items() if name != "mel"}
        )

    def numbers(self):
        """The numbers by name, as `tensors.phonemes` gives them."""
        learnt = {name.replace("/", "."): tensor.detach().numpy() for name, tensor in self.learnt.items()}
        return {"mel": self.mel.numpy()} | learnt

    def part(self, name):
        return self.learnt[name.replace(".", "/")]

    def linear(self, x, name):
        return F.linear(x, self.part(name + ".weight"), self.part(name + ".bias"))

    def forward(self, samples):
        frames = F.pad(samples[:, None], (200, 200), mode="reflect")[:, 0].unfold(1, 400, 160)
        power = torch.fft.rfft(frames * torch.hann_window(400)).abs() ** 2
        bands = torch.log(torch.clamp(power @ self.mel.T, min=1e-10))
        weight = self.part("stem.weight").transpose(1, 2)
        x = F.gelu(F.conv1d(bands.transpose(1, 2), weight, self.part("stem.bias"), stride=2, padding=1).transpose(1, 2))
        for block in range(BLOCKS):
            x = self.block(x, f"blocks.{block}.")
        return F.log_softmax(self.linear(x, "output").float(), 2)

    def block(self, x, name):
        def norm(x):
            return F.layer_norm(x, (WIDTH,))

        windows, frames, _ = x.shape
        x = x + self.linear(F.silu(self.linear(norm(x), name + "ffn1.in")), name + "ffn1.out")
        parts = self.linear(norm(x), name + "attention.in").split(WIDTH, 2)
        heads = [part.view(windows, frames, HEADS, WIDTH // HEADS).transpose(1, 2) for part in parts]
        attended = F.scaled_dot_product_attention(*heads, scale=1.0).transpose(1, 2).reshape(windows, frames, WIDTH)
        x = x + self.linear(attended, name + "attention.out")
        gated = F.glu(self.linear(norm(x), name + "conv.in"), 2).transpose(1, 2)
        weight, bias = self.part(name + "conv.depthwise.weight")[:, None], self.part(name + "conv.depthwise.bias")
        mixed = F.conv1d(gated, weight, bias, padding=weight.shape[2] // 2, groups=WIDTH).transpose(1, 2)
        x = x + self.linear(F.silu(mixed), name + "conv.out")
        x = x + self.linear(F.silu(self.linear(norm(x), name + "ffn2.in")), name + "ffn2.out")
        return norm(x) * self.part(name + "norm.weight") + self.part(name + "norm.bias")
