"""Trains the network: `python train.py --data DIR --runs RUNS --bank BANK`; export.py makes a model folder of its checkpoint.

Stops and resumes at any pass. The passes of examples come from disk, where bank.py renders them; the network sees each with
other colours and masks every time.
"""

import argparse
import copy
import math
import os
import sys
import time

import numpy as np
import torch

import bank
import teaching
from examples import COMMANDS
from network import Spotter
from scores import Sets, line


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--data",
        required=True,
        action="append",
        help="folder of recordings (see README.md for the layout); may be repeated",
    )
    parser.add_argument("--runs", required=True, help="folder of the recordings' cache")
    parser.add_argument("--bank", required=True, help="folder of the rendered passes, and of the checkpoints")
    parser.add_argument("--words", default=" ".join(COMMANDS), help="the words that shall fire")
    parser.add_argument("--passes", type=int, default=80)
    parser.add_argument("--batch", type=int, default=bank.BATCH)
    parser.add_argument("--rate", type=float, default=0.1, help="peak learning rate")
    parser.add_argument("--decay", type=float, default=4e-4, help="weight decay")
    parser.add_argument("--dropout", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--channels", type=int, nargs=4, default=[64, 96, 128, 192])
    parser.add_argument("--head", type=int, default=192)
    parser.add_argument("--name", default="commands")
    parser.add_argument("--begin", help="checkpoint whose averaged weights to begin with")
    parser.add_argument(
        "--teachers", nargs="*", default=[], help="checkpoints whose averaged posteriors are learnt from"
    )
    parser.add_argument("--teach", help="folder of passes that the teachers look at (default: --bank)")
    parser.add_argument("--trust", type=float, default=0.6, help="weight of the teachers' part of the loss")
    return parser.parse_args()


def learning_rate(step, total, peak):
    """Linear warm-up over 3 %, then a cosine down to zero."""
    warm = 0.03 * total
    return peak * step / warm if step < warm else peak * 0.5 * (1 + math.cos(math.pi * (step - warm) / (total - warm)))


def loss_of(logits, targets, either, smoothing=0.05):
    """Cross entropy [n] in which a second output may be right too (`either` ≥ 0), with label smoothing."""
    logs = torch.log_softmax(logits, dim=1)
    right = logs.gather(1, targets[:, None])[:, 0]
    also = logs.gather(1, either.clamp_min(0)[:, None])[:, 0]
    right = torch.where(either >= 0, torch.logaddexp(right, also), right)
    return -((1 - smoothing) * right + smoothing * logs.mean(dim=1))


def optimiser_of(model, options):
    """SGD; no decay on biases and normalisation."""
    matrices = [p for p in model.parameters() if p.ndim > 1]
    vectors = [p for p in model.parameters() if p.ndim <= 1]
    groups = [{"params": matrices, "weight_decay": options.decay}, {"params": vectors, "weight_decay": 0}]
    return torch.optim.SGD(groups, lr=options.rate, momentum=0.9, nesterov=True)


@torch.no_grad()
def follow(average, model, seen):
    """Moves the averaged weights towards the model's; the average grows longer at first."""
    keep = min(0.999, (1 + seen) / (10 + seen))
    for a, b in zip(average.state_dict().values(), model.state_dict().values()):
        a.lerp_(b, 1 - keep) if a.is_floating_point() else a.copy_(b)


def train_pass(number, steps, model, average, optimiser, options, teach, commands):
    """One pass; the first `commands` outputs are the words that shall fire. Returns the mean loss."""
    losses = []
    model.train()
    for step, (features, targets, either, soft) in enumerate(
        bank.batches(options.bank, number, options.seed, options.batch, teach)
    ):
        seen = number * steps + step
        for group in optimiser.param_groups:
            group["lr"] = learning_rate(seen, options.passes * steps, options.rate)
        logits = model(features)
        loss = loss_of(logits, targets, either)
        if soft is not None:
            distance = -(soft * torch.log_softmax(logits, dim=1)).sum(dim=1)
            # Recordings of a word may be mislabelled or void; what was rendered as no word surely is none.
            trust = options.trust * (targets < commands)
            loss = (1 - trust) * loss + trust * distance
        loss = loss.mean()
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        optimiser.step()
        follow(average, model, seen)
        losses.append(loss.item())
    return np.mean(losses)


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    if not os.path.exists(bank.path(options.bank, 0)):
        sys.exit(f"{options.bank}: no rendered passes; run bank.py first")
    table, examples = bank.load_examples(options.data, options.runs, options.words.split())
    sets, outputs, steps = Sets(table, examples.commands), examples.outputs, len(examples.kinds) // options.batch
    teach = (
        teaching.Teachers(options.teachers, len(outputs), options.teach or options.bank) if options.teachers else None
    )
    model = Spotter(len(outputs), options.channels, options.head, options.dropout)
    if options.begin:
        model.load_state_dict(torch.load(options.begin, weights_only=True)["average"])
    average, optimiser = copy.deepcopy(model), optimiser_of(model, options)
    checkpoint, first = os.path.join(options.bank, f"{options.name}-{options.seed}.pt"), 0
    if os.path.exists(checkpoint):
        state = torch.load(checkpoint, weights_only=True)
        if state["outputs"] != outputs:
            sys.exit(f"{checkpoint}: was trained on other words; remove it, or choose another --bank")
        model.load_state_dict(state["model"]), average.load_state_dict(state["average"])
        optimiser.load_state_dict(state["optimiser"])
        first = state["pass"]
        print(f"resuming after pass {first}", flush=True)
    parameters = sum(p.numel() for p in model.parameters())
    print(f"{parameters} parameters, {steps} batches a pass, {len(outputs)} outputs", flush=True)
    for number in range(first, options.passes):
        begun = time.time()
        loss = train_pass(number, steps, model, average, optimiser, options, teach, len(examples.commands))
        state = {"model": model.state_dict(), "average": average.state_dict(), "optimiser": optimiser.state_dict()}
        state |= {"pass": number + 1, "channels": options.channels, "head": options.head, "outputs": outputs}
        torch.save(state, checkpoint + ".part")
        os.replace(checkpoint + ".part", checkpoint)
        text = f"pass {number + 1}/{options.passes}  loss {loss:.4f}  {time.time() - begun:.0f} s"
        if (number + 1) % 4 == 0 or number + 1 == options.passes:
            text += "  " + line(sets.report(average, examples.output_labels()))
        print(text, flush=True)


if __name__ == "__main__":
    main()
