"""Puts the embedding's layers into a model folder, and beside them the negative set that enrolled words are compared with.

    python -m Training.embedding.export --data DIR --cache DIR --checkpoint FILE MODEL

The negative set, background.safetensors, holds embeddings of hours of talk, hop by hop; the places in it where a detector may decide
on a single utterance; and embeddings of some clips of each of the model's words.
"""

import json
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import safetensors.numpy
import soundfile
import torch

from Training.augment import waveform
from Training.data import command_line, files, recordings
from Training.data.audio import HOP, RATE, WINDOW
from Training.data.seeding import generator as seeded
from Training.data.vocabulary import TRAINING_VOICES
from Training.embedding.coding import coded
from Training.embedding.network import NAME, SECOND, WordEmbedding, joined, names, of_part, unit
from Training.export import model_weights, ranges, reference

# The seconds of silence from which on hops are left out of `talk`: the hops before an utterance are then all silence, too.
LONGEST_QUIET = 1.1
# Steps in which embeddings and speech frames of talk are coded, as a share of their standard deviation (Training/NOTES.md).
STEP, SPEECH_STEP = 0.8, 1.5
# Clips of each of the model's words.
CLIPS = 24
# Lowest and highest frequency of a telephone, in hertz.
TELEPHONE = 300, 3400
# Hops from the end of a word to the end of its beginning: TemplateAlignment.spacingOfWord of Sources/Engine/Spotting.
SPACING = 4
# Numbers of a frame of the speech embedding, samples of the first one, and from one to the next.
FRAME, FIRST_FRAME, FRAME_SAMPLES = 96, 296, 1280
# RMS of the noise that is added to digital silence.
QUIET = 3e-4


def embed(description, weights, wave):
    """Unit vectors [hops, d] of a waveform whose first second is the first window."""
    samples = torch.from_numpy(np.asarray(wave[: len(wave) // HOP * HOP], np.float64)[None])
    outputs = reference.layer_outputs(description, weights, samples)
    return unit(joined([outputs[name][0].T.numpy() for name in names(description)]))


def embedded_talk(program, model, waves):
    """By the program `negatives`, of all hops of the waveforms: whether a word said alone could fire there, the number of the
    waveform, the seconds since the last sound, and the embedding as a unit vector [d]; and of all waveforms one after the other, the
    frames of the speech embedding as unit vectors [frames, 96]."""
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/{number}.wav" for number in range(len(waves))]
        for path, wave in zip(paths, waves):
            soundfile.write(path, np.clip(wave, -1, 1), RATE, subtype="PCM_16")
        subprocess.run([program, model, f"{folder}/rows", f"{folder}/frames", *paths], check=True)
        rows = np.fromfile(f"{folder}/rows", np.float32)
        frames = np.fromfile(f"{folder}/frames", np.float32).reshape(-1, FRAME)
    description = json.loads((model / "model.json").read_text())
    dimensions = sum(layer["out"] for layer in description["layers"] if layer["name"] in names(description))
    rows = rows.reshape(-1, 3 + dimensions)
    return rows[:, 0] > 0, rows[:, 1].astype(int), rows[:, 2], unit(rows[:, 3:]), unit(frames)


def talk(table, generator):
    """People's utterances of the training partition in random order, with a little noise; every third as by telephone."""
    is_talk = (table["part"] == "training") & (table["kind"] == "speech")
    rows = generator.permutation(np.flatnonzero(is_talk & ~np.isin(table["label"], TRAINING_VOICES)))
    waves = [recordings.samples(table, row) for row in rows]
    waves[::3] = [band_limited(wave, *TELEPHONE) for wave in waves[::3]]
    return [wave + generator.normal(0, QUIET, len(wave)).astype(np.float32) for wave in waves]


def band_limited(wave, low, high):
    """A waveform without the frequencies outside `low` to `high` Hz."""
    spectrum = np.fft.rfft(wave)
    hertz = np.fft.rfftfreq(len(wave), 1 / RATE)
    spectrum[(hertz < low) | (hertz > high)] = 0
    return np.fft.irfft(spectrum, len(wave)).astype(np.float32)


def word_windows(table, row, generator):
    """Two windows [16000]: in the first a clip's word ends 50 to 200 ms before the end, the other is `SPACING` hops before."""
    wave = np.zeros(WINDOW + SPACING * HOP, np.float32)
    last = float(table["to"][row])
    offset = last - len(wave) + generator.uniform(800, 3200)
    waveform.place(table["audio"], wave, table["start"][row], table["length"][row], offset, 1.0, 0.0, last + 3200)
    wave += generator.normal(0, QUIET, len(wave)).astype(np.float32)
    return wave[-WINDOW:], wave[:WINDOW]


def negative_set(program, model, table):
    """The tensors of background.safetensors (Models/FORMAT.md): unit vectors in 8 bits around 128."""
    description = json.loads((model / "model.json").read_text())
    weights = model_weights.load(model)
    generator = seeded("negative set")
    waves = talk(table, generator)
    decides, numbers, quiet, vectors, frames = embedded_talk(program, model, waves)
    # Each run of hops at which a word could fire, and the hop before it.
    decides[[0, -1]] = False
    decides[np.flatnonzero(np.diff(numbers)) + 1] = False
    first = np.flatnonzero(decides[1:] & ~decides[:-1])
    after = np.flatnonzero(decides[:-1] & ~decides[1:]) + 1
    # Of silence no word is taken for another one.
    is_talk = quiet <= LONGEST_QUIET
    for start, end in zip(first, after):
        is_talk[start:end] = True
    place = np.cumsum(is_talk) - 1
    made = coded("talk", vectors[is_talk], STEP) | {"talk.hours": np.array([sum(map(len, waves)) / RATE / 3600], np.float32)}
    made["talk.ends"] = np.stack([place[first], place[after - 1] + 1], 1).astype(np.float32)
    made |= speech_talk(frames, numbers, is_talk)
    for label in description["labels"][:-2]:
        rows = np.flatnonzero((table["part"] == "training") & (table["kind"] == "clip") & (table["label"] == label))
        pairs = [word_windows(table, row, generator) for row in generator.permutation(rows)[:CLIPS]]
        examples = np.stack([[embed(description, weights, window)[0] for window in pair] for pair in pairs])
        made[f"word.{label}"] = np.round(128 + examples * 127 / np.abs(examples).max()).astype(np.uint8)
    return made


def newest_frames(numbers):
    """For each hop, given the number of its file, the newest frame of the speech embedding at its end, among those of all files."""
    newest, before = [], 0
    for hops in np.unique(numbers, return_counts=True)[1]:
        samples = HOP * np.arange(1, hops + 1)
        newest.append(before + (samples - FIRST_FRAME) // FRAME_SAMPLES)
        before = newest[-1][-1] + 1
    return np.concatenate(newest)


def speech_talk(frames, numbers, is_talk):
    """The frames of the hops of talk, coded, and how many of them are new with each hop."""
    newest = newest_frames(numbers)
    assert newest[-1] + 1 == len(frames)
    new = np.diff(newest, prepend=-1)
    kept = np.zeros(len(frames), bool)
    for hop in np.flatnonzero(is_talk):
        kept[newest[hop] - new[hop] + 1 : newest[hop] + 1] = True
    steps = np.diff((np.cumsum(kept) - 1)[newest][is_talk], prepend=-1)
    return coded("speech.talk", frames[kept], SPEECH_STEP) | {"speech.steps": steps.astype(np.uint8)}


def replace_layers(folder, checkpoint, part):
    """Writes the checkpoint's layers into the model folder as a part of its embedding, in place of an earlier one."""
    description = json.loads((folder / "model.json").read_text())
    weights = model_weights.load(folder)
    is_old = lambda name: of_part(name, part)
    description["layers"] = [layer for layer in description["layers"] if not is_old(layer["name"])]
    weights = {name: value for name, value in weights.items() if not is_old(name)}
    state = torch.load(checkpoint, weights_only=True)
    layers, added = WordEmbedding.from_checkpoint(state, weights).described(part)
    description["layers"] += layers
    parts = [name for name in (NAME, SECOND) if any(layer["name"] == name for layer in description["layers"])]
    description["embedding"] = parts if len(parts) > 1 else parts[0]
    ranges = {name: value for name, value in description.get("ranges", {}).items() if not is_old(name)}
    weights |= {name: value.astype(np.float16) for name, value in added.items()}
    model_weights.save(folder, weights)
    files.write_json(folder / "model.json", description | {"ranges": ranges})


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--checkpoint", help="file that embedding/train.py wrote; none makes the negative set anew")
    parser.add_argument("--part", choices=[NAME, SECOND], default=NAME, help="the part of the embedding that the checkpoint is")
    parser.add_argument("--negatives", default=".build/release/negatives", help="the program Training/Negatives")
    parser.add_argument("model", type=Path, help="the model folder to change")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    table = recordings.load_all(options.data, options.cache)
    if options.checkpoint:
        replace_layers(options.model, options.checkpoint, options.part)
        ranges.add(options.model, table)
    made = negative_set(options.negatives, options.model, table)
    path = options.model / "background.safetensors"
    if not options.checkpoint and path.exists():
        # The text encoder was trained with the embedding, which is the same as before.
        made |= {name: value for name, value in safetensors.numpy.load_file(path).items() if name.startswith("text.")}
    reference.save_tensors(path, made)
    print("  ".join(f"{name} {value.shape}" for name, value in made.items()))


if __name__ == "__main__":
    main()
