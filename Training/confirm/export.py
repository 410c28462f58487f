"""Writes confirming networks as plain layers and arrays, with answers that an engine can be compared with.

    python -m Training.confirm.export --out DIR [--half] NAME=FILE…
    python -m Training.confirm.export --keep DIR [--half] NAME=FILE…

FILE is a file of weights.py. Of every network are written `NAME.json` (front end, layers as layers.py describes them, labels, samples of its
window) and `NAME.safetensors` (its arrays); for all of them `reference.safetensors`: `input` and `gain` (waveforms of gliding tones in noise as
bytes, the window (u8 − 128) / 128 · gain; of shorter windows the middle), and for each network `NAME.features` of the first window, `NAME.<layer>`
the means of every layer's channels for it, and `NAME.logits` of all, computed in double precision from
the arrays as written. With --keep the weights are kept as they are trained, in one file each. No shipped program reads any of these files yet.
"""

import argparse
import pathlib

import numpy as np
import torch

from Training.confirm import layers, weights
from Training.data.audio import RATE
from Training.data.files import write_json
from Training.data.seeding import generator as seeded
from Training.export.reference import as_samples, make_inputs, save_tensors

# Windows of reference, and their samples: the longest window of all networks may not be longer.
WINDOWS, SAMPLES = 3, 2 * RATE


def middle(waves, samples):
    """The middle [n, samples] of waveforms."""
    outside = (waves.shape[1] - samples) // 2
    return waves[:, outside : outside + samples]


@torch.no_grad()
def references(name, network, described, arrays, samples, waves):
    """What an engine shall answer for the middle of waveforms [n, samples], by name of the tensor."""
    features = layers.features_of(network.double(), torch.from_numpy(middle(waves, samples)))
    outputs = layers.computed(described, arrays, features.numpy())
    found = {f"{name}.features": features[0].numpy(), f"{name}.logits": outputs["logits"].flatten(1).numpy()}
    found |= {f"{name}.{layer['name']}.mean": outputs[layer["name"]][0].mean(dim=(1, 2)).numpy() for layer in described}
    return {key: value.astype(np.float32) for key, value in found.items()}


def description(network, samples):
    """What `NAME.json` says, and the arrays."""
    front, described, arrays = layers.describe(network)
    return {"windowSamples": samples, "frontEnd": front, "labels": network.labels, "layers": described, "output": "logits"}, arrays


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", metavar="NAME=FILE")
    parser.add_argument("--out", help="the folder for plain layers and answers")
    parser.add_argument("--keep", help="the folder for the weights as they are trained")
    parser.add_argument("--half", action="store_true", help="weights and arrays in half precision")
    options = parser.parse_args(arguments)
    folders = [pathlib.Path(folder) for folder in (options.out, options.keep) if folder]
    if not folders:
        parser.error("give --out or --keep")
    for folder in folders:
        folder.mkdir(parents=True, exist_ok=True)
    stored_bytes, gains = make_inputs(seeded("confirming reference"), WINDOWS, SAMPLES)
    kind = np.float16 if options.half else np.float32
    tensors = {"input": stored_bytes, "gain": gains}
    for entry in options.networks:
        name, _, path = entry.partition("=")
        stored = weights.read(path)
        if options.keep:
            weights.write(f"{options.keep}/{name}.safetensors", stored, kind)
        if options.out:
            network, samples = stored.network(), int(stored.seconds * RATE)
            about, arrays = description(network, samples)
            arrays = {key: value.astype(kind) for key, value in arrays.items()}
            write_json(f"{options.out}/{name}.json", about)
            save_tensors(folders[0] / f"{name}.safetensors", arrays)
            tensors |= references(name, network, about["layers"], arrays, samples, as_samples(stored_bytes, gains))
            print(f"{name}: {len(about['layers'])} layers, {sum(value.size for value in arrays.values())} numbers")
    if options.out:
        save_tensors(folders[0] / "reference.safetensors", tensors)


if __name__ == "__main__":
    main()
