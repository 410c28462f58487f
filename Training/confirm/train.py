"""Trains the published Qbc6 further: on words in noise and beside talk, and on talk (`rejects`), above all on words in noise and babble (`names`), or
on these with the published answers alone, so that it forgets no voice (`keeps`); or the network that rejects on words beside one person who talks (`beside`).

    python -m Training.confirm.train --data DIR --cache DIR --published qbc6.safetensors --out FILE [--network rejects|beside|names|keeps] [--steps N]
        [--rate R] [--seconds S] [--proposals FILE] [--begin FILE,SHARE]

First it finds the talk of the training partition that the published network takes for a command, and keeps it in the cache. What the program
proposes there (FILE of mine.py) is drawn as often. Of a word
said alone a part of the target is what the published network answers to it as recorded, so that less of the voices is forgotten that
only its makers had. A checkpoint is written every so many steps, with the exponential average of the weights; an interrupted training
continues from there. The rate falls to a fifth over the steps; each step of the average is as good as a shorter training.
"""

import math
import os
import time

import numpy as np
import torch

from Training.confirm.examples import MIXTURES, Examples
from Training.confirm.networks import ADDED, qbc6
from Training.confirm.proposals import scaled
from Training.confirm.weights import mixed, read
from Training.data import command_line, recordings
from Training.data.audio import RATE, WINDOW
from Training.data.files import replacing
from Training.data.vocabulary import COMMANDS
from Training.model import checkpoint
from Training.model.network import training_type
from Training.model.train import set_rate

# The least posterior of a command for talk to be hard, and the frames between two such places.
LEAST_SCORE, APART = 0.2, 8
# Seconds of talk in one pass.
PASS = 20
SAVE_EVERY, WARM_UP, DECAY = 50, 50, 0.99


@torch.no_grad()
def places(network, wave):
    """Middle samples at which a network takes a second of the waveform for a command."""
    found, step, columns = [], PASS * RATE // network.HOP * network.HOP, network.COLUMNS
    commands = [network.labels.index(word) for word in COMMANDS]
    for begin in range(0, max(1, len(wave) - WINDOW), step):
        piece = torch.from_numpy(np.pad(wave[begin : begin + step + WINDOW], WINDOW // 2))[None]
        x = network.body(network.features(piece))
        sums = torch.cumsum(torch.nn.functional.pad(x, (1, 0)), dim=3)
        means = (sums[..., columns:] - sums[..., :-columns]) / columns
        scores = torch.softmax(network.head_conv(means)[0, :, 0], dim=0)[commands].amax(dim=0).numpy()
        free = np.ones(len(scores), bool)
        for frame in np.argsort(-scores):
            if scores[frame] < LEAST_SCORE:
                break
            if free[frame]:
                free[max(0, frame - APART) : frame + APART + 1] = False
                middle = begin + frame * network.HOP
                if middle < len(wave):
                    found.append(middle)
    return found


def mine(network, examples):
    """(row, middle sample) [n, 2] of the talk that a network takes for a command."""
    rows = examples.rows["talk"]
    found = [(row, middle) for row in rows for middle in places(network, recordings.samples(examples.table, row))]
    return np.array(found, np.int64).reshape(-1, 2)


def mined(network, examples, path):
    """What `mine` finds, kept in a file as long as the table has as many rows."""
    if os.path.exists(path):
        with np.load(path) as stored:
            if stored["rows"] == len(examples.table["name"]):
                return stored["hard"]
    hard = mine(network, examples)
    with replacing(path) as part:
        np.savez(part, hard=hard, rows=len(examples.table["name"]))
    hours = examples.table["length"][examples.rows["talk"]].sum() / RATE / 3600
    print(f"{len(hard)} places in {hours:.1f} h of talk are taken for a command", flush=True)
    return hard


class CleanAnswers:
    """The published network's logits for clips as recorded, asked for when they are needed."""

    def __init__(self, network, table):
        self.network, self.table, self.known = network, table, {}

    @torch.no_grad()
    def __call__(self, rows):
        """Logits [n, words] for rows of the table."""
        new = [row for row in dict.fromkeys(rows.tolist()) if row not in self.known]
        if new:
            waves = torch.from_numpy(scaled(np.stack([recordings.samples(self.table, row, 0, WINDOW) for row in new])))
            self.known.update(zip(new, self.network(waves)))
        return torch.stack([self.known[row] for row in rows.tolist()])


def loss_of(logits, batch, answers, mixture):
    """The mean loss of logits [n, outputs]: labels, and for words as recorded a part of the published answers, at a temperature."""
    count, wanted = logits.shape[1], torch.from_numpy(batch.targets)
    labelled = torch.nn.functional.cross_entropy(logits, wanted, reduction="none")
    taught = torch.from_numpy(batch.rows >= 0)
    if taught.any():
        known = answers(batch.rows[batch.rows >= 0])
        soft = torch.softmax(torch.nn.functional.pad(known / mixture.temperature, (0, count - known.shape[1]), value=-torch.inf), dim=1)
        loss = -(soft * torch.log_softmax(logits[taught] / mixture.temperature, dim=1)).sum(dim=1) * mixture.temperature**2
        share = torch.full((len(loss),), mixture.taught)
        # What the published network does not know as recorded has nothing to teach.
        kept = (known.argmax(dim=1) == wanted[taught]).float() if mixture.taught == 1 else torch.ones(len(loss))
        labelled = labelled.masked_scatter(taught, kept * (share * loss + (1 - share) * labelled[taught]))
    return labelled.mean()


def rate_at(step, steps, peak):
    """Warm-up, then a cosine down to a fifth."""
    return peak * min(1, (step + 1) / WARM_UP) * (0.6 + 0.4 * math.cos(math.pi * min(1, step / steps)))


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--published", required=True, help="the weights of the published network")
    parser.add_argument("--out", required=True, help="the checkpoint to write, and to continue")
    parser.add_argument("--network", choices=MIXTURES, default="rejects", help="what it is trained for")
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--seconds", type=float, help="length of the window; 1.5 for `rejects` and `beside`, else 1")
    parser.add_argument("--proposals", help="what the program proposes in talk: a file of mine.py")
    parser.add_argument("--begin", help="FILE,SHARE: weights to begin with, and their share; the rest are the published ones")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    seconds = options.seconds or (1.5 if options.network in ("rejects", "beside") else 1.0)
    table = recordings.load_all(options.data, options.cache)
    weights = read(options.published).weights
    published, network = qbc6(weights), qbc6(weights, ADDED)
    if options.begin:
        path, share = options.begin.rsplit(",", 1)
        network = qbc6(mixed(read(path).weights, weights, float(share)), ADDED)
    examples = Examples(table, int(seconds * RATE), options.seed, mixture=MIXTURES[options.network])
    if options.network != "keeps":
        examples.hard = mined(published, examples, os.path.join(options.cache, "rejecter-hard.npz"))
    if options.proposals:
        with np.load(options.proposals) as stored:
            proposals = stored["hard"]
        examples.hard = np.concatenate([examples.hard, np.repeat(proposals, max(1, len(examples.hard) // len(proposals)), axis=0)])
    answers = CleanAnswers(published, table)
    optimizer = torch.optim.AdamW(network.parameters(), options.rate, weight_decay=1e-4)
    average, first = {name: value.clone() for name, value in network.state_dict().items()}, 0
    if os.path.exists(options.out):
        state = checkpoint.load(options.out)
        network.load_state_dict(state["network"]), optimizer.load_state_dict(state["optimizer"])
        average, first = state["average"], state["step"]
    kind, losses, began = training_type(), [], time.time()
    for step in range(first, options.steps):
        batch = examples.batch(step)
        features = network.features(torch.from_numpy(batch.waves))
        with torch.autocast("cpu", kind, enabled=kind != torch.float32):
            logits = network.decide(features)
        loss = loss_of(logits.float(), batch, answers, examples.mixture)
        set_rate(optimizer, rate_at(step, options.steps, options.rate))
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
        keep = min(DECAY, (1 + step) / (10 + step))
        for name, value in network.state_dict().items():
            average[name].lerp_(value, 1 - keep)
        if (step + 1) % SAVE_EVERY == 0 or step + 1 == options.steps:
            state = {"network": network.state_dict(), "optimizer": optimizer.state_dict(), "average": average, "step": step + 1}
            checkpoint.save(options.out, state | {"seconds": seconds})
            print(f"step {step + 1}: loss {np.mean(losses[-SAVE_EVERY:]):.3f}, {time.time() - began:.0f} s", flush=True)


if __name__ == "__main__":
    main()
