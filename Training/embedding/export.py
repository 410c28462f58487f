"""Puts the embedding's layers into a model folder, and beside them the negative set that enrolled words are compared with.

    python -m Training.embedding.export --data DIR --cache DIR --checkpoint FILE MODEL

The negative set, background.safetensors, holds embeddings of an hour of talk, hop by hop; of all hops of talk at which a
detector may decide on a single utterance; and of some clips of each of the model's words.
"""

import json
from pathlib import Path

import numpy as np
import safetensors.numpy
import torch

from Training.augment import waveform
from Training.data import command_line, files, recordings
from Training.data.audio import HOP, WINDOW
from Training.data.seeding import generator as seeded
from Training.embedding.network import NAME, WordEmbedding, is_of_embedding, unit
from Training.export import ranges, reference

# Outputs of the activity layer per hop, and those before the first window's end. A step is 25 ms.
STEPS, LEAD, STEP_SECONDS = 4, 24, 0.025
# Steps of silence after an utterance at which it may be decided, and before it; its longest duration in seconds.
SILENCE_AFTER, SILENCE_BEFORE, LONGEST = (3, 20), 16, 1.6
# Steps of silence that an utterance bridges.
GAP = 6
HOPS_PER_HOUR = 36000
TALK_HOURS = 1.0
# Clips of each of the model's words.
CLIPS = 24
# RMS of the noise that is added to digital silence.
QUIET = 3e-4


def embed(description, weights, wave):
    """Unit vectors [hops, d] of a waveform whose first second is the first window, and the activity's logits [steps]."""
    samples = torch.from_numpy(np.asarray(wave[: len(wave) // HOP * HOP], np.float64)[None])
    outputs = reference.layer_outputs(description, weights, samples)
    return unit(outputs[NAME][0].T.numpy()), outputs["activity"][0, 0].numpy()


def decision_hops(activity, hops):
    """Hops at which a detector may decide on a single utterance, [hops] bool.

    That is speech of at most 1.6 s after 0.4 s of silence, and 75 to 500 ms of silence after it.
    """
    speech = activity >= 0
    chosen = np.zeros(hops, bool)
    shortest, longest = SILENCE_AFTER
    for hop in range(hops):
        end = LEAD + STEPS * hop
        silence = 0
        while silence <= longest and end - silence >= 0 and not speech[end - silence]:
            silence += 1
        if not shortest <= silence <= longest:
            continue
        first = step = end - silence
        gap = 0
        while step >= 0 and gap <= GAP:
            gap = 0 if speech[step] else gap + 1
            first = step if speech[step] else first
            step -= 1
        is_short = (end - silence - first + 1) * STEP_SECONDS <= LONGEST
        chosen[hop] = is_short and not speech[max(0, first - SILENCE_BEFORE) : first].any()
    return chosen


def talk(table, generator):
    """Yields utterances of the training partition in random order, each with near-silence around it."""
    rows = np.flatnonzero((table["part"] == "training") & (table["kind"] == "speech"))
    for row in generator.permutation(rows):
        wave = recordings.samples(table, row)
        wave = np.concatenate([np.zeros(WINDOW, np.float32), wave, np.zeros(7 * HOP, np.float32)])
        yield wave + generator.normal(0, QUIET, len(wave)).astype(np.float32)


def word_window(table, row, generator):
    """A window [16000] in which a clip's word ends 50 to 200 ms before the end."""
    window = np.zeros(WINDOW, np.float32)
    last = float(table["to"][row])
    offset = last - WINDOW + generator.uniform(800, 3200)
    waveform.place(table["audio"], window, table["start"][row], table["length"][row], offset, 1.0, 0.0, last + 3200)
    return window + generator.normal(0, QUIET, WINDOW).astype(np.float32)


def negative_set(description, weights, table):
    """The tensors of background.safetensors (Models/FORMAT.md): unit vectors in 8 bits around 128."""
    generator = seeded("negative set")
    hops, ends, count = [], [], 0
    for wave in talk(table, generator):
        vectors, activity = embed(description, weights, wave)
        ends.append(vectors[decision_hops(activity, len(vectors))])
        count += len(vectors)
        # Without the hops of the near-silence at both ends.
        if sum(map(len, hops)) < TALK_HOURS * HOPS_PER_HOUR:
            hops.append(vectors[3:-3])
    made = {"talk": np.concatenate(hops), "ends": np.concatenate(ends)}
    for label in description["labels"][:-2]:
        rows = np.flatnonzero((table["part"] == "training") & (table["kind"] == "clip") & (table["label"] == label))
        windows = [word_window(table, row, generator) for row in generator.permutation(rows)[:CLIPS]]
        made[f"word.{label}"] = np.concatenate([embed(description, weights, wave)[0] for wave in windows])
    scale = 127 / max(np.abs(vectors).max() for vectors in made.values() if len(vectors))
    stored = {name: np.round(128 + vectors * scale).astype(np.uint8) for name, vectors in made.items()}
    return stored | {"ends.hours": np.array([count / HOPS_PER_HOUR], np.float32)}


def replace_layers(folder, checkpoint):
    """Writes the checkpoint's layers into the model folder, in place of an earlier embedding's; returns the new weights."""
    description = json.loads((folder / "model.json").read_text())
    weights = safetensors.numpy.load_file(folder / "model.safetensors")
    description["layers"] = [layer for layer in description["layers"] if not is_of_embedding(layer["name"])]
    weights = {name: value for name, value in weights.items() if not is_of_embedding(name)}
    state = torch.load(checkpoint, weights_only=True)
    layers, added = WordEmbedding.from_checkpoint(state, weights).described()
    description["layers"] += layers
    description["embedding"] = NAME
    weights |= {name: value.astype(np.float16) for name, value in added.items()}
    reference.save_tensors(folder / "model.safetensors", weights)
    files.write_json(folder / "model.json", description)
    return weights


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--checkpoint", required=True, help="file that embedding/train.py wrote")
    parser.add_argument("model", type=Path, help="the model folder to change")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    table = recordings.load_all(options.data, options.cache)
    weights = replace_layers(options.model, options.checkpoint)
    ranges.write(options.model, table)
    description = json.loads((options.model / "model.json").read_text())
    made = negative_set(description, weights, table)
    reference.save_tensors(options.model / "background.safetensors", made)
    print("  ".join(f"{name} {value.shape}" for name, value in made.items()))


if __name__ == "__main__":
    main()
