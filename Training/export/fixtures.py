"""Writes the fixtures of Tests/InferenceTests: small networks, inputs, and PyTorch's answers.

    OMP_NUM_THREADS=1 python -m Training.export.fixtures Tests/InferenceTests/Fixtures

`streaming` is a log-mel network with every kind of layer and an activity layer; its weights are random and stored as F16.
`tutorial` is a network on the raw waveform whose 4.8 million weights are not stored: `hashed_weights` computes them from
integers, here and in the Swift test. Everything is computed in double precision.
"""

from pathlib import Path

import numpy as np
import torch

from Training.data import command_line, files, log_mel
from Training.data.seeding import generator as seeded
from Training.export import model_weights, reference, tutorial
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
    model_weights.save(folder, weights)
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


if __name__ == "__main__":
    main()
