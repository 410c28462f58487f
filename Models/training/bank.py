"""Renders passes of examples once, to disk, so that several networks train on them; reads them back as batches.

python bank.py --data DIR --runs RUNS --bank BANK --passes N [--words "on off"] [--harder [--quiet]]
"""

import argparse
import os
import sys
import time

import numpy as np
import torch

import frontend
import mixing
import recordings
from examples import COMMANDS, Examples

BATCH = 192


def path(folder, number):
    return os.path.join(folder, f"bank-{number:02}.npz")


def load_examples(folders, runs, words=COMMANDS, **kinds):
    """The recordings of the folders and the examples they make, with the pictures that pictures.py has converted."""
    table = recordings.load_all(folders, runs)
    shown, pictures = os.path.join(runs, "pictures.npz"), None
    if os.path.exists(shown):
        with np.load(shown) as stored:
            pictures = {key: stored[key] for key in stored.files}
    for word in words:
        count = int(((table["label"] == word) & (table["part"] == "training")).sum())
        if count == 0:
            sys.exit(f"no recording of '{word}': its folder is neither in the data nor among the synthetic words")
        if count < 500:
            print(f"only {count} recordings of '{word}'; a thousand by many speakers make it reliable", file=sys.stderr)
    return table, Examples(table, BATCH, 0, words, pictures, **kinds)


def rendered(folder):
    """The numbers of the passes that stand there."""
    return [number for number in range(100) if os.path.exists(path(folder, number))]


def render(examples, folder, number):
    """One pass: `logs` [n, 79, 40] float16 (natural logs of energies), `targets`, `either`, `kinds` [n]."""
    examples.pass_number = number
    kinds = examples.kinds[examples.order()][: len(examples) * examples.batch]
    logs, targets, either = [], [], []
    for batch in range(len(examples)):
        energies, right, also = examples[batch]
        logs.append(np.log(energies + np.float32(1e-8)).astype(np.float16))
        targets.append(right), either.append(also)
    part = path(folder, number) + ".part.npz"
    np.savez(
        part, logs=np.concatenate(logs), targets=np.concatenate(targets), either=np.concatenate(either), kinds=kinds
    )
    os.replace(part, path(folder, number))


def mask(features, generator):
    """SpecAugment on four of five: up to two runs of ≤ 10 columns and two of ≤ 5 bands set to the mean."""
    for row in features:
        if generator.random() < 0.2:
            continue
        for _ in range(2):
            width, at = generator.integers(0, 11), generator.integers(0, frontend.COLUMNS)
            row[at : at + width] = 0
            width, at = generator.integers(0, 6), generator.integers(0, frontend.BANDS)
            row[:, at : at + width] = 0
    return features


def batches(folder, number, seed, batch, teach=None):
    """Pass `number` of the training with this seed: one of the rendered passes, in an order and with throats, colours and masks
    of its own. Yields features [batch, 79, 40], targets, either, and what `teach(rendered)` [n, outputs] says of them or None.
    """
    available = rendered(folder)
    chosen = available[(number + 7 * seed) % len(available)]
    with np.load(path(folder, chosen)) as stored:
        logs, targets, either = stored["logs"], stored["targets"], stored["either"]
    soft = None if teach is None else teach(chosen)
    generator = np.random.default_rng([seed, 4, number])
    order = generator.permutation(len(targets))
    for begin in range(0, len(order) - batch + 1, batch):
        rows = np.sort(order[begin : begin + batch])
        energies = np.exp(logs[rows].astype(np.float32)) @ mixing.throats(batch, generator)
        energies *= mixing.colour(batch, generator)[:, None, :]
        features = torch.from_numpy(mask(frontend.normalised(energies), generator))
        taught = None if soft is None else torch.from_numpy(soft[rows].astype(np.float32))
        yield features, torch.from_numpy(targets[rows]), torch.from_numpy(either[rows]), taught


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, action="append")
    parser.add_argument("--runs", required=True, help="folder of the recordings' cache")
    parser.add_argument("--bank", required=True, help="folder for the rendered passes")
    parser.add_argument("--words", default=" ".join(COMMANDS))
    parser.add_argument("--passes", type=int, default=12)
    parser.add_argument("--harder", action="store_true", help="more noise, and more of it babble")
    parser.add_argument("--quiet", action="store_true", help="the same examples without noise, for teachers")
    options = parser.parse_args()
    os.makedirs(options.bank, exist_ok=True)
    kinds = {"harder": options.harder, "quiet": options.quiet}
    examples = load_examples(options.data, options.runs, options.words.split(), **kinds)[1]
    for number in range(options.passes):
        if not os.path.exists(path(options.bank, number)):
            begun = time.time()
            render(examples, options.bank, number)
            print(f"pass {number + 1}/{options.passes} rendered in {time.time() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    main()
