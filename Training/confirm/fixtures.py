"""Writes the fixture `confirming` of Tests/InferenceTests: the model `streaming` with two small confirming networks.

    python -m Training.confirm.fixtures Tests/InferenceTests/Fixtures

The networks have every kind of layer; their weights are random and stored as F16. The folder holds `streaming` already.
"""

from pathlib import Path

import numpy as np

from Training.confirm import export, layers
from Training.data import command_line
from Training.data.seeding import generator as seeded
from Training.export.fixtures import random_weights


def conv2d(name, source, channels, kernel, **options):
    """A two-dimensional convolution; `channels` is (in, out)."""
    return {"op": "conv2d", "name": name, "input": source, "in": channels[0], "out": channels[1], "kernel": list(kernel)} | options


def plane_layers(labels):
    """Every kind of layer over bands and frames: strides, zeros, dilation, norms by part of the bands, sums, means."""
    return [
        conv2d("stem", "features", (3, 20), (5, 5), stride=[2, 1], padding=[2, 2]),
        conv2d("wide", "stem", (20, 12), (1, 1), activation="relu"),
        conv2d("bands", "wide", (12, 12), (3, 1), stride=[2, 1], padding=[1, 1]),
        {"op": "bandScale", "name": "norm", "input": "bands", "channels": 12, "parts": 5},
        {"op": "meanBands", "name": "mean", "input": "norm"},
        conv2d("time", "mean", (12, 12), (1, 3), padding=[0, 4], dilation=[1, 4], activation="silu"),
        conv2d("channels", "time", (12, 12), (1, 1)),
        {"op": "add", "name": "block", "inputs": ["norm", "channels", "bands"], "activation": "relu"},
        conv2d("joined", "block", (12, 16), (10, 5)),
        {"op": "middleFrames", "name": "middle", "input": "joined", "count": 13},
        {"op": "meanFrames", "name": "pool", "input": "middle"},
        conv2d("logits", "pool", (16, labels), (1, 1)),
    ]


def line_layers(labels):
    """The same over frames alone: one filter per channel, groups, a stride."""
    return [
        conv2d("cosines", "features", (64, 24), (1, 1)),
        conv2d("depth", "cosines", (24, 24), (1, 11), padding=[0, 10], dilation=[1, 2], groups=24),
        conv2d("point", "depth", (24, 20), (1, 1), activation="relu", groups=2),
        conv2d("skip", "cosines", (24, 20), (1, 1)),
        {"op": "add", "name": "sum", "inputs": ["point", "skip"]},
        conv2d("down", "sum", (20, 16), (1, 3), stride=[1, 2], padding=[0, 1], activation="silu"),
        {"op": "meanFrames", "name": "pool", "input": "down"},
        conv2d("logits", "pool", (16, labels), (1, 1)),
    ]


def plane_weights(generator, described):
    """Random weights of layers, rounded to half precision."""
    made = {}
    for layer in described:
        name = layer["name"]
        if layer["op"] == "conv2d":
            made[name + ".weight"] = random_weights(generator, (layer["out"], *layer["kernel"], layer["in"] // layer.get("groups", 1)))
            made[name + ".bias"] = random_weights(generator, (layer["out"],))
        elif layer["op"] == "bandScale":
            made[name + ".scale"] = (1 + random_weights(generator, (layer["channels"], layer["parts"]))).astype(np.float16)
            made[name + ".shift"] = random_weights(generator, (layer["channels"], layer["parts"]))
    return made


def write_confirming(folder, source, generator):
    """A copy of the model in the folder `source` with confirming networks; one knows a word that the other does not."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in ("model.json", "model.safetensors"):
        (folder / name).write_bytes((source / name).read_bytes())
    bands = layers.front_end({"frameSamples": 1024, "hopSamples": 512, "fftSize": 1024, "bands": 40}, 1e-9, 0.7)
    channels = layers.front_end({"frameSamples": 400, "hopSamples": 160, "fftSize": 512, "bands": 64}, 1e-6, 1)
    plane = {"name": "plane", "windowSamples": 16000, "frontEnd": bands | {"axis": "bands", "slopes": 2}, "share": 0.35, "clipShare": 0.5}
    plane |= {"labels": ["go", "seven", "yes", "no"], "layers": plane_layers(4), "output": "logits", "shifts": [-0.1, 0, 0.1]}
    line = {"name": "line", "windowSamples": 24000, "frontEnd": channels | {"axis": "channels"}, "share": 0.65}
    line |= {"labels": ["no", "yes", "other"], "layers": line_layers(3), "output": "logits"}
    networks = []
    for about in (plane, line):
        arrays = plane_weights(generator, about["layers"])
        networks.append((about, arrays, arrays))
    export.write_confirm(folder, networks, {"share": 0.25, "clipShare": 0.5, "proposals": {"command": 0.15}})


def main(arguments=None):
    parser = command_line.parser(__doc__, data=False)
    parser.add_argument("folder", type=Path, help="folder to write to")
    folder = parser.parse_args(arguments).folder
    write_confirming(folder / "confirming", folder / "streaming", seeded("confirming fixture"))


if __name__ == "__main__":
    main()
