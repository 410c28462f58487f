"""Writes the fixtures of Tests/InferenceTests: small networks, inputs, and what PyTorch answers.

    OMP_NUM_THREADS=1 python make_fixtures.py ../../Tests/InferenceTests/Fixtures

`streaming` holds a log-mel network with every kind of layer and an activity layer; its weights are drawn at random and
stored as F16.
`tutorial` is a network on the raw waveform whose 4.8 million weights are not stored: `scattered` makes them from
integers, here and in the Swift test alike. Everything is computed in double precision.
"""

import json
import sys
from pathlib import Path

import numpy as np
import torch

from reference import make_waves, outcomes, run, save_tensors

FRONT_END = {
    "kind": "log-mel",
    "frameSamples": 400,
    "hopSamples": 200,
    "fftSize": 512,
    "bands": 40,
    "lowHertz": 20,
    "highHertz": 7600,
    "floor": 1e-6,
    "mean": -4.2,
    "deviation": 4.1,
}


def describe(name, front_end, layers, output, embedding, logits, streaming):
    """A model description with three words; the logits take turns over the five labels."""
    labels = ["yes", "no", "go", "_unknown_", "_silence_"]
    return {
        "format": "beckon-model",
        "version": 1,
        "name": name,
        "labels": labels,
        "sampleRate": 16000,
        "windowSamples": 16000,
        "hopSamples": 1600,
        "streaming": streaming,
        "frontEnd": front_end,
        "layers": layers,
        "output": output,
        "embedding": embedding,
        "outputLabels": [labels[i % 5] for i in range(logits)],
        "temperature": 1.25,
        "thresholds": {"no": 0.85},
    }


def conv(name, source, channels, kernel=1, relu=False, **rest):
    layer = {"op": "conv1d", "name": name, "input": source, "in": channels[0], "out": channels[1], "kernel": kernel}
    return layer | rest | ({"activation": "relu"} if relu else {})


def dense(name, source, channels, relu=False):
    layer = {"op": "dense", "name": name, "input": source, "in": channels[0], "out": channels[1]}
    return layer | ({"activation": "relu"} if relu else {})


def weight_shapes(layers):
    """Name and shape of every weight and bias."""
    for layer in layers:
        if layer["op"] == "conv1d":
            yield layer["name"] + ".weight", (layer["out"], layer["kernel"], layer["in"] // layer.get("groups", 1))
        elif layer["op"] == "dense":
            yield layer["name"] + ".weight", (layer["out"], layer["in"])
        else:
            continue
        yield layer["name"] + ".bias", (layer["out"],)


def scattered(index, shape):
    """Weights of tensor number `index` from a hash of their position: whole multiples of a power of two.

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


def drawn(rng, shape):
    """Random weights, rounded to half precision."""
    size = 0.1 if len(shape) == 1 else np.sqrt(2 / np.prod(shape[1:]))
    return (rng.standard_normal(shape) * size).astype(np.float16)


def streaming_layers():
    """Every kind of layer: strides, groups, one filter per channel, dilation, a crop, a sum, a mean, dense layers."""
    return [
        conv("stem", "input", (40, 24), 5, relu=True),
        conv("depth", "stem", (24, 24), 3, dilation=2, groups=24),
        conv("point", "depth", (24, 32), relu=True, groups=2),
        {"op": "crop", "name": "cut", "input": "stem", "start": 2, "end": 2},
        conv("skip", "cut", (24, 32)),
        {"op": "add", "name": "sum", "inputs": ["point", "skip"], "activation": "relu"},
        conv("down1", "sum", (32, 40), 7, relu=True, stride=2, groups=4),
        conv("wide", "down1", (40, 40), 3, relu=True, dilation=3),
        conv("down2", "wide", (40, 36), 3, relu=True, stride=2),
        conv("down3", "down2", (36, 45), 3, relu=True, stride=2),
        {"op": "mean", "name": "pool", "input": "down3", "columns": 6},
        dense("hidden", "pool", (45, 21), relu=True),
        dense("logits", "hidden", (21, 7)),
        conv("voice.hidden", "down1", (40, 8), relu=True),
        conv("voice", "voice.hidden", (8, 1)),
    ]


def tutorial_layers():
    """Six convolutions that halve the waveform, then three dense layers."""
    channels = [1, 2, 4, 8, 16, 32, 64]
    layers = [
        conv(f"conv{i + 1}", f"conv{i}" if i else "input", (channels[i], channels[i + 1]), 4, relu=True, stride=2)
        for i in range(6)
    ]
    return layers + [
        {"op": "flatten", "name": "flat", "input": "conv6"},
        dense("dense1", "flat", (15872, 300), relu=True),
        dense("dense2", "dense1", (300, 150), relu=True),
        dense("logits", "dense2", (150, 12)),
    ]


def main(folder):
    rng = np.random.default_rng(7)
    waves, gains = make_waves(rng, 11)
    samples = torch.from_numpy((waves.astype(np.float64) - 128) / 128 * gains.astype(np.float64)[:, None])

    home = folder / "streaming"
    home.mkdir(parents=True, exist_ok=True)
    layers = streaming_layers()
    model = describe("streaming", FRONT_END, layers, "logits", "pool", 7, streaming=True)
    model["activity"] = "voice"
    weights = {name: drawn(rng, shape) for name, shape in weight_shapes(layers)}
    # Random weights may say "speech" of everything; half of what they say is to be none.
    weights["voice.bias"] -= outcomes(model, weights, samples)["voice"].median().numpy().astype(np.float16)
    features, logits = run(model, weights, samples)
    (home / "model.json").write_text(json.dumps(model, indent=1) + "\n")
    save_tensors(home / "model.safetensors", weights)
    save_tensors(
        home / "reference.safetensors",
        {
            "waveforms": waves,
            "gains": gains,
            "logits": logits.astype(np.float32),
            "features": features[:3].astype(np.float32),
            "activity": outcomes(model, weights, samples)["voice"][:, 0].numpy().astype(np.float32),
        },
    )

    home = folder / "tutorial"
    home.mkdir(parents=True, exist_ok=True)
    layers = tutorial_layers()
    model = describe("tutorial", {"kind": "waveform", "scale": 1.0}, layers, "logits", "dense2", 12, streaming=False)
    weights = {name: scattered(i, shape) for i, (name, shape) in enumerate(weight_shapes(layers))}
    _, logits = run(model, weights, samples)
    (home / "model.json").write_text(json.dumps(model, indent=1) + "\n")
    save_tensors(home / "reference.safetensors", {"logits": logits.astype(np.float32)})


if __name__ == "__main__":
    main(Path(sys.argv[1]))
