"""The layers that make the embedding by which words of a user's own are known: upper blocks of their own on a model's first.

They begin as copies of the model's upper blocks and read what its first block makes, which is computed anyway.
"""

import torch
import torch.nn.functional as F

NAME = "words"
# Kernel lengths of the blocks above the first, as network.py has them.
BLOCKS = ((2, 5), (3, 3))
CROP = {2: 6, 3: 3}


class Upper(torch.nn.Module):
    """Columns of a model's first block in, an embedding out."""

    def __init__(self, weights, dimensions):
        """weights: the model's tensors, by name, as its safetensors file has them."""
        super().__init__()
        self.parts = torch.nn.ParameterDict()
        for name, value in weights.items():
            if name.startswith(("block2", "block3", "head")):
                tensor = torch.from_numpy(value.copy()).float()
                tensor = tensor.transpose(1, 2).contiguous() if tensor.dim() == 3 else tensor
                self.parts[name.replace(".", "_")] = torch.nn.Parameter(tensor)
        width = self.parts["head_bias"].numel()
        self.projection = torch.nn.Linear(width, dimensions)
        # For training alone: what the teacher makes of the same second.
        self.teacher = torch.nn.Linear(width, 96)

    def conv(self, x, name, stride=1):
        return F.conv1d(x, self.parts[f"{name}_weight"], self.parts[f"{name}_bias"], stride)

    def columns(self, x):
        """[n, channels, columns] of the first block → [n, width, columns], one of 100 ms."""
        for block, _ in BLOCKS:
            crop = CROP[block]
            skip = self.conv(x[:, :, crop : x.shape[2] - crop], f"block{block}_skip", 2)
            inner = torch.relu(self.conv(x, f"block{block}_first", 2))
            x = torch.relu(self.conv(inner, f"block{block}_second") + skip)
        return torch.relu(self.conv(x, "head"))

    def forward(self, x):
        """The mean of the window's columns, and the embedding that is made of it."""
        hidden = self.columns(x).mean(2)
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
        for block, _ in BLOCKS:
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
