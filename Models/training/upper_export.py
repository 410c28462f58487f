"""Puts the layers that upper_train.py made into a model folder, and beside them what a user's words are compared with.

    python upper_export.py --data DIR --runs RUNS --checkpoint FILE MODEL

The background: the embeddings of an hour of talk, hop by hop; those at the ends of utterances that were said alone, of all
talk that there is; and of some clips of each of the model's words.
"""

import argparse
import json
import os
from pathlib import Path

import numpy as np
import safetensors.numpy
import torch

import mixing
import ranges
import recordings
import reference
from upper import NAME, Upper, unit

HOP = 1600
WINDOW = 16000
# Steps of the activity layer: four a hop, and as many before the first window's end.
STEPS, LEAD = 4, 24
TALK_HOURS = 1.0
CLIPS = 24


def stream(description, weights, wave):
    """Unit vectors of each hop of a wave whose first second is its first window, and the activity's logits."""
    samples = torch.from_numpy(np.asarray(wave[: len(wave) // HOP * HOP], np.float64)[None])
    made = reference.outcomes(description, weights, samples)
    return unit(made[NAME][0].T.numpy()), made["activity"][0, 0].numpy()


def alone(activity, hops):
    """The hops at which a detector may decide a word said alone: speech of at most 1.6 s after 0.4 s of quiet, and quiet again
    for 75 to 500 ms."""
    speaks = activity >= 0
    chosen = np.zeros(hops, bool)
    for hop in range(hops):
        end = LEAD + STEPS * hop
        quiet = 0
        while quiet <= 20 and end - quiet >= 0 and not speaks[end - quiet]:
            quiet += 1
        if not 3 <= quiet <= 20:
            continue
        first = step = end - quiet
        gap = 0
        while step >= 0 and gap <= 6:
            gap = 0 if speaks[step] else gap + 1
            first = step if speaks[step] else first
            step -= 1
        chosen[hop] = (end - quiet - first + 1) * 0.025 <= 1.6 and not speaks[max(0, first - 16) : first].any()
    return chosen


def talk(table, generator):
    """Utterances of the training partition, in a drawn order, each with quiet around it."""
    rows = np.flatnonzero((table["part"] == "training") & (table["kind"] == "speech"))
    for row in generator.permutation(rows):
        wave = table["audio"][table["start"][row] :][: table["length"][row]].astype(np.float32) / 32768
        wave = np.concatenate([np.zeros(WINDOW, np.float32), wave, np.zeros(11200, np.float32)])
        yield wave + generator.normal(0, 3e-4, len(wave)).astype(np.float32)


def word(table, row, generator):
    """A window in which a clip's word ends 50 to 200 ms before the end."""
    window = np.zeros(WINDOW, np.float32)
    last = float(table["to"][row])
    offset = last - WINDOW + generator.uniform(800, 3200)
    mixing.place(table["audio"], window, table["start"][row], table["length"][row], offset, 1.0, 0.0, last + 3200)
    return window + generator.normal(0, 3e-4, WINDOW).astype(np.float32)


def background(description, weights, table):
    """What is written beside the model: unit vectors in 8 bits around 128."""
    generator = np.random.default_rng(6)
    hops, ends, count = [], [], 0
    for wave in talk(table, generator):
        vectors, activity = stream(description, weights, wave)
        chosen = alone(activity, len(vectors))
        ends.append(vectors[chosen])
        count += len(vectors)
        # The quiet that was put around it is no talk.
        if sum(map(len, hops)) < TALK_HOURS * 36000:
            hops.append(vectors[3:-3])
    made = {"talk": np.concatenate(hops), "ends": np.concatenate(ends)}
    for label in description["labels"][:-2]:
        rows = np.flatnonzero((table["part"] == "training") & (table["kind"] == "clip") & (table["label"] == label))
        windows = [word(table, row, generator) for row in generator.permutation(rows)[:CLIPS]]
        made[f"word.{label}"] = np.concatenate([stream(description, weights, wave)[0] for wave in windows])
    largest = max(np.abs(vectors).max() for vectors in made.values())
    scale = 127 / largest
    bytes_of = {name: np.round(128 + vectors * scale).astype(np.uint8) for name, vectors in made.items()}
    return bytes_of | {"ends.hours": np.array([count / 36000], np.float32)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder of recordings, as for train.py")
    parser.add_argument("--runs", required=True, help="folder of the recordings' cache")
    parser.add_argument("--checkpoint", required=True, help="what upper_train.py wrote")
    parser.add_argument("model", help="the model folder to put it into")
    options = parser.parse_args()
    torch.set_num_threads(1)
    folder = Path(options.model)
    table = recordings.load_all([options.data], options.runs)
    description = json.loads((folder / "model.json").read_text())
    weights = safetensors.numpy.load_file(folder / "model.safetensors")
    is_other = lambda name: not (name == NAME or name.startswith(NAME + "."))
    description["layers"] = [layer for layer in description["layers"] if is_other(layer["name"])]
    weights = {name: value for name, value in weights.items() if is_other(name)}
    state = torch.load(options.checkpoint, weights_only=True)
    layers, added = Upper.restored(state, weights).layers()
    description["layers"] += layers
    description["embedding"] = NAME
    weights |= {name: value.astype(np.float16) for name, value in added.items()}

    (folder / "model.json.part").write_text(json.dumps(description, indent=1) + "\n")
    reference.save_tensors(folder / "model.safetensors", weights)
    os.replace(folder / "model.json.part", folder / "model.json")
    ranges.write(folder, table)
    made = background(description, weights, table)
    reference.save_tensors(folder / "background.safetensors", made)
    print("  ".join(f"{name} {value.shape}" for name, value in made.items()))


if __name__ == "__main__":
    main()
