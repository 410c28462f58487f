"""Trains the tutorial's network on the raw waveform, to show the distance travelled since.

    python flatspeech.py --data DIR --out Models/flatspeech --beckon BINARY

Six convolutions that halve 16000 samples, three dense layers, twelve classes. The examples are made as that tutorial made
them: a pass holds every training clip of the ten commands, shifted by up to ±100 ms, four in five with background noise
at a random volume; one example in ten is another word, one in ten background noise alone. Nothing else: no features, no
rooms, no calibration. Stops and resumes at any pass; the same seed gives the same weights.
"""

import argparse
import datetime
import json
import os
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

import ranges
import recordings
import reference
import validate
import validation
from examples import BACKGROUND, BACKGROUND_SHARE, COMMANDS, SILENCE, UNKNOWN, WINDOW
from make_fixtures import tutorial_layers, weight_shapes

SHIFT = 1600
NOISE_PROBABILITY, NOISE_VOLUME = 0.8, 0.1


class FlatSpeech(nn.Module):
    """[n, 16000] samples → [n, 12] logits, through the layers of the tutorial's fixture."""

    def __init__(self, layers):
        super().__init__()
        self.layers = layers
        self.weights = nn.ParameterDict()
        for name, shape in weight_shapes(layers):
            weight = torch.zeros(shape)
            if len(shape) > 1:
                nn.init.normal_(weight, std=(2 / np.prod(shape[1:])) ** 0.5)
            self.weights[name.replace(".", "_")] = nn.Parameter(weight)

    def forward(self, waves):
        x = waves[:, None]
        for layer in self.layers:
            if layer["op"] == "flatten":
                x = x.transpose(1, 2).flatten(1)
                continue
            weight, bias = (self.weights[f"{layer['name']}_{part}"] for part in ("weight", "bias"))
            if layer["op"] == "conv1d":
                x = F.conv1d(x, weight.transpose(1, 2), bias, layer["stride"])
            else:
                x = F.linear(x, weight, bias)
            x = torch.relu(x) if layer.get("activation") == "relu" else x
        return x

    def tensors(self):
        """Weights by the names they have in a model folder, in half precision."""
        stored = {name: self.weights[name.replace(".", "_")] for name, _ in weight_shapes(self.layers)}
        return {name: weight.detach().numpy().astype(np.float16) for name, weight in stored.items()}


class Clips:
    """The training partition's clips, a pass at a time, seeded by (seed, pass)."""

    def __init__(self, table, seed):
        self.table, self.seed = table, seed
        clips = np.flatnonzero((table["part"] == "training") & (table["kind"] == "clip"))
        commanded = np.isin(table["label"][clips], COMMANDS)
        self.words, self.others = clips[commanded], clips[~commanded]
        self.noise = np.flatnonzero((table["kind"] == "noise") & (table["label"] == BACKGROUND))
        self.target = np.array([COMMANDS.index(l) if l in COMMANDS else len(COMMANDS) for l in table["label"]])

    def batches(self, number, size):
        """Yields waves [size, 16000] and class indices [size]; a row of −1 stands for silence."""
        generator = np.random.default_rng([self.seed, number])
        share = len(self.words) // 8
        others = generator.choice(self.others, share, replace=False)
        rows = generator.permutation(np.concatenate([self.words, others, np.full(share, -1)]))
        for begin in range(0, len(rows) - size + 1, size):
            chosen = rows[begin : begin + size]
            waves = np.stack([self.example(row, generator) for row in chosen])
            targets = np.where(chosen < 0, len(COMMANDS) + 1, self.target[chosen])
            yield torch.from_numpy(waves), torch.from_numpy(targets)

    def example(self, row, generator):
        if row < 0:
            return self.background(generator) * np.float32(generator.random())
        begin, shift = self.table["start"][row], generator.integers(-SHIFT, SHIFT + 1)
        clip = self.table["audio"][begin : begin + WINDOW] / np.float32(32768)
        wave = np.zeros(WINDOW, np.float32)
        wave[max(0, shift) : WINDOW + min(0, shift)] = clip[max(0, -shift) : WINDOW - max(0, shift)]
        if generator.random() < NOISE_PROBABILITY:
            wave += self.background(generator) * np.float32(generator.uniform(0, NOISE_VOLUME))
        return np.clip(wave, -1, 1)

    def background(self, generator):
        row = generator.choice(self.noise)
        usable = int(self.table["length"][row] * BACKGROUND_SHARE)
        begin = self.table["start"][row] + generator.integers(0, usable - WINDOW)
        return self.table["audio"][begin : begin + WINDOW] / np.float32(32768)


def train(options, table):
    """The network after `options.passes` passes; one that was stopped goes on where it was."""
    torch.manual_seed(options.seed)
    clips, (waves, truth) = Clips(table, options.seed), validation.clips(table)
    model = FlatSpeech(tutorial_layers())
    optimiser = torch.optim.Adam(model.parameters(), lr=options.rate)
    checkpoint, first = os.path.join(options.runs, f"flatspeech-{options.seed}.pt"), 0
    if os.path.exists(checkpoint):
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"]), optimiser.load_state_dict(state["optimiser"])
        first = state["pass"]
        print(f"resuming after pass {first}", flush=True)
    for number in range(first, options.passes):
        begun, losses = time.time(), []
        for examples, targets in clips.batches(number, options.batch):
            loss = F.cross_entropy(model(examples), targets)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        state = {"model": model.state_dict(), "optimiser": optimiser.state_dict(), "pass": number + 1}
        torch.save(state, checkpoint + ".part")
        os.replace(checkpoint + ".part", checkpoint)
        with torch.no_grad():
            logits = torch.cat([model(part) for part in torch.from_numpy(waves).split(256)]).numpy()
        report = "  ".join(f"{key} {value:.2f}" for key, value in validation.accuracy(logits, truth).items())
        seconds = time.time() - begun
        print(f"pass {number + 1}/{options.passes}  loss {np.mean(losses):.4f}  {seconds:.0f} s  {report}", flush=True)
    return model


def write(folder, model):
    """Writes the model folder but its card, and returns the number of weights."""
    folder.mkdir(parents=True, exist_ok=True)
    labels = COMMANDS + [UNKNOWN, SILENCE]
    description = {
        "format": "beckon-model",
        "version": 1,
        "name": "flatspeech",
        "labels": labels,
        "sampleRate": recordings.RATE,
        "windowSamples": WINDOW,
        "hopSamples": 1600,
        "streaming": False,
        "frontEnd": {"kind": "waveform", "scale": 1.0},
        "layers": model.layers,
        "output": "logits",
        "embedding": "dense2",
        "outputLabels": labels,
        "temperature": 1,
        "thresholds": {word: 0.8 for word in COMMANDS},
    }
    weights = model.tensors()
    (folder / "model.json").write_text(json.dumps(description, indent=1) + "\n")
    reference.save_tensors(folder / "model.safetensors", weights)
    waves, gains = reference.make_waves(np.random.default_rng(100), 12)
    samples = torch.from_numpy((waves.astype(np.float64) - 128) / 128 * gains.astype(np.float64)[:, None])
    _, logits = reference.run(description, weights, samples)
    answers = {"waveforms": waves, "gains": gains, "logits": logits.astype(np.float32)}
    reference.save_tensors(folder / "reference.safetensors", answers)
    return sum(weight.size for weight in weights.values())


def card(options, parameters, result):
    return f"""# Model card: flatspeech

The network this project's tutorial began with: 16000 raw samples, six convolutions of four samples that halve the
waveform each, three dense layers, twelve classes; {parameters:,} parameters, stored in half precision. Not for use: it is here to
show the distance travelled. `beckon classify --model Models/flatspeech` runs it on the same engine as
[commands](../commands/README.md), so that every measurement can be taken of both.

Trained on {datetime.date.today().isoformat()} by

    make flatspeech DATA=<folder of recordings>

with {options.passes} passes of Adam at {options.rate:g}, batch {options.batch}, seed {options.seed}. The examples are those of that tutorial: clips shifted by up to
±100 ms, background noise at a random volume in four of five, one example in ten another word, one in ten background
noise alone. No features, no calibration: the temperature is 1, every word's threshold 0.8. First weights, optimiser and
number of passes are this project's.

## Measured on validation speakers, none of whom was trained on

Through the program itself (`make distance DATA=…`), which hears every clip four times.

| | |
|---|---|
| 12 classes, all {result["clips"]:,} clips | {result["all"]:.2f} % |
| the ten words | {result["words"]:.2f} % |
| unknown (other words, 10 % of the clips) | {result["unknown"]:.2f} % |
| silence (background recordings, 10 % of the clips) | {result["silence"]:.2f} % |
| expected calibration error, 15 bins | {result["ece"]:.4f} |

## Data and licences

Speech Commands v0.01 (Pete Warden, Google; CC BY 4.0), training partition, for the words and their background noise. The
testing partition was not used, and nothing was fitted on the validation partition.

## Limits

Nothing taught it other levels, rooms, running speech or parts of words; `make robust MODEL=Models/flatspeech DATA=…` shows
what that costs. It cannot stream: every hop computes the whole window again.
"""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder of recordings, as for train.py")
    parser.add_argument("--runs", default=os.path.join(os.path.dirname(__file__), "runs"), help="cache and checkpoint")
    parser.add_argument("--out", required=True, help="model folder to write")
    parser.add_argument("--beckon", required=True, help="the program that measures the model")
    parser.add_argument("--passes", type=int, default=15)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rate", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    table = recordings.load_all([options.data], options.runs)
    folder = Path(options.out)
    parameters = write(folder, train(options, table))
    # Seven bits do for what the large dense layer reads, but for the loudest ten-thousandth; for layers so near the waveform they
    # do not: all of them in whole numbers cost four points.
    ranges.write(folder, table, ["flat"], 1e-4)
    result = validate.measure(table, options.beckon, folder)
    (folder / "README.md").write_text(card(options, parameters, result))
    print(f"{folder}: " + ", ".join(f"{key} {value:.4f}" for key, value in result.items()))


if __name__ == "__main__":
    main()
