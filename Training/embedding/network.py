"""The layers of the embedding for taught words: further upper blocks on a model's first block.

They start as copies of the model's upper blocks and read the output of its first block, which is computed anyway.
"""

import numpy as np
import torch
import torch.nn.functional as F

from Training.model.layers import Collector
from Training.model.network import ValidConvolution

# The embedding's layers in model.json, and the first part of the names of the layers before each. The second part is trained apart and
# joined to the first, which errs at other words.
NAME, SECOND = "words", "words.second"
# What the names of the first block's layers begin with where the embedding has one of its own, carried over from another model. New
# parts read it.
TRUNK = NAME + "."
TRUNK_LAYERS = (TRUNK + "stem", TRUNK + "block1")
BLOCKS = (2, 3)
# Columns that the skip of each block crops at both ends.
CROPS = {1: 9, 2: 6, 3: 3}
# Channels of the two blocks and of the head; the first of them start as the model's own.
WIDTHS = (128, 192, 192)
DIMENSIONS = 64
# Numbers that the general teacher answers, and the one for wake words.
TEACHER, WORD_TEACHER = 96, 2048


def is_of_embedding(name):
    """Whether a layer or a tensor, by its name, is the embedding's own."""
    return name == NAME or name.startswith(NAME + ".")


def names(description):
    """The layers whose outputs are a model's embedding."""
    found = description["embedding"]
    return found if isinstance(found, list) else [found]


def joined(parts):
    """The embedding [n, d] of the outputs [n, d] of its layers, as the program joins them; its length is 1 where there are several."""
    return parts[0] if len(parts) == 1 else np.concatenate([unit(part) for part in parts], axis=-1) / np.sqrt(len(parts))


def unit(vectors):
    """Vectors [..., d] scaled to length 1."""
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-9)


def trunk(weights, part=None):
    """What the names of the layers begin with whose output a part of the embedding reads: nothing where it is the model's own first block.

    Without a part, that which a new part reads.
    """
    if part and f"{part}.stem.weight" in weights:
        return part + "."
    if TRUNK_LAYERS[0] + ".weight" not in weights:
        return ""
    read = weights.get(f"{part}.block2.first.weight")
    return TRUNK if read is None or read.shape[2] == len(weights[TRUNK + "block1.second.bias"]) else ""


def of_part(name, part):
    """Whether a layer or a tensor is of this part of the embedding, without the first block."""
    if any(name == layer or name.startswith(layer + ".") for layer in TRUNK_LAYERS):
        return False
    return name == part or name.startswith(part + ".") and (part == SECOND or not (name + ".").startswith(SECOND + "."))


def first_block(weights, features, part=None):
    """Features [n, columns, bands] → columns [n, columns, channels] float16 of the first block that a part of the embedding reads, or
    that a new part would read.

    `weights` are the model's tensors by name, as its safetensors file has them.
    """
    prefix = trunk(weights, part)
    tensor = lambda name: torch.from_numpy(weights[prefix + name].copy()).float()
    kernel = lambda name: tensor(name + ".weight").transpose(1, 2)
    conv = lambda x, name, stride=1: F.conv1d(x, kernel(name), tensor(name + ".bias"), stride)
    with torch.no_grad():
        x = torch.relu(conv(torch.as_tensor(features).transpose(1, 2), "stem"))
        skip = conv(x[:, :, CROPS[1] : x.shape[2] - CROPS[1]], "block1.skip", 2)
        x = torch.relu(conv(torch.relu(conv(x, "block1.first", 2)), "block1.second") + skip)
    return x.transpose(1, 2).numpy().astype(np.float16)


def resized(tensor, shape, generator):
    """A tensor with more or fewer channels: new weights are random, new biases 0, and of fewer channels the first are kept."""
    is_bias = len(shape) == 1
    out = torch.zeros(shape) if is_bias else torch.randn(shape, generator=generator) / np.sqrt(np.prod(shape[1:]))
    kept = tuple(slice(0, min(counts)) for counts in zip(tensor.shape, shape))
    out[kept] = tensor[kept]
    return out


class WordEmbedding(torch.nn.Module):
    """Columns [n, columns, channels] of a first block → an embedding [n, dimensions]."""

    def __init__(self, weights, dimensions, widths=WIDTHS):
        """`weights` are the model's tensors by name, as its safetensors file has them."""
        super().__init__()
        second, third, head = widths
        outputs = {"block2": second, "block3": third, "head": head}
        self.trunk = trunk(weights)
        inputs = {"block2": len(weights[self.trunk + "block1.second.bias"]), "block3": second, "head": third}
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
            # The model's upper blocks know nothing of the output of another model's first block.
            tensor = tensor[:0] if self.trunk else tensor
            self.parts[name.replace(".", "_")] = torch.nn.Parameter(resized(tensor, shape, generator))
        self.projection = torch.nn.Linear(head, dimensions)
        # For training alone: predicts the teacher's answer for the same second.
        self.teacher = torch.nn.Linear(head, TEACHER)

    @classmethod
    def from_checkpoint(cls, state, weights):
        """From the state that train.py wrote, on the model with these weights."""
        count = lambda name: state[f"parts.{name}_bias"].shape[0]
        widths = count("block2_first"), count("block3_first"), count("head")
        network = cls(weights, state["projection.weight"].shape[0], widths)
        network.load_state_dict(state)
        return network

    @classmethod
    def from_model(cls, weights, part=NAME):
        """A part of the embedding, from the tensors of a model that has one; what only the training needs is 0."""
        own = {name.removeprefix(part + "."): value for name, value in weights.items() if of_part(name, part)}
        own["block1.second.bias"] = weights[trunk(weights, part) + "block1.second.bias"]
        state = {}
        for name, value in own.items():
            tensor = torch.from_numpy(value.astype(np.float32))
            if name in ("weight", "bias"):
                state[f"projection.{name}"] = tensor
            elif not name.startswith(("stem.", "block1.")):
                tensor = tensor.transpose(1, 2).contiguous() if tensor.dim() == 3 else tensor
                state["parts." + name.replace(".", "_")] = tensor
        hidden = state["projection.weight"].shape[1]
        state |= {"teacher.weight": torch.zeros(TEACHER, hidden), "teacher.bias": torch.zeros(TEACHER)}
        # Its own tensors give the shapes, which need not be those of the model's upper blocks.
        return cls.from_checkpoint(state, own)

    def part(self, name):
        """Weight [out, in, kernel] and bias [out] of a convolution, by its layer's name without the prefix."""
        key = name.replace(".", "_")
        return self.parts[f"{key}_weight"], self.parts[f"{key}_bias"]

    def conv(self, x, name, stride=1):
        weight, bias = self.part(name)
        return ValidConvolution.apply(x.contiguous(), weight, stride) + bias

    def columns(self, x):
        """[n, columns, channels] of the first block → [n, columns, width], one column per 100 ms."""
        for block in BLOCKS:
            crop = CROPS[block]
            skip = self.conv(x[:, crop : x.shape[1] - crop], f"block{block}.skip", 2)
            inner = torch.relu(self.conv(x, f"block{block}.first", 2))
            x = torch.relu(self.conv(inner, f"block{block}.second") + skip)
        return torch.relu(self.conv(x, "head"))

    def forward(self, x):
        """The mean of the window's columns [n, width], and the embedding [n, dimensions] that is made of it."""
        hidden = self.columns(x).mean(1)
        return hidden, self.projection(hidden)

    def described(self, name=NAME):
        """The layers as model.json has them, and the weights by tensor name, as the part `name`."""
        made, last = Collector(), self.trunk + "block1"
        for block in BLOCKS:
            parts = {part: self.part(f"block{block}.{part}") for part in ("first", "second", "skip")}
            last = made.block(f"{name}.block{block}", last, parts, CROPS[block])
        last = made.conv1d(f"{name}.head", last, *self.part("head"), 1, True)
        made.dense(name, made.mean(f"{name}.mean", last, 2), self.projection)
        return made.layers, made.weights
