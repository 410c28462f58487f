"""Trains the model and exports it: `python train.py --data DIR --out Models/commands`. Stops and resumes at any pass."""

import argparse
import copy
import math
import os
import time

import numpy as np
import torch
from torch import nn

import export
import frontend
import recordings
import validation
from examples import COMMANDS, Examples, SILENCE, UNKNOWN
from network import Spotter


def arguments():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--data",
        required=True,
        action="append",
        help="folder of recordings (see README.md for the layout); may be repeated",
    )
    parser.add_argument("--out", required=True, help="model folder to write")
    parser.add_argument("--runs", default=os.path.join(os.path.dirname(__file__), "runs"), help="cache and checkpoints")
    parser.add_argument("--passes", type=int, default=90)
    parser.add_argument("--batch", type=int, default=192)
    parser.add_argument("--rate", type=float, default=0.08, help="peak learning rate")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--channels", type=int, nargs=4, default=[64, 80, 112, 160])
    parser.add_argument("--head", type=int, default=192)
    parser.add_argument("--name", default="commands")
    return parser.parse_args()


def learning_rate(step, total, peak):
    """Linear warm-up over 3 %, then a cosine down to zero."""
    warm = 0.03 * total
    return peak * step / warm if step < warm else peak * 0.5 * (1 + math.cos(math.pi * (step - warm) / (total - warm)))


def mask(features, generator):
    """SpecAugment: up to two runs of ≤ 10 columns and two of ≤ 5 bands set to the mean."""
    for row in features:
        for _ in range(2):
            width, at = generator.integers(0, 11), generator.integers(0, frontend.COLUMNS)
            row[at : at + width] = 0
            width, at = generator.integers(0, 6), generator.integers(0, frontend.BANDS)
            row[:, at : at + width] = 0
    return features


def normaliser(examples):
    """Mean and deviation of the log energies of what the network will see, two numbers for all bands."""
    examples.pass_number = 0
    logs = np.concatenate([np.log(examples[i][0] + frontend.FLOOR).ravel() for i in range(8)])
    return float(round(logs.mean(), 4)), float(round(logs.std(), 4))


@torch.no_grad()
def probabilities(model, waves, mean, deviation, temperature=1.0):
    model.eval()
    out = []
    for begin in range(0, len(waves), 256):
        features = frontend.log_mel(waves[begin : begin + 256], mean, deviation)
        logits = model(torch.from_numpy(features.transpose(0, 2, 1).copy()))
        out.append(torch.softmax(logits / temperature, dim=1).numpy())
    return np.concatenate(out)


class Sets:
    """The validation sets of one table, scored together."""

    def __init__(self, table):
        self.clips, self.truth = validation.clips(table)
        self.negatives = {
            "running": validation.running(table),
            "tails": validation.tails(table),
            "sounds": validation.sounds(table),
        }
        self.labels = COMMANDS + [UNKNOWN, SILENCE]

    def report(self, model, mean, deviation, output_labels, temperature=1.0):
        score = lambda waves: validation.grouped(
            probabilities(model, waves, mean, deviation, temperature), output_labels, self.labels
        )
        clips = score(self.clips)
        result = validation.accuracy(clips, self.truth)
        result["ece"] = validation.calibration_error(clips, self.truth)
        for name, waves in self.negatives.items():
            result[f"{name}@0.8"] = validation.false_accepts(score(waves), 0.8)
        return {key: float(value) for key, value in result.items()}


def line(result):
    return "  ".join(f"{key} {value:.4f}" if key == "ece" else f"{key} {value:.2f}" for key, value in result.items())


def main():
    options = arguments()
    torch.set_num_threads(options.threads)
    torch.manual_seed(options.seed)
    os.makedirs(options.runs, exist_ok=True)
    table = recordings.load_all(options.data, options.runs)
    examples, sets = Examples(table, options.batch, options.seed), Sets(table)
    model = Spotter(len(examples.outputs), options.channels, options.head)
    average = copy.deepcopy(model)
    decayed = [p for p in model.parameters() if p.ndim > 1]
    plain = [p for p in model.parameters() if p.ndim <= 1]
    optimiser = torch.optim.SGD(
        [{"params": decayed, "weight_decay": 5e-4}, {"params": plain, "weight_decay": 0}],
        lr=options.rate,
        momentum=0.9,
        nesterov=True,
    )
    loss_of = nn.CrossEntropyLoss(label_smoothing=0.05)
    checkpoint = os.path.join(options.runs, f"{options.name}-{options.seed}.pt")
    first = 0
    if os.path.exists(checkpoint):
        state = torch.load(checkpoint, weights_only=True)
        model.load_state_dict(state["model"]), average.load_state_dict(state["average"])
        optimiser.load_state_dict(state["optimiser"])
        first, mean, deviation = state["pass"], state["mean"], state["deviation"]
        print(f"resuming after pass {first}", flush=True)
    else:
        mean, deviation = normaliser(examples)
    print(
        f"{sum(p.numel() for p in model.parameters())} parameters, {len(examples)} batches a pass, "
        f"{len(examples.outputs)} outputs, mean {mean}, deviation {deviation}",
        flush=True,
    )
    total = options.passes * len(examples)
    for number in range(first, options.passes):
        begun, losses = time.time(), []
        examples.pass_number = number
        loader = torch.utils.data.DataLoader(examples, batch_size=None, num_workers=1, prefetch_factor=8)
        generator = np.random.default_rng([options.seed, 4, number])
        model.train()
        for step, (energies, targets) in enumerate(loader):
            rate = learning_rate(number * len(examples) + step, total, options.rate)
            for group in optimiser.param_groups:
                group["lr"] = rate
            features = (np.log(energies.numpy() + np.float32(frontend.FLOOR)) - mean) / deviation
            features = torch.from_numpy(mask(features.astype(np.float32), generator))
            loss = loss_of(model(features.transpose(1, 2)), targets)
            optimiser.zero_grad(set_to_none=True)
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
            with torch.no_grad():
                keep = min(0.999, (1 + number * len(examples) + step) / (10 + number * len(examples) + step))
                for a, b in zip(average.state_dict().values(), model.state_dict().values()):
                    a.lerp_(b, 1 - keep) if a.is_floating_point() else a.copy_(b)
        torch.save(
            {
                "model": model.state_dict(),
                "average": average.state_dict(),
                "optimiser": optimiser.state_dict(),
                "pass": number + 1,
                "mean": mean,
                "deviation": deviation,
            },
            checkpoint + ".part",
        )
        os.replace(checkpoint + ".part", checkpoint)
        text = f"pass {number + 1}/{options.passes}  loss {np.mean(losses):.4f}  {time.time() - begun:.0f} s"
        if (number + 1) % 4 == 0 or number + 1 == options.passes:
            text += "  " + line(sets.report(average, mean, deviation, examples.output_labels()))
        print(text, flush=True)
    export.write(options, average, examples, sets, mean, deviation)


if __name__ == "__main__":
    main()
