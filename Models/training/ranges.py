"""Measures how large the inputs of a model's layers become, and writes that into model.json, for inference in whole numbers.

    python ranges.py --data DIR --runs RUNS [--tensors NAME…] [--beyond SHARE] MODEL…

What is heard for it: recordings of the training partition at random volumes, and noise at full scale, fixed by their seed.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np
import safetensors.numpy
import torch

import recordings
import reference
from examples import WINDOW

COUNT = 512


def waves(table):
    """Windows [COUNT, 16000] in double precision: each kind of recording as often as every other."""
    generator = np.random.default_rng(30)
    training = table["part"] == "training"
    kinds = [np.flatnonzero(training & (table["kind"] == kind)) for kind in sorted(set(table["kind"][training]))]
    out = np.zeros((COUNT, WINDOW))
    for number, wave in enumerate(out[:-2]):
        row = generator.choice(kinds[number % len(kinds)])
        begin = generator.integers(0, max(1, table["length"][row] - WINDOW))
        piece = table["audio"][table["start"][row] + begin :][: min(WINDOW, table["length"][row] - begin)]
        wave[: len(piece)] = piece / 32768 * 10 ** generator.uniform(-2, 0)
    out[-2] = generator.uniform(-1, 1, WINDOW)
    return torch.from_numpy(out)


def ranges(description, weights, heard, tensors, beyond):
    """Of each tensor that a convolution or dense layer reads the absolute value that this share of its numbers lies beyond, in
    the loudest part of what is heard; all tensors, or those that are named."""
    largest = {}
    for part in heard.split(64):
        made = reference.outcomes(description, weights, part)
        for layer in description["layers"]:
            name = layer["input"] if layer["op"] in ("conv1d", "dense") else None
            if name and (not tensors or name in tensors):
                value = float(np.quantile(made[name].abs().numpy(), 1 - beyond))
                largest[name] = max(largest.get(name, 0.0), value)
    return {name: float(f"{value:.4g}") for name, value in largest.items() if value > 0}


def write(folder, table, tensors=(), beyond=0.0):
    """Writes the ranges into a model folder's model.json."""
    path = folder / "model.json"
    description = json.loads(path.read_text())
    weights = safetensors.numpy.load_file(folder / "model.safetensors")
    description["ranges"] = ranges(description, weights, waves(table), tensors, beyond)
    part = path.with_suffix(".part")
    part.write_text(json.dumps(description, indent=1) + "\n")
    os.replace(part, path)
    print(f"{folder}: " + "  ".join(f"{name} {value}" for name, value in description["ranges"].items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder of recordings, as for train.py")
    parser.add_argument("--runs", required=True, help="folder of the recordings' cache")
    parser.add_argument(
        "--tensors", nargs="+", default=[], help="those alone; what they are read by runs in whole numbers"
    )
    parser.add_argument("--beyond", type=float, default=0.0, help="share of a tensor's numbers that is cut")
    parser.add_argument("models", nargs="+", help="the model folders to measure")
    options = parser.parse_args()
    torch.set_num_threads(1)
    table = recordings.load_all([options.data], options.runs)
    for model in options.models:
        write(Path(model), table, options.tensors, options.beyond)


if __name__ == "__main__":
    main()
