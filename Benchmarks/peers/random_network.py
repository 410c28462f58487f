"""Writes a model folder with random weights, to measure the speed of a network before it is trained.

    python -m Benchmarks.peers.random_network OUT [--widths 96 192 256 384] [--head 384] [--extra 1] [--like Models/commands]

The architecture is that of `commands`: a stem, three residual blocks of stride 2, EXTRA residual pairs of layers with a kernel of 1,
a head, and an activity layer on the first block. Labels and front end are those of LIKE. All layers have int8 ranges.
"""

import argparse
import json
import shutil
from pathlib import Path

import numpy as np
import safetensors.numpy

# Kernel of each block, and the columns that its skip connection drops at either end.
BLOCKS = ((7, 9), (5, 6), (3, 3))
HIDDEN = 32


class Writer:
    def __init__(self):
        self.layers, self.weights, self.ranges = [], {}, {}
        self.random = np.random.default_rng(1)

    def convolution(self, name, source, inputs, outputs, kernel=1, stride=1, relu=True):
        layer = {"op": "conv1d", "name": name, "input": source, "in": inputs, "out": outputs, "kernel": kernel}
        self.layers.append(layer | {"stride": stride, "activation": "relu" if relu else "none"})
        # Keeps the variance of the activations.
        limit = np.sqrt(6 / (inputs * kernel))
        self.weights[f"{name}.weight"] = self._uniform(limit, outputs, kernel, inputs)
        self.weights[f"{name}.bias"] = self._uniform(0.1, outputs)
        self.ranges[source] = 6.0
        return name

    def add(self, name, left, right):
        self.layers.append({"op": "add", "name": name, "inputs": [left, right], "activation": "relu"})
        return name

    def dense(self, name, source, inputs, outputs):
        self.layers.append({"op": "dense", "name": name, "input": source, "in": inputs, "out": outputs})
        self.weights[f"{name}.weight"] = self._uniform(np.sqrt(6 / inputs), outputs, inputs)
        self.weights[f"{name}.bias"] = self._uniform(0.1, outputs)
        self.ranges[source] = 6.0

    def _uniform(self, limit, *shape):
        return self.random.uniform(-limit, limit, shape).astype(np.float32)


def write(options):
    description = json.loads((options.like / "model.json").read_text())
    writer = Writer()
    stem, *widths = options.widths
    source, channels = writer.convolution("stem", "input", description["frontEnd"]["bands"], stem, kernel=5), stem
    for number, (width, (kernel, cut)) in enumerate(zip(widths, BLOCKS, strict=True), 1):
        block = f"block{number}"
        first = writer.convolution(f"{block}.first", source, channels, width, kernel, stride=2)
        second = writer.convolution(f"{block}.second", first, width, width, kernel, relu=False)
        writer.layers.append({"op": "crop", "name": f"{block}.crop", "input": source, "start": cut, "end": cut})
        skip = writer.convolution(f"{block}.skip", f"{block}.crop", channels, width, stride=2, relu=False)
        source, channels = writer.add(block, second, skip), width
    for number in range(options.extra):
        first = writer.convolution(f"extra{number}.first", source, channels, channels)
        second = writer.convolution(f"extra{number}.second", first, channels, channels, relu=False)
        source = writer.add(f"extra{number}", second, source)
    writer.convolution("head", source, channels, options.head)
    writer.layers.append({"op": "mean", "name": "embedding", "input": "head", "columns": 2})
    writer.dense("logits", "embedding", options.head, len(description["outputLabels"]))
    writer.convolution("activity.hidden", "block1", widths[0], HIDDEN, kernel=5)
    writer.convolution("activity", "activity.hidden", HIDDEN, 1, relu=False)

    outputs = {"output": "logits", "embedding": "embedding", "activity": "activity"}
    description |= {"name": options.out.name, "layers": writer.layers, "ranges": writer.ranges, **outputs}
    options.out.mkdir(parents=True, exist_ok=True)
    (options.out / "model.json").write_text(json.dumps(description, indent=1) + "\n")
    safetensors.numpy.save_file(writer.weights, options.out / "model.safetensors")
    # `make peers` takes its windows from there.
    shutil.copy(options.like / "reference.safetensors", options.out)
    print(f"{options.out}: {sum(weight.size for weight in writer.weights.values())} parameters")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=Path, metavar="OUT", help="the model folder to write")
    parser.add_argument("--widths", type=int, nargs=4, default=[96, 192, 256, 384], help="channels of stem and blocks")
    parser.add_argument("--head", type=int, default=384, help="channels of the head")
    parser.add_argument("--extra", type=int, default=1, help="pairs of layers after the last block")
    parser.add_argument("--like", type=Path, default=Path("Models/commands"))
    write(parser.parse_args())


if __name__ == "__main__":
    main()
