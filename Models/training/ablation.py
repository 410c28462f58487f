"""What each source of examples brings: short trainings that leave one of them out, side by side.

    python ablation.py --data DIR --runs RUNS --bank BANK [--steps N] [--only NAME…]

All train for the same number of steps on the same rendered passes. They are compared where three in four of the validation words are
heard right at their threshold: how much of what is no command passes that threshold too. `unheard` are words that no
training ever holds (examples.HELD_OUT).
"""

import argparse
import copy
import time

import numpy as np
import torch

import bank
import frontend
import mixing
import train
from examples import KINDS
from network import Spotter
from scores import Sets, shifts

LEFT_OUT = {"nothing": (), **{name: (name,) for name in KINDS if name not in ("words", "silence")}}
LEFT_OUT["all but words and silence"] = tuple(name for name in KINDS if name not in ("words", "silence"))
# Seven of eight recordings of other words are of seven words, which do not tell other words apart in general.
COLUMNS = ("all", "words", "unknown", "tails", "running", "unheard", "AUROC")


def batches(folder, numbers, without, steps, seed):
    """`steps` batches of the passes, without the examples of some kinds."""
    generator = np.random.default_rng([seed, 7])
    dropped = [KINDS.index(name) for name in without]
    while True:
        for number in numbers:
            with np.load(bank.path(folder, number)) as stored:
                kept = np.flatnonzero(~np.isin(stored["kinds"], dropped))
                logs, targets, either = (stored[key][kept] for key in ("logs", "targets", "either"))
            order = generator.permutation(len(kept))
            for begin in range(0, len(order) - bank.BATCH + 1, bank.BATCH):
                if steps == 0:
                    return
                steps -= 1
                rows = np.sort(order[begin : begin + bank.BATCH])
                energies = np.exp(logs[rows].astype(np.float32)) @ mixing.throats(bank.BATCH, generator)
                energies *= mixing.colour(bank.BATCH, generator)[:, None, :]
                features = torch.from_numpy(bank.mask(frontend.normalised(energies), generator))
                yield features, torch.from_numpy(targets[rows]), torch.from_numpy(either[rows])


def trained(options, outputs, numbers, without):
    """The averaged network after the steps."""
    torch.manual_seed(options.seed)
    model = Spotter(outputs, dropout=0.05)
    average, optimiser = copy.deepcopy(model), train.optimiser_of(model, options)
    model.train()
    for step, (features, targets, either) in enumerate(
        batches(options.bank, numbers, without, options.steps, options.seed)
    ):
        for group in optimiser.param_groups:
            group["lr"] = train.learning_rate(step, options.steps, options.rate)
        loss = train.loss_of(model(features), targets, either).mean()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        train.follow(average, model, step)
    return average


def measured(sets, network, examples, share=0.75):
    """The row of the table, with the shift of the unknown logits that serves all clips best."""
    output_labels = examples.output_labels()
    logits = sets.logits(network)
    candidates = [shifts(examples, amount, amount) for amount in np.arange(-2, 3.1, 0.5)]
    shift = max(candidates, key=lambda shift: sets.figures(logits, output_labels, 1.0, shift)["all"])
    figures = sets.figures(logits, output_labels, 1.0, shift)
    clips, commands = sets.posteriors(logits[0], output_labels, 1.0, shift), len(sets.commands)
    words = sets.truth < commands
    right = clips[words].argmax(axis=1) == sets.truth[words]
    threshold = np.sort(np.where(right, clips[words, sets.truth[words]], 0))[int((1 - share) * words.sum())]
    row = {key: figures[key] for key in ("all", "words", "unknown")}
    for name in ("tails", "running", "unheard"):
        scores = sets.posteriors(logits[1][name], output_labels, 1.0, shift)
        row[name] = 100 * float((scores[:, :commands].max(axis=1) >= threshold).mean())
    return row | {"AUROC": 100 * figures["auroc"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, action="append", help="folder of recordings; may be repeated")
    parser.add_argument("--runs", required=True, help="folder of the recordings' cache")
    parser.add_argument("--bank", required=True, help="folder of the rendered passes")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--rate", type=float, default=0.1)
    parser.add_argument("--decay", type=float, default=4e-4)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=list(LEFT_OUT), choices=list(LEFT_OUT), help="what to leave out")
    options = parser.parse_args()
    torch.set_num_threads(1)
    table, examples = bank.load_examples(options.data, options.runs)
    sets, numbers = Sets(table, examples.commands), bank.rendered(options.bank)
    print(f"{'without':28}" + "".join(f"{name:>9}" for name in COLUMNS), flush=True)
    for name in options.only:
        begun = time.time()
        network = trained(options, len(examples.outputs), numbers, LEFT_OUT[name])
        row = measured(sets, network, examples)
        cells = "".join(f"{row[key]:9.2f}" for key in COLUMNS)
        print(f"{name:28}{cells}   {time.time() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
