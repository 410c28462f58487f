"""Writes what the phoneme network hears in other people's talk, for the thresholds of typed words.

    python -m Training.phonemes.talk --data DIR --model Models/phonemes [--hours 1.5]

The speakers that calibrate, by a hash of their names; others measure. Every second piece of it is in noise, in which the network is less sure and
more sounds alike. Each second is heard with half a second before and after it.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file

from Training.phonemes.in_noise import in_noise, noises
from Training.phonemes.network import from_folder
from Training.phonemes.speakers import RATE, recordings

# Symbols of a frame that are kept: those that lose less than this many nats, and so many.
MOST_LOSS, MOST_SYMBOLS = 6.0, 8


def heard(network, samples, windows=16):
    """Log-probabilities of each second of talk, `[frames, symbols]`."""
    samples = np.concatenate([np.zeros(RATE // 2, np.float32), samples, np.zeros(RATE, np.float32)])
    starts = range(0, len(samples) - 2 * RATE + 1, RATE)
    for first in range(0, len(starts), windows):
        batch = np.stack([samples[start : start + 2 * RATE] for start in starts[first : first + windows]])
        with torch.no_grad():
            answer = network(torch.tensor(batch)).numpy()[:, 25:75]
        yield answer.reshape(-1, answer.shape[2])


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--hours", type=float, default=1.5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    network, _ = from_folder(arguments.model)
    samples, left = [], int(arguments.hours * 3600 * RATE)
    for recording in recordings(arguments.data, "calibrates"):
        samples.append(recording[:left])
        left -= len(samples[-1])
        if left <= 0:
            break
    counts, symbols, losses = [], [], []
    talk = in_noise(np.concatenate(samples), noises(arguments.data, "tune"), 2, np.random.default_rng(3))
    for answer in heard(network, talk):
        answer = answer - answer.max(1, keepdims=True)
        order = np.argsort(-answer, 1, kind="stable")[:, :MOST_SYMBOLS]
        found = np.take_along_axis(answer, order, 1)
        kept = found > -MOST_LOSS
        counts.append(kept.sum(1))
        symbols.append(order[kept])
        losses.append(np.rint(-found[kept] * 255 / MOST_LOSS))
    tensors = {"counts": counts, "symbols": symbols, "losses": losses}
    file = arguments.model / "talk.safetensors"
    save_file({name: np.concatenate(parts).astype(np.uint8) for name, parts in tensors.items()}, file)
    file.chmod(0o644)


if __name__ == "__main__":
    main()
