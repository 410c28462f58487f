"""Renders what upper_train.py learns from: every word and much running speech, twice each, up to the first block's columns.

    python upper_examples.py --data DIR… --runs RUNS --teacher FILE --model MODEL --out FILE [--seed N] [--together]

The first block stays as it is, so that its columns can be kept. Of each recording there are two views: one as somebody teaches
a word, alone and well recorded, and one as it is met, later or earlier in the window, amid other speech, in noise. What the
teacher, a general speech embedding in ONNX, makes of the first view is kept beside them.
"""

import argparse
import json
import os
import re
from pathlib import Path

import numpy as np
import onnxruntime
import safetensors.numpy
import torch
import torch.nn.functional as F

import bank
import frontend
import mixing
from examples import COMMANDS, HELD_OUT, WINDOW

SPEECH = 20000
# The teacher's window is the last 12,400 samples of the second.
TAUGHT = WINDOW - 12400
BATCH = 64


def word_of(name, label):
    """What is said in a recording: synthetic words are called by what was spoken, such as heart-computer-3 or computer-3."""
    if label != "synthetic":
        return label
    stem = os.path.splitext(os.path.basename(name))[0]
    return re.sub(r"^(heart|blend)-", "", stem).rsplit("-", 1)[0]


def first_block(weights, features):
    """[n, columns, bands] → [n, columns, channels] of the model's first block, in half precision."""
    tensor = lambda name: torch.from_numpy(weights[name].copy()).float()
    kernel = lambda name: tensor(name + ".weight").transpose(1, 2)
    conv = lambda x, name, stride=1: F.conv1d(x, kernel(name), tensor(name + ".bias"), stride)
    with torch.no_grad():
        x = torch.relu(conv(torch.as_tensor(features).transpose(1, 2), "stem"))
        skip = conv(x[:, :, 9 : x.shape[2] - 9], "block1.skip", 2)
        x = torch.relu(conv(torch.relu(conv(x, "block1.first", 2)), "block1.second") + skip)
    return x.transpose(1, 2).numpy().astype(np.float16)


class Renderer:
    def __init__(self, table, examples, generator, together):
        self.table, self.examples, self.generator, self.together = table, examples, generator, together

    def place(self, row, view, speed, begin):
        """One view's samples, and where in them the word lies."""
        table, g = self.table, self.generator
        start, length, wave = table["start"][row], float(table["length"][row]), np.zeros(WINDOW, np.float32)
        if table["kind"][row] == "speech":
            offset = begin if self.together else max(0.0, begin + g.uniform(-1300, 1300))
            mixing.place(table["audio"], wave, start, length, offset, speed, 0.0, length)
            return wave, (0, WINDOW), False
        first, last = float(table["from"][row]), float(table["to"][row])
        least, most = (-0.05, 0.35) if self.together else ((0.03, 0.22), (-0.06, 0.3))[view]
        end = WINDOW - g.uniform(least, most) * WINDOW
        offset, margin = last - end * speed, g.uniform(300, 1600)
        alone = (view == 0 and not self.together) or g.random() < 0.75
        low, high = (max(0.0, first - margin), min(length, last + margin)) if alone else (0.0, length)
        mixing.place(table["audio"], wave, start, length, offset, speed, low, high)
        return wave, (int(max(0, (first - offset) / speed)), int(max(400, min(WINDOW, end)))), alone

    def views(self, row):
        """Two views as energies, and the window that the teacher hears."""
        g, energies = self.generator, []
        speed, begin = g.uniform(0.93, 1.07), g.uniform(0, max(1.0, self.table["length"][row] - 19000.0))
        for view in range(2):
            wave, extent, alone = self.place(row, view, speed * g.uniform(0.95, 1.05), begin)
            if view == 0:
                level = mixing.level(wave, *extent) + 1e-6
                heard = wave * (0.05 / level) + g.normal(0, 2e-4, WINDOW).astype(np.float32)
            if alone and (view == 1 or self.together) and g.random() < (0.35 if self.together else 0.6):
                self.examples.add_context(wave, extent, g)
            self.examples.surround(wave, extent, g)
            energies.append(frontend.mel_energies(wave[None])[0])
        return energies, heard[TAUGHT:]

    def picture(self, logs):
        """Two views of a word of which there is only a picture."""
        views = []
        for _ in range(2):
            wave = np.zeros((1, WINDOW), np.float32)
            self.examples.beside(wave[0], self.generator)
            views.append(self.examples.pictured(frontend.mel_energies(wave)[0], logs, self.generator))
        return views

    def voiced(self, energies):
        """Other throats and microphones; both views of an example are one voice."""
        energies, g = np.stack(energies).astype(np.float32), self.generator
        throats = np.repeat(mixing.throats(len(energies) // 2, g, 0.12), 2, axis=0)
        bent = np.einsum("ntb,nbc->ntc", energies, throats) * mixing.colour(len(energies), g)[:, None, :]
        return frontend.normalised(bent)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, action="append", help="folder of recordings; may be repeated")
    parser.add_argument("--runs", required=True, help="folder of the recordings' cache")
    parser.add_argument("--teacher", required=True, help="the speech embedding, an ONNX file")
    parser.add_argument("--model", required=True, help="the model folder whose first block is kept")
    parser.add_argument("--out", required=True, help="the file to write")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--together", action="store_true", help="both views at one place, in like surroundings")
    parser.add_argument("--most", type=int, help="examples at most, to try it")
    options = parser.parse_args()
    torch.set_num_threads(1)
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    teacher = onnxruntime.InferenceSession(options.teacher, settings, providers=["CPUExecutionProvider"])
    weights = safetensors.numpy.load_file(Path(options.model) / "model.safetensors")
    table, examples = bank.load_examples(options.data, options.runs, COMMANDS)
    generator = np.random.default_rng(options.seed)
    renderer = Renderer(table, examples, generator, options.together)

    train = (table["part"] == "training") & ~np.isin(table["label"], HELD_OUT)
    words = np.flatnonzero(train & np.isin(table["kind"], ["clip", "word"]) & (table["label"] != "honk_random"))
    speech = np.flatnonzero(train & (table["kind"] == "speech"))
    share = table["length"][speech] / table["length"][speech].sum()
    rows = generator.permutation(np.concatenate([words, generator.choice(speech, SPEECH, p=share)]))[: options.most]
    said = {row: word_of(table["name"][row], table["label"][row]) for row in words}
    shown = examples.pictures if options.most is None and examples.pictures else {"label": [], "logs": []}
    kept = [n for n, label in enumerate(shown["label"]) if label not in HELD_OUT]
    names = sorted(set(said.values()) | {str(shown["label"][n]) for n in kept})
    numbers = {name: number for number, name in enumerate(names)}

    columns, answers, classes = [], [], []
    jobs = [(row, None) for row in rows] + [(None, n) for n in kept]
    for begin in range(0, len(jobs), BATCH):
        energies, heard = [], []
        for row, picture in jobs[begin : begin + BATCH]:
            if row is None:
                energies += renderer.picture(shown["logs"][picture])
                classes.append(numbers[str(shown["label"][picture])])
            else:
                views, wave = renderer.views(row)
                energies += views
                heard.append(wave)
                classes.append(numbers[said[row]] if row in said else -1)
        columns.append(first_block(weights, renderer.voiced(energies)))
        made = (
            teacher.run(None, {teacher.get_inputs()[0].name: np.stack(heard)})[0][:, 0, 0]
            if heard
            else np.zeros((0, 96))
        )
        silent = len(jobs[begin : begin + BATCH]) - len(heard)
        answers.append(np.concatenate([made, np.full((silent, 96), np.nan)]).astype(np.float32))
        if begin % (100 * BATCH) == 0:
            print(f"{begin} of {len(jobs)}", flush=True)
    np.savez(
        options.out,
        columns=np.concatenate(columns),
        teacher=np.concatenate(answers),
        classes=np.array(classes),
        names=np.array(names),
        history=json.dumps(vars(options)),
    )


if __name__ == "__main__":
    main()
