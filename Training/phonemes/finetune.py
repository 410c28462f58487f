"""Teaches the phoneme network to answer in noise what it answers for the same speech without.

    python -m Training.phonemes.finetune --data DIR --wheel hama-1.7.0-py3-none-any.whl --checkpoint FILE [--steps 12000]

Resumes from the checkpoint. `export --checkpoint FILE` writes it into the model.
"""

import argparse
import math
from pathlib import Path

import numpy as np
import torch

from Training.phonemes.mixture import Mixture
from Training.phonemes.network import from_package

WINDOWS, WARM, DECAY, KEPT = 16, 200, 0.01, 0.999
# The last symbol is the blank. Blanks are most frames; each other symbol counts so much more.
BLANK, SOUNDS = -1, 3.0
EVERY, CHECKS = 500, 12


def loss(answer, target):
    """How far the answers are from the targets, in nats a frame, both `[windows, frames, symbols]` log-probabilities."""
    distance = (target.exp() * (target - answer)).sum(2)
    weights = 1 + SOUNDS * (1 - target[:, :, BLANK].exp())
    return (distance * weights).sum() / weights.sum()


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--wheel", type=Path, required=True)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--steps", type=int, default=12000)
    parser.add_argument("--rate", type=float, default=1.5e-4)
    parser.add_argument("--start", type=Path, help="a checkpoint to go on from, whose numbers and the package's are averaged")
    parser.add_argument("--share", type=float, default=0.4, help="of its numbers")
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    teacher, student, mean = (from_package(arguments.wheel) for _ in range(3))
    optimizer = torch.optim.AdamW(student.parameters(), arguments.rate, weight_decay=DECAY)
    first = 0
    if arguments.start:
        state = torch.load(arguments.start, weights_only=False)["mean"]
        for network in (student, mean):
            network.load_state_dict({name: torch.lerp(old, state[name], arguments.share) for name, old in network.state_dict().items()})
    if arguments.checkpoint.exists():
        state = torch.load(arguments.checkpoint, weights_only=False)
        first = state["step"]
        student.load_state_dict(state["student"]), mean.load_state_dict(state["mean"]), optimizer.load_state_dict(state["optimizer"])

    def save(step):
        parts = {"student": student, "mean": mean, "optimizer": optimizer}
        torch.save({"step": step} | {name: part.state_dict() for name, part in parts.items()}, arguments.checkpoint)

    # The same windows at each check, of the same recordings.
    mixture = Mixture(arguments.data, 1)
    checks = [mixture.batch(WINDOWS) for _ in range(CHECKS)]
    checks = [(torch.tensor(clean), torch.tensor(mixed)) for clean, mixed in checks]
    mixture.generator = np.random.default_rng(1000 + first)
    losses = []
    for step in range(first, arguments.steps):
        if step % EVERY == 0:
            with torch.no_grad():
                checked = [float(loss(mean(mixed), teacher(clean))) for clean, mixed in checks]
            print(f"step {step}: {np.mean(losses or [0]):.4f} a step, {np.mean(checked):.4f} of the mean network", flush=True)
            losses = []
            save(step)
        # Down to a hundredth, as a cosine.
        rate = arguments.rate * min(1, (step + 1) / WARM) * (0.505 + 0.495 * math.cos(math.pi * step / arguments.steps))
        for group in optimizer.param_groups:
            group["lr"] = rate
        clean, mixed = (torch.tensor(side) for side in mixture.batch(WINDOWS))
        with torch.autocast("cpu", torch.bfloat16):
            with torch.no_grad():
                target = teacher(clean)
            distance = loss(student(mixed), target)
        optimizer.zero_grad()
        distance.backward()
        torch.nn.utils.clip_grad_norm_(student.parameters(), 1.0)
        optimizer.step()
        with torch.no_grad():
            kept = min(KEPT, (step + 1) / (step + 10))
            for new, old in zip(student.parameters(), mean.parameters()):
                old.lerp_(new, 1 - kept)
        losses.append(float(distance))
    save(arguments.steps)


if __name__ == "__main__":
    main()
