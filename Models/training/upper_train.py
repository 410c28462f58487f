"""Trains the layers that make the embedding by which words of a user's own are known.

    python upper_train.py --model MODEL --out CHECKPOINT EXAMPLES…

Three things are asked of an embedding: takes of one word lie closer to each other than to any other word or to running speech,
all pairs of a batch against each other (a supervised contrastive loss with a margin); they lie near their word's own vector and
far from those of all others and from speech; and what a general speech embedding finds alike is alike. Each second of running
speech is a word of its own. It goes on after the last whole pass where it was stopped.
"""

import argparse
import os
from pathlib import Path

import numpy as np
import safetensors.numpy
import torch
import torch.nn.functional as F

from upper import Upper

CLASSES, TAKES, SPEECH = 48, 3, 70
STEPS = 421
MARGIN, SCALE, TEMPERATURE, FAR = 0.15, 20.0, 0.06, 10.0
# Passes, learning rate at first, and the weights of the losses: what tells the words apart, then what the teacher knows of others.
STAGES = (
    (8, 1e-3, {"pairs": 1.0, "word": 0.3, "relation": 3.0, "likeness": 2.0}),
    (14, 6e-4, {"pairs": 1.0, "word": 0.1, "relation": 12.0, "likeness": 8.0}),
)
# Examples of a word at least, over all sets and so of the same recordings again.
LEAST = 8
# A word is drawn by this power of its examples: those recorded by many are few among thousands of synthetic ones.
POWER = 0.5


class Examples:
    """The rendered sets together: two views of each example, a class (−1 for running speech), the teacher's answer."""

    def __init__(self, paths):
        sets = [np.load(path) for path in paths]
        names = sorted({name for part in sets for name in part["names"]})
        numbers = {name: number for number, name in enumerate(names)}
        self.columns = [part["columns"] for part in sets]
        self.starts = np.cumsum([0] + [len(part["classes"]) for part in sets])
        found = []
        for part in sets:
            own = np.array([numbers[name] for name in part["names"]] + [-1])
            found.append(own[part["classes"]])
        classes = np.concatenate(found)
        # A word said once teaches nothing about takes of one word.
        counts = np.bincount(classes[classes >= 0], minlength=len(names))
        chosen = np.flatnonzero(counts >= LEAST)
        self.members = [np.flatnonzero(classes == number) for number in chosen]
        self.speech = np.flatnonzero(classes < 0)
        teacher = np.concatenate([part["teacher"] for part in sets])
        self.is_taught = torch.from_numpy(np.isfinite(teacher[:, 0]))
        teacher = torch.from_numpy(np.nan_to_num(teacher - np.nanmean(teacher, 0)))
        self.teacher = F.normalize(teacher, dim=1)

    def batch(self, generator):
        """Rows, their classes among the words (none for speech), and their columns [n, columns, channels]."""
        counts = np.array([len(rows) for rows in self.members], float) ** POWER
        words = generator.choice(
            len(self.members), min(CLASSES, len(self.members)), replace=False, p=counts / counts.sum()
        )
        takes = [generator.choice(self.members[w], TAKES, replace=len(self.members[w]) < TAKES) for w in words]
        rows = np.concatenate(takes + [np.repeat(generator.choice(self.speech, SPEECH, replace=False), 2)])
        views = generator.integers(0, 2, len(rows))
        views[-2 * SPEECH :] = np.tile([0, 1], SPEECH)
        out = np.empty((len(rows), *self.columns[0].shape[1:]), np.float32)
        for number, columns in enumerate(self.columns):
            here = (rows >= self.starts[number]) & (rows < self.starts[number + 1])
            out[here] = columns[(rows[here] - self.starts[number]) * 2 + views[here]]
        return rows, torch.from_numpy(np.repeat(words, TAKES)), torch.from_numpy(out)


def losses(hidden, z, proxies, network, examples, rows, words):
    """The three, by name; `z` are unit vectors, words before speech."""
    alike, count = z @ z.T, len(words)
    teacher, taught = examples.teacher[rows], examples.is_taught[rows]
    relation = ((alike - teacher @ teacher.T)[taught][:, taught] ** 2).mean()
    likeness = (1 - (F.normalize(network.teacher(hidden), dim=1) * teacher).sum(1))[taught].mean()

    own = F.normalize(proxies, dim=1)
    hit = F.one_hot(words, len(own))
    against = SCALE * own[words] @ z[count:].T + float(np.log(FAR))
    word = F.cross_entropy(torch.cat([SCALE * (z[:count] @ own.T - MARGIN * hit), against], 1), words)

    identity = torch.eye(len(rows))
    number = torch.cat([words, torch.from_numpy(-1 - rows[count:])])
    same = (number[:, None] == number[None]).float() - identity
    scores = (alike - MARGIN * same) / TEMPERATURE - 1e9 * identity
    chances = scores - torch.logsumexp(scores, 1, keepdim=True)
    pairs = -((chances * same).sum(1) / same.sum(1).clamp(min=1)).mean()
    return {"pairs": pairs, "word": word, "relation": relation, "likeness": likeness}


def stage(number):
    """Of a pass: how many passes of its stage are done and how many there are, rate, weights."""
    for passes, rate, weights in STAGES:
        if number < passes:
            return number, passes, rate, weights
        number -= passes
    raise ValueError(number)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="the model folder to begin with")
    parser.add_argument("--out", required=True, help="checkpoint to write, for upper_export.py")
    parser.add_argument("--dimensions", type=int, default=64)
    parser.add_argument("examples", nargs="+", help="what upper_examples.py rendered")
    options = parser.parse_args()
    torch.set_num_threads(1)
    torch.manual_seed(0)
    examples = Examples(options.examples)
    network = Upper(safetensors.numpy.load_file(Path(options.model) / "model.safetensors"), options.dimensions)
    proxies = torch.nn.Parameter(torch.randn(len(examples.members), options.dimensions) * 0.1)
    optimiser = torch.optim.AdamW([*network.parameters(), proxies], weight_decay=1e-4)
    first, part = 0, options.out + ".part"
    if os.path.exists(part):
        state = torch.load(part, weights_only=True)
        first = state["pass"] + 1
        network.load_state_dict(state["network"])
        proxies.data = state["proxies"]
        optimiser.load_state_dict(state["optimiser"])
    for number in range(first, sum(passes for passes, _, _ in STAGES)):
        generator, sums = np.random.default_rng(number), {}
        begun, passes, highest, weights = stage(number)
        for step in range(STEPS):
            done = begun * STEPS + step
            rate = highest * min(1.0, (done + 1) / 100) * 0.5 * (1 + np.cos(np.pi * done / (passes * STEPS)))
            for group in optimiser.param_groups:
                group["lr"] = rate
            rows, words, columns = examples.batch(generator)
            hidden, z = network(columns)
            parts = losses(hidden, F.normalize(z, dim=1), proxies, network, examples, rows, words)
            optimiser.zero_grad()
            sum(weights[name] * value for name, value in parts.items()).backward()
            optimiser.step()
            for name, value in parts.items():
                sums[name] = sums.get(name, 0.0) + value.item() / STEPS
        print(number, "  ".join(f"{name} {value:.3f}" for name, value in sums.items()), flush=True)
        state = {"pass": number, "network": network.state_dict(), "proxies": proxies.data}
        torch.save(state | {"optimiser": optimiser.state_dict()}, part)
    torch.save(network.state_dict(), options.out)


if __name__ == "__main__":
    main()
