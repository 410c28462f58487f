"""The confirming networks as plain layers, with norms folded and kernels expanded: what an engine has to compute, and a way to compute it.
Beside a kernel that is made of quaternions, these are kept: a quarter of the numbers, from which the engine makes the same kernel.

Models/FORMAT.md describes them. A tensor is [channels, bands, frames]. Every layer has an `op`, a `name` that its output has, and `input` or `inputs`; the first input is
`features`. Weights are stored channels last, [outputs, height, width, inputs / groups], as in Models/FORMAT.md.

* `conv2d`: `in`, `out`, `kernel` [bands, frames], `stride`, `padding` (zeros, on both sides), `dilation`, `groups`, `activation`.
* `bandScale`: for each channel and each of `parts` equal parts of the bands a factor (`.scale`) and a summand (`.shift`), [channels, parts].
* `meanBands`: the mean of the bands, which become one. `meanFrames` likewise of the frames.
* `middleFrames`: `count` frames in the middle; if their number outside is odd, one more of them is behind.
* `add`: the sum; a single band is added to every band.
"""

import math

import numpy as np
import torch
import torch.nn.functional as F

from Training.confirm.matchboxnet import MatchboxNet
from Training.confirm.networks import FIFTHS, Qbc6
from Training.data.audio import RATE
from Training.export import reference


class Weights(dict):
    """Arrays by tensor name; `compact` has for the name of a kernel the arrays to store in its place, by tensor name."""

    def __init__(self):
        super().__init__()
        self.compact = {}

    def stored(self):
        """The arrays to store, in half precision where that is exact or the kernel is not made of others."""
        made = {}
        for name, value in self.items():
            made |= self.compact.get(name, {name: value.astype(np.float16)})
        return made


class Collector:
    """Collects layers in the order in which they run, and their weights by tensor name."""

    def __init__(self):
        self.layers, self.weights = [], Weights()

    def quaternions(self, name, kernel, scale):
        """Keeps what a kernel is made of: quaternions [out / 4, in, height, width], as PyTorch has them, and factors [out], or None."""
        compact = kernel.detach().numpy().transpose(0, 2, 3, 1)
        half = compact.astype(np.float16)
        exact = scale is None or np.array_equal(half.astype(np.float32), compact)
        self.weights.compact[name + ".weight"] = {name + ".quaternion": (half if exact else compact).copy()}
        if scale is not None:
            self.weights.compact[name + ".weight"][name + ".factor"] = scale.detach().numpy().astype(np.float32)

    def conv2d(self, name, source, kernel, bias, activation="none", stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1):
        """A convolution from PyTorch's kernel [out, in / groups, height, width] and bias [out]; returns its name."""
        kernel, bias = kernel.detach().numpy(), bias.detach().numpy()
        self.weights[name + ".weight"], self.weights[name + ".bias"] = kernel.transpose(0, 2, 3, 1).copy(), bias.copy()
        shape = {"in": kernel.shape[1] * groups, "out": kernel.shape[0], "kernel": list(kernel.shape[2:])}
        rest = {"stride": list(stride), "padding": list(padding), "dilation": list(dilation), "groups": groups, "activation": activation}
        self.layers.append({"op": "conv2d", "name": name, "input": source} | shape | rest)
        return name

    def band_scale(self, name, source, norm):
        """A norm of its own for each fifth of the bands."""
        for part, value in zip(("scale", "shift"), norm.affine()):
            self.weights[f"{name}.{part}"] = value.detach().numpy().reshape(-1, FIFTHS).copy()
        self.layers.append({"op": "bandScale", "name": name, "input": source, "channels": norm.weight.numel() // FIFTHS, "parts": FIFTHS})
        return name

    def plain(self, op, name, source, **rest):
        """A layer without weights."""
        self.layers.append({"op": op, "name": name, "input": source} | rest)
        return name

    def add(self, name, sources):
        """The sum of layers, no less than 0."""
        self.layers.append({"op": "add", "name": name, "inputs": list(sources), "activation": "relu"})
        return name


def _quaternion(made, name, source, layer, norm=None, activation="none", inputs=slice(None)):
    """A quaternion convolution, with the norm that follows it folded in."""
    kernel, bias, scale = layer.kernel()[:, inputs], layer.bias, None
    if norm is not None:
        scale, shift = norm.affine()
        kernel, bias = kernel * scale[:, None, None, None], bias * scale + shift
    options = dict(layer.options)
    if isinstance(options.get("padding"), int):
        options["padding"] = (options["padding"],) * 2
    if inputs == slice(None):
        made.quaternions(name, layer.weight, scale)
    return made.conv2d(name, source, kernel, bias, activation, **options)


def _time_path(made, name, source, block):
    first, norm, _, last = block.f1
    mean = made.plain("meanBands", f"{name}.mean", source)
    hidden = _quaternion(made, f"{name}.time", mean, first, norm, "silu")
    return _quaternion(made, f"{name}.channels", hidden, last)


def describe_qbc6(network):
    """(front end, layers, weights {name: array}) of a Qbc6. Its channel of zeros is left out."""
    made = Collector()
    last = _quaternion(made, "stem", "features", network.input_conv, inputs=slice(1, None))
    for name, block in network.blocks():
        if name.startswith("t"):
            widened = _quaternion(made, f"{name}.wide", last, block.f2[0], block.f2[1], "relu")
            bands, norm, others = _quaternion(made, f"{name}.bands", widened, block.f2[3]), block.f2[4]["bn"], []
        else:
            bands, norm, others = _quaternion(made, f"{name}.bands", last, block.f2[0]), block.f2[1]["bn"], [last]
        scaled = made.band_scale(f"{name}.norm", bands, norm)
        last = made.add(name, [scaled, _time_path(made, name, scaled, block), *others])
    last = _quaternion(made, "joined", last, network.dw_conv)
    last = _quaternion(made, "embedding", last, network.onexone_conv)
    last = made.plain("middleFrames", "middle", last, count=network.COLUMNS)
    last = made.plain("meanFrames", "mean", last)
    made.conv2d("logits", last, network.head_conv.weight, network.head_conv.bias)
    sizes = {"frameSamples": network.FFT, "hopSamples": network.HOP, "fftSize": network.FFT, "bands": network.BANDS}
    front = front_end(sizes, floor=1e-9, deviation=math.log(2)) | {"axis": "bands", "slopes": 2}
    return front, made.layers, made.weights


def _separable(made, name, source, layer, activation="none"):
    depthwise, pointwise = layer.depthwise, layer.pointwise
    options = {"padding": (0, depthwise.padding[0]), "dilation": (1, depthwise.dilation[0]), "groups": depthwise.groups}
    hidden = made.conv2d(f"{name}.depthwise", source, depthwise.weight[:, :, None], torch.zeros(depthwise.out_channels), **options)
    return made.conv2d(name, hidden, pointwise.weight[:, :, None], pointwise.bias, activation)


def describe_matchboxnet(network):
    """(front end, layers, weights) of a MatchboxNet. Its features have one band; the cosines are the first layer."""
    made = Collector()
    last = made.conv2d("cosines", "features", network.dct.T[:, :, None, None], torch.zeros(network.BANDS))
    last = _separable(made, "stem", last, network.stem, "relu")
    for number, block in enumerate(network.blocks, 1):
        first = _separable(made, f"block{number}.first", last, block.first, "relu")
        second = _separable(made, f"block{number}.second", first, block.second)
        skip = made.conv2d(f"block{number}.skip", last, block.skip.weight[:, :, None], block.skip.bias)
        last = made.add(f"block{number}", [second, skip])
    last = _separable(made, "wide", last, network.wide, "relu")
    last = made.conv2d("embedding", last, network.head.weight[:, :, None], network.head.bias, "relu")
    last = made.plain("meanFrames", "mean", last)
    made.conv2d("logits", last, network.logits.weight[:, :, None, None], network.logits.bias)
    sizes = {"frameSamples": network.FRAME, "hopSamples": network.HOP, "fftSize": network.FFT, "bands": network.BANDS}
    return front_end(sizes, floor=1e-6, deviation=1) | {"axis": "channels"}, made.layers, made.weights


def describe(network):
    """(front end, layers, weights) of a confirming network."""
    return {Qbc6: describe_qbc6, MatchboxNet: describe_matchboxnet}[type(network)](network)


def front_end(sizes, floor, deviation):
    """The description of a front end of centred frames over all frequencies."""
    return {"kind": "centred-log-mel"} | sizes | {"lowHertz": 0, "highHertz": RATE // 2, "floor": floor, "mean": 0, "deviation": deviation}


def slope(x):
    """The slope over five frames of [n, bands, frames], whose edges are repeated."""
    x = F.pad(x, (2, 2), mode="replicate")
    parts = [factor * x[..., place : x.shape[-1] - 4 + place] for place, factor in enumerate((-2, -1, 0, 1, 2))]
    return sum(parts) / 10


def features(front, waves):
    """What the first layer reads, for waveforms [n, samples]: [n, channels, bands, frames], in double precision."""
    waves, half = torch.as_tensor(np.asarray(waves), dtype=torch.float64), front["frameSamples"] // 2
    padded = F.pad(waves[:, None], (half, half), mode="reflect")[:, 0]
    mel = reference.log_mel(padded, front).transpose(1, 2)
    if front["axis"] == "channels":
        return mel[:, :, None]
    parts = [mel]
    for _ in range(front["slopes"]):
        parts.append(slope(parts[-1]))
    return torch.stack(parts, dim=1)


ACTIVATIONS = {"none": lambda x: x, "relu": torch.relu, "silu": F.silu}


def computed(layers, weights, features):
    """Every layer's output [n, channels, bands, frames] in double precision, by name, for features [n, channels, bands, frames]."""
    outputs = {"features": torch.as_tensor(np.asarray(features), dtype=torch.float64)}
    stored = {name: torch.from_numpy(np.asarray(value, np.float64)) for name, value in weights.items()}
    for layer in layers:
        name, op = layer["name"], layer["op"]
        x = outputs[layer["inputs"][0] if op == "add" else layer["input"]]
        if op == "conv2d":
            options = [layer.get(key, default) for key, default in (("stride", 1), ("padding", 0), ("dilation", 1), ("groups", 1))]
            x = F.conv2d(x, stored[name + ".weight"].permute(0, 3, 1, 2), stored[name + ".bias"], *options)
        elif op == "bandScale":
            spread = lambda value: value.repeat_interleave(x.shape[2] // layer["parts"], dim=1)[None, :, :, None]
            x = x * spread(stored[name + ".scale"]) + spread(stored[name + ".shift"])
        elif op == "meanBands":
            x = x.mean(dim=2, keepdim=True)
        elif op == "meanFrames":
            x = x.mean(dim=3, keepdim=True)
        elif op == "middleFrames":
            outside = max(0, (x.shape[3] - layer["count"]) // 2)
            x = x[..., outside : outside + layer["count"]]
        elif op == "add":
            for other in layer["inputs"][1:]:
                x = x + outputs[other]
        outputs[name] = ACTIVATIONS[layer.get("activation", "none")](x)
    return outputs
