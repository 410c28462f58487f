"""The layers and front ends of Models/FORMAT.md as nodes of an ONNX graph, channels before columns."""

import sys

import numpy as np
from onnx import helper, numpy_helper

from Training.data.log_mel import LEAST, QUANTILE, RUN, hann_window, mel_filters


class Graph:
    """Nodes and constants of an ONNX graph; the methods return the name of a node's output."""

    def __init__(self):
        self.nodes, self.constants = [], []

    def constant(self, name, values, kind=np.float32):
        # Not np.ascontiguousarray, which makes a list of a single number: as an index of Gather it would keep an axis.
        array = np.array(values, dtype=kind, order="C")
        self.constants.append(numpy_helper.from_array(array, name))
        return name

    def add(self, op, inputs, output, **attributes):
        self.nodes.append(helper.make_node(op, inputs, [output], name=output, **attributes))
        return output

    def convolve(self, source, name, weight, bias, stride=1, dilation=1, groups=1):
        """A valid convolution; `weight` is [out, in / groups, kernel]."""
        inputs = [source, self.constant(f"{name}.weight", weight)]
        if bias is not None:
            inputs.append(self.constant(f"{name}.bias", bias))
        shape = {"kernel_shape": [weight.shape[2]], "strides": [stride], "dilations": [dilation], "group": groups}
        return self.add("Conv", inputs, name, **shape)


def log_mel(graph, source, front, rate):
    """Waveforms [n, samples] → [n, bands, columns].

    The windowed Fourier transform is one convolution; the mel filters sum the squares of its real and imaginary parts.
    """
    size, fft = front["frameSamples"], front["fftSize"]
    time, bins = np.arange(size), np.arange(fft // 2 + 1)
    phase = 2 * np.pi * (np.outer(bins, time) % fft) / fft
    kernels = np.concatenate([np.cos(phase), -np.sin(phase)]) * hann_window(size)
    filters = mel_filters(front, rate)
    x = graph.add("Unsqueeze", [source, graph.constant("front.axis", [1], np.int64)], "front.channel")
    x = graph.convolve(x, "front.spectrum", kernels[:, None], None, stride=front["hopSamples"])
    x = graph.add("Mul", [x, x], "front.squares")
    floor = np.full(front["bands"], front["floor"])
    x = graph.convolve(x, "front.mel", np.concatenate([filters, filters], axis=1)[:, :, None], floor)
    x = graph.add("Log", [x], "front.log")
    x = graph.add("Sub", [x, graph.constant("front.mean", front["mean"])], "front.centred")
    return graph.add("Div", [x, graph.constant("front.deviation", front["deviation"])], "front.features")


def waveform(graph, source, front):
    """Waveforms [n, samples] → [n, 1, samples]."""
    x = graph.add("Mul", [source, graph.constant("front.scale", front["scale"])], "front.scaled")
    return graph.add("Unsqueeze", [x, graph.constant("front.axis", [1], np.int64)], "front.features")


def lacking(graph, logits, words, contrast):
    """Logits [n, outputs] → what the lead of the words, those outputs where `words` is true, lacks, [n, 1]."""
    spoken = graph.constant("contrast.words", np.flatnonzero(words), np.int64)
    best = graph.add("ReduceMax", [graph.add("Gather", [logits, spoken], "contrast.of_words", axis=1)], "contrast.best", axes=[1])
    rival = graph.add("Gather", [logits, graph.constant("contrast.over_output", [contrast["over"]], np.int64)], "contrast.rival", axis=1)
    lead = graph.add("Sub", [best, rival], "contrast.lead")
    least = graph.constant("contrast.least_lead", contrast["lead"])
    return graph.add("Clip", [graph.add("Sub", [least, lead], "contrast.behind"), graph.constant("contrast.none", 0.0), least], "contrast.lacking")


def background(graph, features, front, contrast, columns):
    """Features [n, bands, columns] → 1 where nothing stands out of a clip's background, 0 where something does, [n, 1]."""
    low, high = contrast["from"], contrast["to"]
    x = graph.add("Mul", [features, graph.constant("contrast.deviation", front["deviation"])], "contrast.scaled")
    x = graph.add("Exp", [graph.add("Add", [x, graph.constant("contrast.mean", front["mean"])], "contrast.log")], "contrast.floored")
    x = graph.add("Relu", [graph.add("Sub", [x, graph.constant("contrast.floor", front["floor"])], "contrast.energy")], "contrast.mel")
    # The smallest energies of each band, smallest first.
    lower = graph.constant("contrast.lower", [columns // QUANTILE + 1], np.int64)
    names = ["contrast.smallest", "contrast.smallest.order"]
    graph.nodes.append(helper.make_node("TopK", [x, lower], names, name="contrast.quantile", axis=2, largest=0))
    last = graph.constant("contrast.last", [columns // QUANTILE], np.int64)
    band = graph.add("Gather", ["contrast.smallest", last], "contrast.band", axis=2)
    x = graph.add("Relu", [graph.add("Sub", [x, band], "contrast.over")], "contrast.left")
    axis = graph.constant("contrast.axis", [1], np.int64)
    x = graph.add("Add", [graph.add("ReduceSum", [x, axis], "contrast.sum"), graph.constant("contrast.least", LEAST)], "contrast.power")
    x = graph.add("AveragePool", [x], "contrast.means", kernel_shape=[RUN])
    count = columns - RUN + 1
    # The largest ones down to the median, largest first.
    upper = graph.constant("contrast.upper", [count - count // 2], np.int64)
    graph.nodes.append(helper.make_node("TopK", [x, upper], ["contrast.sorted", "contrast.order"], name="contrast.sort", axis=2))
    loudest, median = (
        graph.add("Gather", ["contrast.sorted", graph.constant(f"contrast.{name}.at", index, np.int64)], f"contrast.{name}", axis=2)
        for name, index in (("loudest", 0), ("median", count - count // 2 - 1))
    )
    x = graph.add("Log", [graph.add("Div", [loudest, median], "contrast.ratio")], "contrast.logratio")
    x = graph.add("Mul", [x, graph.constant("contrast.slope", -10 / np.log(10) / (high - low))], "contrast.slid")
    x = graph.add("Add", [x, graph.constant("contrast.end", high / (high - low))], "contrast.moved")
    return graph.add("Clip", [x, graph.constant("contrast.zero", 0.0), graph.constant("contrast.one", 1.0)], "contrast.background")


def layer(graph, description, sources, weights):
    """One layer of model.json. Its name gets the prefix `layers.`, as `logits` and others are names of outputs."""
    name, op = "layers." + description["name"], description["op"]
    output = f"{name}.linear" if description.get("activation") == "relu" else name
    if op in ("conv1d", "dense"):
        weight, bias = (weights[f"{description['name']}.{part}"] for part in ("weight", "bias"))
        weight = weight.transpose(0, 2, 1) if op == "conv1d" else weight[:, :, None]
        settings = [description.get(key, 1) for key in ("stride", "dilation", "groups")]
        x = graph.convolve(sources[0], output, weight, bias, *settings)
    elif op == "add":
        x = graph.add("Add", sources, output)
    elif op == "crop":
        end = -description["end"] or np.iinfo(np.int64).max
        limits = [("start", description["start"]), ("end", end), ("axis", 2)]
        x = graph.add("Slice", sources + [graph.constant(f"{name}.{k}", [v], np.int64) for k, v in limits], output)
    elif op == "mean":
        x = graph.add("AveragePool", sources, output, kernel_shape=[description["columns"]], strides=[1])
    elif op == "flatten":
        x = graph.add("Transpose", sources, f"{name}.columns", perm=[0, 2, 1])
        x = graph.add("Reshape", [x, graph.constant(f"{name}.shape", [0, -1, 1], np.int64)], output)
    else:
        sys.exit(f"layer {description['name']}: no ONNX form of {op!r} is known")
    return graph.add("Relu", [x], name) if output != name else x
