"""Writes confirming networks into a model folder, with answers that the engine is compared with, or keeps their weights.

    python -m Training.confirm.export --data DIR --cache DIR --model DIR --share A [--clip-share A] [--proposals COMMAND SPOT] [--duration HOPS NATS]
        [--refuse-below P] [--clip-contrast FROM TO [--noisy-clip-share A]]
        NAME=FILE,SHARE,CLIPSHARE,SHIFTS,NOISYCLIPSHARE…
    python -m Training.confirm.export --keep DIR [--published FILE] NAME=FILE[,PART]…

FILE is a file of weights.py; SHIFTS are seconds, joined by colons. A is the weight of the streaming network's log-posteriors, SHARE that of the
network's, in streams and in clips; clips of a contrast of at most FROM decibels have the noisy shares. Written are `confirm` of `model.json`, `confirm.safetensors` in half precision, quaternions as such, and
`confirm-reference.safetensors`: `waveforms` and `gains` of gliding tones in noise, of which shorter windows are the middle, and for each network
`NAME.features` of the first and `NAME.logits` of all, computed in double precision from the weights as written. With --keep the weights are kept
as they are trained, in half precision; with PART so much of them, and the rest of the published network they began with. Of what convolutions read, the largest magnitudes in examples of the training partition are the `ranges`
of int8; without --data there are none.
"""

import argparse
import json
import pathlib

import numpy as np

import torch

from Training.confirm import layers, weights
from Training.confirm.examples import Examples
from Training.data import recordings
from Training.data.audio import RATE
from Training.data.files import write_json
from Training.data.seeding import generator as seeded
from Training.export.reference import as_samples, make_inputs, save_tensors

# Windows of reference, and their samples: the longest window of all networks may not be longer.
WINDOWS, SAMPLES = 3, 2 * RATE
# Batches of examples that give the ranges of int8.
BATCHES = 3


def middle(waves, samples):
    """The middle [n, samples] of waveforms."""
    outside = (waves.shape[1] - samples) // 2
    return waves[:, outside : outside + samples]


def answers(name, about, arrays, waves):
    """What the engine shall answer for the middle of waveforms [n, samples], by name of the tensor."""
    features = layers.features(about["frontEnd"], middle(waves, about["windowSamples"]))
    logits = layers.computed(about["layers"], arrays, features.numpy())[about["output"]].flatten(1)
    found = {f"{name}.features": features[0].permute(1, 2, 0).numpy(), f"{name}.logits": logits.numpy()}
    return {key: value.astype(np.float32) for key, value in found.items()}


def described(name, stored):
    """What `confirm.networks` says of a network, its arrays in half precision, and those to store."""
    front, plain, arrays = layers.describe(stored.network())
    about = {"name": name, "windowSamples": int(stored.seconds * RATE), "frontEnd": front, "labels": stored.network().labels}
    about |= {"layers": plain, "output": "logits"}
    return about, {key: value.astype(np.float16) for key, value in arrays.items()}, arrays.stored()


def ranges(about, arrays, waves):
    """The largest magnitude in waveforms [n, samples] of each tensor that a convolution reads, by name."""
    features = layers.features(about["frontEnd"], waves)
    outputs = layers.computed(about["layers"], arrays, features.numpy())
    read = {layer["input"] for layer in about["layers"] if layer["op"] == "conv2d" and layer["in"] % 4 == 0 and layer["groups"] == 1}
    return {name: float(np.float32(outputs[name].abs().max())) for name in sorted(read)}


def write_confirm(folder, networks, rest):
    """Adds networks, (description, arrays, arrays to store) each, to the model in a folder; `rest` are the other keys of `confirm`."""
    path = pathlib.Path(folder)
    model = json.loads((path / "model.json").read_text())
    stored_bytes, gains = make_inputs(seeded("confirming reference"), WINDOWS, SAMPLES)
    tensors, expected = {}, {"waveforms": stored_bytes, "gains": gains}
    for about, arrays, stored in networks:
        tensors |= {f"{about['name']}.{key}": value for key, value in stored.items()}
        expected |= answers(about["name"], about, arrays, as_samples(stored_bytes, gains))
    write_json(path / "model.json", model | {"version": 2, "confirm": rest | {"networks": [about for about, *_ in networks]}})
    save_tensors(path / "confirm.safetensors", tensors)
    save_tensors(path / "confirm-reference.safetensors", expected)


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="+", metavar="NAME=FILE,…")
    parser.add_argument("--model", help="the model folder to add the networks to")
    parser.add_argument("--share", type=float, default=0)
    parser.add_argument("--clip-share", type=float)
    parser.add_argument("--clip-contrast", type=float, nargs=2, metavar=("FROM", "TO"), help="dB between which the shares of clips move")
    parser.add_argument("--noisy-clip-share", type=float)
    parser.add_argument("--proposals", type=float, nargs=2, metavar=("COMMAND", "SPOT"))
    parser.add_argument("--duration", type=float, nargs=2, metavar=("HOPS", "NATS"), help="the penalty of words that last for fewer hops")
    parser.add_argument("--refuse-below", type=float, help="posterior of a word below which the networks after the first do not look")
    parser.add_argument("--keep", help="the folder for the weights as they are trained")
    parser.add_argument("--published", help="with --keep: the published network that the others were trained from")
    parser.add_argument("--data", action="append", help="recordings, for the ranges of int8")
    parser.add_argument("--cache")
    options = parser.parse_args(arguments)
    if not options.model and not options.keep:
        parser.error("give --model or --keep")
    table = recordings.load_all(options.data, options.cache) if options.data else None
    networks = []
    for entry in options.networks:
        name, _, rest = entry.partition("=")
        path, *numbers = rest.split(",")
        stored = weights.read(path)
        if options.keep:
            pathlib.Path(options.keep).mkdir(parents=True, exist_ok=True)
            if numbers and options.published:
                stored.weights = weights.mixed(stored.weights, weights.read(options.published).weights, float(numbers[0]))
            weights.write(f"{options.keep}/{name}.safetensors", stored, np.float16)
        about, arrays, to_store = described(name, stored)
        about["share"] = float(numbers[0]) if numbers else 1.0
        if len(numbers) > 1:
            about["clipShare"] = float(numbers[1])
        if len(numbers) > 2:
            about["shifts"] = [float(shift) for shift in numbers[2].split(":")]
        if len(numbers) > 3:
            about["noisyClipShare"] = float(numbers[3])
        if table is not None:
            examples = [Examples(table, about["windowSamples"], seed=1).batch(number).waves for number in range(BATCHES)]
            with torch.no_grad():
                about["ranges"] = ranges(about, arrays, np.concatenate(examples))
        networks.append((about, arrays, to_store))
        print(f"{name}: {len(about['layers'])} layers, {sum(value.size for value in arrays.values())} numbers")
    if options.model:
        rest = {"share": options.share}
        if options.clip_share is not None:
            rest["clipShare"] = options.clip_share
        if options.clip_contrast:
            rest["clipContrast"] = dict(zip(("from", "to"), options.clip_contrast))
        if options.noisy_clip_share is not None:
            rest["noisyClipShare"] = options.noisy_clip_share
        if options.proposals:
            rest["proposals"] = dict(zip(("command", "spot"), options.proposals))
        if options.duration:
            rest["duration"] = {"hops": int(options.duration[0]), "penalty": options.duration[1]}
        if options.refuse_below is not None:
            rest["refuseBelow"] = options.refuse_below
        write_confirm(options.model, networks, rest)


if __name__ == "__main__":
    main()
