"""Measures what each kind of example contributes: short trainings that leave one out, side by side.

    python -m Training.evaluate.ablation --data DIR --cache DIR --examples DIR [--steps N] [--only NAME…]

All train for the same number of steps on the same rendered epochs. They are compared at the threshold at which 75 % of the
validation words are recognized: how much of what is not a command reaches that threshold. `held-out` are words that no training
includes (vocabulary.HELD_OUT).
"""

import copy
import time

import numpy as np
import torch

from Training.augment import render
from Training.augment.examples import Kind
from Training.data import command_line
from Training.data.seeding import generator as seeded
from Training.model import train
from Training.model.network import Spotter
from Training.model.scoring import ValidationSets, clip_prior

OPTIONAL = [kind for kind in Kind if kind not in (Kind.WORDS, Kind.SILENCE)]
LEFT_OUT = {"nothing": []} | {kind.name.lower().replace("_", " "): [kind] for kind in OPTIONAL}
LEFT_OUT["all but words and silence"] = OPTIONAL
# Seven of eight recordings of other words are of seven words, so `unknown` says little of other words in general.
COLUMNS = ("all", "words", "unknown", "endings", "running", "held-out", "AUROC")
# Share of the validation words that the common threshold accepts.
ACCEPTED = 0.75


def batches(folder, numbers, without, steps, seed):
    """`steps` batches of the rendered epochs, without the examples of some kinds."""
    generator = seeded("ablation batch", seed=seed)
    while True:
        for number in numbers:
            with np.load(render.path(folder, number)) as stored:
                kept = np.flatnonzero(~np.isin(stored["kinds"], without))
                logs, targets, alternatives = (stored[key][kept] for key in ("logs", "targets", "alternatives"))
            order = generator.permutation(len(kept))
            for begin in range(0, len(order) - render.BATCH + 1, render.BATCH):
                if steps == 0:
                    return
                steps -= 1
                rows = np.sort(order[begin : begin + render.BATCH])
                arrays = render.augmented(logs[rows], generator), targets[rows], alternatives[rows]
                yield [torch.from_numpy(array) for array in arrays]


def trained(options, outputs, numbers, without):
    """The averaged network after the steps."""
    torch.manual_seed(options.seed)
    model = Spotter(outputs, dropout=0.05)
    average, optimizer = copy.deepcopy(model), train.make_optimizer(model, options)
    model.train()
    for step, (features, targets, alternatives) in enumerate(
        batches(options.examples, numbers, without, options.steps, options.seed)
    ):
        train.set_rate(optimizer, train.learning_rate(step, options.steps, options.rate))
        loss = train.loss_of(model(features), targets, alternatives, 0.05).mean()
        train.step_once(model, average, optimizer, loss, step)
    return average


def measured(sets, network, examples):
    """The row of the table, with the clip prior that suits all clips best."""
    output_labels = examples.output_labels()
    logits = sets.logits(network)
    candidates = [clip_prior(examples, amount, amount) for amount in np.arange(-2, 3.1, 0.5)]
    prior = max(candidates, key=lambda prior: sets.figures(logits, output_labels, 1.0, prior)["all"])
    figures = sets.figures(logits, output_labels, 1.0, prior)
    clips, commands = sets.posteriors(logits[0], output_labels, 1.0, prior), len(sets.commands)
    words = sets.truth < commands
    right = clips[words].argmax(axis=1) == sets.truth[words]
    scores = np.where(right, clips[words, sets.truth[words]], 0)
    threshold = np.sort(scores)[int((1 - ACCEPTED) * words.sum())]
    row = {key: figures[key] for key in ("all", "words", "unknown")}
    for name in ("endings", "running", "held-out"):
        scores = sets.posteriors(logits[1][name], output_labels, 1.0, prior)
        row[name] = 100 * float((scores[:, :commands].max(axis=1) >= threshold).mean())
    return row | {"AUROC": 100 * figures["auroc"]}


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--examples", required=True, help="folder of the rendered epochs")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--decay", type=float, default=4e-4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=list(LEFT_OUT), choices=list(LEFT_OUT), help="what to leave out")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    table, examples = render.load_examples(options.data, options.cache)
    sets, numbers = ValidationSets(table, "tune", examples.commands), render.rendered(options.examples)
    print(f"{'without':28}" + "".join(f"{name:>9}" for name in COLUMNS), flush=True)
    for name in options.only:
        begun = time.time()
        network = trained(options, len(examples.outputs), numbers, LEFT_OUT[name])
        row = measured(sets, network, examples)
        cells = "".join(f"{row[key]:9.2f}" for key in COLUMNS)
        print(f"{name:28}{cells}   {time.time() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
