"""The layers that make the embedding by which words of a user's own are known: upper blocks of their own on a model's first.

They begin as copies of the model's upper blocks and read what its first block makes, which is computed anyway.
"""

import numpy as np
import torch

from network import Valid

NAME = "words"
BLOCKS = (2, 3)
CROP = {2: 6, 3: 3}
# Channels of the two blocks and of the head; the model's own are the first of them.
WIDTHS = (192, 288, 288)


def unit(vectors):
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


def widened(tensor, shape, generator):
    """A tensor with more channels: the new ones are drawn, their biases nought."""
    is_bias = len(shape) == 1
    out = torch.zeros(shape) if is_bias else torch.randn(shape, generator=generator) / np.sqrt(np.prod(shape[1:]))
    out[tuple(slice(0, count) for count in tensor.shape)] = tensor
    return out


class Upper(torch.nn.Module):
    """Columns of a model's first block in, an embedding out."""

    def __init__(self, weights, dimensions, widths=WIDTHS):
        """weights: the model's tensors, by name, as its safetensors file has them."""
        super().__init__()
        second, third, head = widths
        outputs = {"block2": second, "block3": third, "head": head}
        inputs = {"block2": weights["block2.first.weight"].shape[2], "block3": second, "head": third}
        generator = torch.Generator().manual_seed(1)
        self.parts = torch.nn.ParameterDict()
        for name, value in weights.items():
            block = name.split(".")[0]
            if block not in outputs:
                continue
            tensor, shape = torch.from_numpy(value.copy()).float(), (outputs[block],)
            if tensor.dim() == 3:
                tensor = tensor.transpose(1, 2).contiguous()
                shape += (outputs[block] if ".second" in name else inputs[block], tensor.shape[2])
            self.parts[name.replace(".", "_")] = torch.nn.Parameter(widened(tensor, shape, generator))
        self.projection = torch.nn.Linear(head, dimensions)
        # For training alone: what the teacher makes of the same second.
        self.teacher = torch.nn.Linear(head, 96)

    @classmethod
    def restored(cls, state, weights):
        """From what upper_train.py wrote."""
        count = lambda name: state[f"parts.{name}_bias"].shape[0]
        widths = count("block2_first"), count("block3_first"), count("head")
        network = cls(weights, state["projection.weight"].shape[0], widths)
        network.load_state_dict(state)
        return network

    @classmethod
    def of(cls, weights):
        """From the tensors of a model that has them; what only the training asks for is nought."""
        state = {}
        for name, value in weights.items():
            tensor, part = torch.from_numpy(value.astype(np.float32)), name.removeprefix(NAME + ".")
            if name in (f"{NAME}.weight", f"{NAME}.bias"):
                state[f"projection.{part}"] = tensor
            elif name.startswith(NAME + "."):
                tensor = tensor.transpose(1, 2).contiguous() if tensor.dim() == 3 else tensor
                state["parts." + part.replace(".", "_")] = tensor
        hidden = state["projection.weight"].shape[1]
        state |= {"teacher.weight": torch.zeros(96, hidden), "teacher.bias": torch.zeros(96)}
        return cls.restored(state, weights)

    def conv(self, x, name, stride=1):
        return Valid.apply(x.contiguous(), self.parts[f"{name}_weight"], stride) + self.parts[f"{name}_bias"]

    def columns(self, x):
        """[n, columns, channels] of the first block → [n, columns, width], one of 100 ms."""
        for block in BLOCKS:
            crop = CROP[block]
            skip = self.conv(x[:, crop : x.shape[1] - crop], f"block{block}_skip", 2)
            inner = torch.relu(self.conv(x, f"block{block}_first", 2))
            x = torch.relu(self.conv(inner, f"block{block}_second") + skip)
        return torch.relu(self.conv(x, "head"))

    def forward(self, x):
        """The mean of the window's columns, and the embedding that is made of it."""
        hidden = self.columns(x).mean(1)
        return hidden, self.projection(hidden)

    def layers(self):
        """As model.json's layers, and the weights by tensor name."""
        out, weights = [], {}
        array = lambda key: self.parts[key].detach().numpy()

        def conv(part, source, stride, relu):
            name = f"{NAME}.{part}"
            kernel = array(part.replace(".", "_") + "_weight")
            weights[name + ".weight"] = kernel.transpose(0, 2, 1).copy()
            weights[name + ".bias"] = array(part.replace(".", "_") + "_bias")
            activation = "relu" if relu else "none"
            shape = {"in": kernel.shape[1], "out": kernel.shape[0], "kernel": kernel.shape[2]}
            out.append(
                {"op": "conv1d", "name": name, "input": source, **shape, "stride": stride, "activation": activation}
            )
            return name

        last = "block1"
        for block in BLOCKS:
            name = f"{NAME}.block{block}"
            first = conv(f"block{block}.first", last, 2, True)
            second = conv(f"block{block}.second", first, 1, False)
            crop = {"start": CROP[block], "end": CROP[block]}
            out.append({"op": "crop", "name": f"{name}.crop", "input": last, **crop})
            skip = conv(f"block{block}.skip", f"{name}.crop", 2, False)
            out.append({"op": "add", "name": name, "inputs": [second, skip], "activation": "relu"})
            last = name
        head = conv("head", last, 1, True)
        out.append({"op": "mean", "name": f"{NAME}.mean", "input": head, "columns": 2})
        dense = self.projection
        weights[NAME + ".weight"], weights[NAME + ".bias"] = (t.detach().numpy() for t in (dense.weight, dense.bias))
        out.append(
            {"op": "dense", "name": NAME, "input": f"{NAME}.mean", "in": dense.in_features, "out": dense.out_features}
        )
        return out, weights
