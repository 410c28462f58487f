"""Writes the fixtures of Tests/InferenceTests: small networks, inputs, and PyTorch's answers.

    OMP_NUM_THREADS=1 python -m Training.export.fixtures Tests/InferenceTests/Fixtures

`streaming` is a log-mel network with every kind of layer and an activity layer; its weights are random and stored as F16.
`confirming` is the same with two small confirming networks, which have every kind of layer of these.
`tutorial` is a network on the raw waveform whose 4.8 million weights are not stored: `hashed_weights` computes them from
integers, here and in the Swift test. Everything is computed in double precision.
"""

from pathlib import Path

import numpy as np
import torch

from Training.confirm import export as confirm_export
from Training.confirm import layers as confirm_layers
from Training.data import command_line, files, log_mel
from Training.data.seeding import generator as seeded
from Training.export import reference, tutorial
from Training.export.model_folder import description
from Training.model.layers import add, conv1d, crop, dense, mean, weight_shapes

FRONT_END = log_mel.description() | {"lowHertz": 20, "highHertz": 7600, "mean": -4.2, "deviation": 4.1}
LABELS = ["yes", "no", "go", "_unknown_", "_silence_"]


def describe(name, front_end, layers, embedding, logits, streaming):
    """A model.json with three words; the logits count in turn towards the five labels."""
    return description(
        name,
        LABELS,
        streaming,
        front_end,
        layers,
        embedding=embedding,
        outputLabels=[LABELS[i % len(LABELS)] for i in range(logits)],
        temperature=1.25,
        thresholds={"no": 0.85},
    )


def hashed_weights(index, shape):
    """Weights of tensor number `index` from a hash of their position: integer multiples of a power of two.

    32-bit arithmetic: x = (index << 24) + position; twice x ^= x >> 16, x *= 0x45D9F3B; x ^= x >> 16; the top 12
    bits less 2048 give -2048 … 2047, exact in half precision. The step, 2^-k, makes the standard deviation about
    sqrt(2 / inputs); a bias has the step 2^-15.
    """
    inputs = int(np.prod(shape[1:]))
    step = 2.0**-15 if len(shape) == 1 else 2.0 ** round(np.log2(np.sqrt(2 / inputs) / 1182))
    x = np.arange(int(np.prod(shape)), dtype=np.uint32) + np.uint32(index << 24)
    for _ in range(2):
        x = (x ^ (x >> np.uint32(16))) * np.uint32(0x45D9F3B)
    x ^= x >> np.uint32(16)
    return ((x >> np.uint32(20)).astype(np.float64) - 2048).reshape(shape) * step


def random_weights(generator, shape):
    """Random weights, rounded to half precision."""
    size = 0.1 if len(shape) == 1 else np.sqrt(2 / np.prod(shape[1:]))
    return (generator.standard_normal(shape) * size).astype(np.float16)


def streaming_layers():
    """Every kind of layer: strides, groups, one filter per channel, dilation, a crop, a sum, a mean, dense layers."""
    return [
        conv1d("stem", "input", (40, 24), 5, relu=True),
        conv1d("depth", "stem", (24, 24), 3, dilation=2, groups=24),
        conv1d("point", "depth", (24, 32), relu=True, groups=2),
        crop("cut", "stem", 2, 2),
        conv1d("skip", "cut", (24, 32)),
        add("sum", ["point", "skip"]),
        conv1d("down1", "sum", (32, 40), 7, relu=True, stride=2, groups=4),
        conv1d("wide", "down1", (40, 40), 3, relu=True, dilation=3),
        conv1d("down2", "wide", (40, 36), 3, relu=True, stride=2),
        conv1d("down3", "down2", (36, 45), 3, relu=True, stride=2),
        mean("pool", "down3", 6),
        dense("hidden", "pool", (45, 21), relu=True),
        dense("logits", "hidden", (21, 7)),
        conv1d("voice.hidden", "down1", (40, 8), relu=True),
        conv1d("voice", "voice.hidden", (8, 1)),
    ]


def write_streaming(folder, generator, waves, gains, samples):
    folder.mkdir(parents=True, exist_ok=True)
    layers = streaming_layers()
    model = describe("streaming", FRONT_END, layers, "pool", 7, streaming=True)
    model["activity"] = "voice"
    weights = {name: random_weights(generator, shape) for name, shape in weight_shapes(layers)}
    # A random bias may say "speech" everywhere; the median makes it half of the columns.
    outputs = reference.layer_outputs(model, weights, samples)
    weights["voice.bias"] -= outputs["voice"].median().numpy().astype(np.float16)
    features, logits = reference.features_and_logits(model, weights, samples)
    files.write_json(folder / "model.json", model)
    reference.save_tensors(folder / "model.safetensors", weights)
    outputs = reference.layer_outputs(model, weights, samples)
    reference.save_tensors(
        folder / "reference.safetensors",
        {
            "waveforms": waves,
            "gains": gains,
            "logits": logits.astype(np.float32),
            "features": features[:3].astype(np.float32),
            "activity": outputs["voice"][:, 0].numpy().astype(np.float32),
        },
    )


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
    bands = confirm_layers.front_end({"frameSamples": 1024, "hopSamples": 512, "fftSize": 1024, "bands": 40}, 1e-9, 0.7)
    channels = confirm_layers.front_end({"frameSamples": 400, "hopSamples": 160, "fftSize": 512, "bands": 64}, 1e-6, 1)
    plane = {"name": "plane", "windowSamples": 16000, "frontEnd": bands | {"axis": "bands", "slopes": 2}, "share": 0.35, "clipShare": 0.5}
    plane |= {"labels": ["go", "seven", "yes", "no"], "layers": plane_layers(4), "output": "logits", "shifts": [-0.1, 0, 0.1]}
    line = {"name": "line", "windowSamples": 24000, "frontEnd": channels | {"axis": "channels"}, "share": 0.65}
    line |= {"labels": ["no", "yes", "other"], "layers": line_layers(3), "output": "logits"}
    networks = [(about, plane_weights(generator, about["layers"])) for about in (plane, line)]
    confirm_export.write_confirm(folder, networks, {"share": 0.25, "clipShare": 0.5, "proposals": {"command": 0.15}})


def write_tutorial(folder, samples):
    folder.mkdir(parents=True, exist_ok=True)
    layers = tutorial.layers()
    model = describe("tutorial", {"kind": "waveform", "scale": 1.0}, layers, "dense2", 12, streaming=False)
    weights = {name: hashed_weights(i, shape) for i, (name, shape) in enumerate(weight_shapes(layers))}
    _, logits = reference.features_and_logits(model, weights, samples)
    files.write_json(folder / "model.json", model)
    reference.save_tensors(folder / "reference.safetensors", {"logits": logits.astype(np.float32)})


def main(arguments=None):
    parser = command_line.parser(__doc__, data=False)
    parser.add_argument("folder", type=Path, help="folder to write to")
    folder = parser.parse_args(arguments).folder
    generator = seeded("fixtures")
    waves, gains = reference.make_inputs(generator, 11)
    samples = torch.from_numpy(reference.as_samples(waves, gains))
    write_streaming(folder / "streaming", generator, waves, gains, samples)
    write_tutorial(folder / "tutorial", samples)
    write_confirming(folder / "confirming", folder / "streaming", seeded("confirming fixture"))


if __name__ == "__main__":
    main()
