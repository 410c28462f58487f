"""Trains the tutorial's network on the raw waveform, for comparison, and writes its model folder.

    python -m Training.export.flatspeech --data DIR --cache DIR --out MODEL --beckon BINARY

The examples follow that tutorial: an epoch holds every training clip of the ten commands, shifted by up to ±100 ms, four in
five with background noise at a random volume; one example in ten is another word, one in ten background noise alone. There
are no features, rooms or calibration. An interrupted training continues at the last epoch; the same seed gives the same
weights.
"""

import os
import time
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

from Training.data import command_line, files, recordings, validation_sets
from Training.data.audio import WINDOW
from Training.data.seeding import generator as seeded
from Training.data.vocabulary import BACKGROUND, BACKGROUND_SHARE, COMMANDS, SILENCE, UNKNOWN
from Training.evaluate import validate
from Training.export import card, model_weights, ranges, reference, tutorial
from Training.export.model_folder import description
from Training.model import checkpoint, metrics
from Training.model.layers import weight_shapes

# Samples of shift to either side.
SHIFT = 1600
NOISE_PROBABILITY, NOISE_VOLUME = 0.8, 0.1


class FlatSpeech(nn.Module):
    """[n, 16000] samples → [n, 12] logits, through the tutorial's layers."""

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
        """The weights by tensor name, in half precision."""
        return {
            name: self.weights[name.replace(".", "_")].detach().numpy().astype(np.float16)
            for name, _ in weight_shapes(self.layers)
        }


class Clips:
    """The training clips as batches of an epoch."""

    def __init__(self, table, seed):
        self.table, self.seed = table, seed
        clips = np.flatnonzero((table["part"] == "training") & (table["kind"] == "clip"))
        is_command = np.isin(table["label"][clips], COMMANDS)
        self.words, self.others = clips[is_command], clips[~is_command]
        self.noise = np.flatnonzero((table["kind"] == "noise") & (table["label"] == BACKGROUND))
        self.target = np.array([COMMANDS.index(l) if l in COMMANDS else len(COMMANDS) for l in table["label"]])

    def batches(self, epoch, size):
        """Yields waveforms [size, 16000] and class indices [size]."""
        generator = seeded("flatspeech epoch", epoch, seed=self.seed)
        share = len(self.words) // 8
        others = generator.choice(self.others, share, replace=False)
        # A row of −1 stands for silence.
        rows = generator.permutation(np.concatenate([self.words, others, np.full(share, -1)]))
        for begin in range(0, len(rows) - size + 1, size):
            chosen = rows[begin : begin + size]
            waves = np.stack([self.example(row, generator) for row in chosen])
            targets = np.where(chosen < 0, len(COMMANDS) + 1, self.target[chosen])
            yield torch.from_numpy(waves), torch.from_numpy(targets)

    def example(self, row, generator):
        """The waveform [16000] of one example."""
        if row < 0:
            return self.background(generator) * np.float32(generator.random())
        shift = generator.integers(-SHIFT, SHIFT + 1)
        clip = recordings.samples(self.table, row, 0, WINDOW)
        wave = np.zeros(WINDOW, np.float32)
        wave[max(0, shift) : WINDOW + min(0, shift)] = clip[max(0, -shift) : WINDOW - max(0, shift)]
        if generator.random() < NOISE_PROBABILITY:
            wave += self.background(generator) * np.float32(generator.uniform(0, NOISE_VOLUME))
        return np.clip(wave, -1, 1)

    def background(self, generator):
        """One second of a background recording's training part."""
        row = generator.choice(self.noise)
        usable = int(self.table["length"][row] * BACKGROUND_SHARE)
        begin = generator.integers(0, usable - WINDOW)
        return recordings.samples(self.table, row, begin, begin + WINDOW)


def train(options, table):
    """The network after `options.epochs` epochs; an interrupted training is continued."""
    torch.manual_seed(options.seed)
    clips, (waves, truth) = Clips(table, options.seed), validation_sets.clips(table, "tune")
    model = FlatSpeech(tutorial.layers())
    optimizer = torch.optim.Adam(model.parameters(), lr=options.rate)
    path, first = os.path.join(options.cache, f"flatspeech-{options.seed}.pt"), 0
    if os.path.exists(path):
        state = checkpoint.load(path)
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        first = state["epoch"]
        print(f"resuming after epoch {first}", flush=True)
    for epoch in range(first, options.epochs):
        begun, losses = time.time(), []
        for examples, targets in clips.batches(epoch, options.batch):
            loss = F.cross_entropy(model(examples), targets)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
        state = {"model": model.state_dict(), "optimizer": optimizer.state_dict(), "epoch": epoch + 1}
        checkpoint.save(path, state)
        with torch.no_grad():
            logits = torch.cat([model(part) for part in torch.from_numpy(waves).split(256)]).numpy()
        report = "  ".join(f"{key} {value:.2f}" for key, value in metrics.accuracy(logits, truth).items())
        seconds = time.time() - begun
        print(f"epoch {epoch + 1}/{options.epochs}  loss {np.mean(losses):.4f}  {seconds:.0f} s  {report}", flush=True)
    return model


def write(folder, model):
    """Writes the model folder without its card, and returns the number of weights."""
    folder.mkdir(parents=True, exist_ok=True)
    labels = COMMANDS + [UNKNOWN, SILENCE]
    model_json = description(
        "flatspeech",
        labels,
        False,
        {"kind": "waveform", "scale": 1.0},
        model.layers,
        embedding="dense2",
        outputLabels=labels,
        temperature=1,
        thresholds={word: 0.8 for word in COMMANDS},
    )
    weights = model.tensors()
    # Nearly all of the weights are in one layer, which is stored in 8 bits.
    weights = model_weights.in_bytes(model.layers, weights | {"dense1.weight": weights["dense1.weight"].astype(np.float32)})
    files.write_json(folder / "model.json", model_json)
    model_weights.save(folder, weights)
    waves, gains = reference.make_inputs(seeded("reference inputs"), 12)
    samples = torch.from_numpy(reference.as_samples(waves, gains))
    _, logits = reference.features_and_logits(model_json, weights, samples)
    answers = {"waveforms": waves, "gains": gains, "logits": logits.astype(np.float32)}
    reference.save_tensors(folder / "reference.safetensors", answers)
    return sum(weight.size for name, weight in weights.items() if not name.endswith(".step"))


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--out", required=True, help="model folder to write")
    parser.add_argument("--beckon", required=True, help="the built program, which measures the model")
    parser.add_argument("--epochs", type=int, default=15)
    parser.add_argument("--batch", type=int, default=128)
    parser.add_argument("--rate", type=float, default=0.001)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args(arguments)
    torch.set_num_threads(options.threads)
    table = recordings.load_all(options.data, options.cache)
    folder = Path(options.out)
    parameters = write(folder, train(options, table))
    # The last convolution and the large dense layer run in int8, clipped at the loudest ten-thousandth of their inputs, which costs
    # nothing. The layers nearer to the waveform need more than 7 bits: with one more, half a point was lost, with all but the first,
    # several.
    ranges.write(folder, table, ["conv5", "flat"], 1e-4)
    result = validate.measure(table, options.beckon, folder)
    (folder / "README.md").write_text(card.flatspeech_card(options, parameters, result))
    print(f"{folder}: " + ", ".join(f"{key} {value:.4f}" for key, value in result.items()))


if __name__ == "__main__":
    main()
