"""The phoneme network in PyTorch, from the tensors that Beckon ships."""

import json
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from safetensors.numpy import load_file

from Training.phonemes.tensors import BLOCKS, HEADS, WIDTH

# Samples at 16 kHz from one answer to the next.
FRAME = 320


class Network:
    """[windows, samples] → log-probabilities [windows, frames, symbols]."""

    def __init__(self, folder):
        stored = load_file(Path(folder) / "network.safetensors")
        self.symbols = json.loads((Path(folder) / "phonemes.json").read_text())["symbols"]
        self.tensors = {}
        for name, tensor in stored.items():
            if not name.endswith(".steps"):
                steps = stored.get(name + ".steps")
                scale = 1 if steps is None else steps.reshape((-1,) + (1,) * (tensor.ndim - 1))
                self.tensors[name] = torch.tensor(tensor.astype(np.float32) * scale)

    def linear(self, x, name):
        return F.linear(x, self.tensors[name + ".weight"], self.tensors[name + ".bias"])

    @torch.no_grad()
    def __call__(self, samples):
        tensors = self.tensors
        frames = F.pad(samples[:, None], (200, 200), mode="reflect")[:, 0].unfold(1, 400, 160)
        power = torch.fft.rfft(frames * torch.hann_window(400)).abs() ** 2
        bands = torch.log(torch.clamp(power @ tensors["mel"].T, min=1e-10))
        weight = tensors["stem.weight"].transpose(1, 2)
        x = F.gelu(F.conv1d(bands.transpose(1, 2), weight, tensors["stem.bias"], stride=2, padding=1).transpose(1, 2))
        for block in range(BLOCKS):
            x = self.block(x, f"blocks.{block}.")
        return F.log_softmax(self.linear(x, "output"), 2)

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
        weight, bias = self.tensors[name + "conv.depthwise.weight"][:, None], self.tensors[name + "conv.depthwise.bias"]
        mixed = F.conv1d(gated, weight, bias, padding=weight.shape[2] // 2, groups=WIDTH).transpose(1, 2)
        x = x + self.linear(F.silu(mixed), name + "conv.out")
        x = x + self.linear(F.silu(self.linear(norm(x), name + "ffn2.in")), name + "ffn2.out")
        return norm(x) * self.tensors[name + "norm.weight"] + self.tensors[name + "norm.bias"]
