"""Measures the input ranges of a model's layers and writes them into model.json, for int8 inference.

    python -m Training.export.ranges --data DIR --cache DIR [--tensors NAME…] [--clipped SHARE] MODEL…

Measured on recordings of the training partition at random volumes and on full-scale noise, fixed by their seed.
"""

import json
from pathlib import Path

import numpy as np
import torch

from Training.data import command_line, files, recordings
from Training.data.audio import WINDOW
from Training.data.seeding import generator as seeded
from Training.export import model_weights, reference
from Training.model import checkpoint

COUNT = 512
# Waveforms in one step, which bounds the memory.
CHUNK = 64
# The share of a tensor's numbers that an export clips: without its rare peaks all others are rounded less.
CLIPPED = 1e-5


def calibration_waves(table):
    """Windows [512, 16000], a float64 tensor: each kind of recording equally often, one of noise, one of silence."""
    generator = seeded("int8 ranges")
    training = table["part"] == "training"
    kinds = [np.flatnonzero(training & (table["kind"] == kind)) for kind in sorted(set(table["kind"][training]))]
    out = np.zeros((COUNT, WINDOW))
    for number, wave in enumerate(out[:-2]):
        row = generator.choice(kinds[number % len(kinds)])
        begin = generator.integers(0, max(1, table["length"][row] - WINDOW))
        piece = recordings.samples(table, row, begin, begin + WINDOW).astype(np.float64)
        wave[: len(piece)] = piece * 10 ** generator.uniform(-2, 0)
    out[-2] = generator.uniform(-1, 1, WINDOW)
    return torch.from_numpy(out)


def measure(description, weights, waves, tensors, clipped):
    """Of each tensor that a convolution or dense layer reads: the absolute value that a share `clipped` of it exceeds.

    The largest over chunks of the waveforms. `tensors` limits the result to these names, unless it is empty.
    """
    largest = {}
    for part in waves.split(CHUNK):
        outputs = reference.layer_outputs(description, weights, part)
        for layer in description["layers"]:
            name = layer["input"] if layer["op"] in ("conv1d", "dense") else None
            if name and (not tensors or name in tensors):
                value = float(np.quantile(outputs[name].abs().numpy(), 1 - clipped))
                largest[name] = max(largest.get(name, 0.0), value)
    return {name: float(f"{value:.4g}") for name, value in largest.items() if value > 0}


def unchanged(description, weights, earlier):
    """The names of the tensors that the weights `earlier` give too: "input", and those of layers whose weights and inputs are the same."""
    same = {"input"}
    for layer in description["layers"]:
        inputs = layer.get("inputs") or [layer["input"]]
        own = [name for name in weights if name.rpartition(".")[0] == layer["name"]]
        if same.issuperset(inputs) and all(name in earlier and checkpoint.same(weights[name], earlier[name]) for name in own):
            same.add(layer["name"])
    return same


def write(folder, table, tensors=(), clipped=CLIPPED, earlier=None):
    """Writes the ranges into a model folder's model.json.

    Tensors that the model folder `earlier` computes likewise keep its ranges: a new one would move the gate's decisions without need.
    """
    path = folder / "model.json"
    description = json.loads(path.read_text())
    weights = model_weights.load(folder)
    description["ranges"] = measure(description, weights, calibration_waves(table), tensors, clipped)
    if earlier:
        same = unchanged(description, weights, model_weights.load(earlier))
        kept = json.loads((earlier / "model.json").read_text()).get("ranges", {})
        description["ranges"] |= {name: kept[name] for name in description["ranges"] if name in same and name in kept}
    files.write_json(path, description)
    print(f"{folder}: " + "  ".join(f"{name} {value}" for name, value in description["ranges"].items()))


def add(folder, table):
    """Writes the ranges of tensors that have none; the others stay."""
    path = folder / "model.json"
    description = json.loads(path.read_text())
    weights = model_weights.load(folder)
    tensors = {layer["input"] for layer in description["layers"] if layer["op"] in ("conv1d", "dense")} - set(description["ranges"])
    description["ranges"] |= measure(description, weights, calibration_waves(table), tensors, 0.0)
    files.write_json(path, description)


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument(
        "--tensors", nargs="+", default=[], help="only these; the layers that read others stay in floats"
    )
    parser.add_argument("--clipped", type=float, default=CLIPPED, help="share of a tensor's numbers that is clipped")
    parser.add_argument("models", nargs="+", help="the model folders")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    table = recordings.load_all(options.data, options.cache)
    for model in options.models:
        write(Path(model), table, options.tensors, options.clipped)


if __name__ == "__main__":
    main()
