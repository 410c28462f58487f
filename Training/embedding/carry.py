"""Gives a model folder the embedding of another, with the layers that it reads.

    python -m Training.embedding.carry --source MODEL MODEL

The embedding then has a stem and a first block of its own, so that a new network does not have to wait for a new embedding. The
negative set is copied; words that users have enrolled are embedded anew from their takes, because layers have other names.
"""

import argparse
import json
import shutil
from pathlib import Path

import numpy as np

from Training.data import files
from Training.embedding.network import is_of_embedding, names
from Training.export import model_weights


def inputs_of(layer):
    return layer["inputs"] if "inputs" in layer else [layer["input"]]


def ancestors(layers, output):
    """The names of the layers that `output` depends on, itself among them."""
    by_name, needed, pending = {layer["name"]: layer for layer in layers}, set(), [output]
    while pending:
        name = pending.pop()
        if name in by_name and name not in needed:
            needed.add(name)
            pending += inputs_of(by_name[name])
    return needed


def renamed(name, part):
    """The name that a layer has, as one of a part of the embedding, in the model that receives it."""
    return name if name == "input" or is_of_embedding(name) else f"{part}.{name}"


def carry(source, target):
    """Replaces the embedding of the folder `target` by that of the folder `source`."""
    described = [json.loads((folder / "model.json").read_text()) for folder in (source, target)]
    weights = [model_weights.load(folder) for folder in (source, target)]
    layers = [layer for layer in described[1]["layers"] if not is_of_embedding(layer["name"])]
    ranges = {name: value for name, value in described[1].get("ranges", {}).items() if not is_of_embedding(name)}
    kept = {name: value for name, value in weights[1].items() if not is_of_embedding(name)}
    for part in names(described[0]):
        needed = ancestors(described[0]["layers"], part)
        for layer in described[0]["layers"]:
            is_new = all(other["name"] != renamed(layer["name"], part) for other in layers)
            if layer["name"] in needed and is_new:
                key = "inputs" if "inputs" in layer else "input"
                sources = [renamed(name, part) for name in inputs_of(layer)]
                layers.append(layer | {"name": renamed(layer["name"], part), key: sources if key == "inputs" else sources[0]})
        for name, value in described[0].get("ranges", {}).items():
            if name in needed or name == "input":
                ranges.setdefault(renamed(name, part), value)
        for name, value in weights[0].items():
            layer, tensor = name.rsplit(".", 1)
            if layer in needed:
                kept[f"{renamed(layer, part)}.{tensor}"] = np.ascontiguousarray(value)
    files.write_json(target / "model.json", described[1] | {"layers": layers, "embedding": described[0]["embedding"], "ranges": ranges})
    model_weights.save(target, kept)
    shutil.copy(source / "background.safetensors", target / "background.safetensors")
    if (source / "neighbours.safetensors").exists():
        shutil.copy(source / "neighbours.safetensors", target / "neighbours.safetensors")


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--source", required=True, type=Path, help="the model folder that has an embedding")
    parser.add_argument("model", type=Path, help="the model folder to change")
    options = parser.parse_args(arguments)
    carry(options.source, options.model)


if __name__ == "__main__":
    main()
