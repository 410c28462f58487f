"""Writes what the phoneme network hears in other people's talk, for the thresholds of typed words.

    python -m Training.phonemes.talk --data DIR --model Models/phonemes [--hours 1.5]

Half of the speakers, by a hash of their names; the other half is for measuring. Each second is heard with half a second before and after it.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import save_file

from Training.phonemes.network import Network
from Training.phonemes.speakers import RATE, recordings

# Symbols of a frame that are kept: those that lose less than this many nats, and so many.
MOST_LOSS, MOST_SYMBOLS = 6.0, 8


def heard(network, samples, windows=16):
    """Log-probabilities of each second of talk, `[frames, symbols]`."""
    samples = np.concatenate([np.zeros(RATE // 2, np.float32), samples, np.zeros(RATE, np.float32)])
    starts = range(0, len(samples) - 2 * RATE + 1, RATE)
    for first in range(0, len(starts), windows):
        batch = np.stack([samples[start : start + 2 * RATE] for start in starts[first : first + windows]])
        yield network(torch.tensor(batch)).numpy()[:, 25:75].reshape(-1, len(network.symbols))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--hours", type=float, default=1.5)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    network = Network(arguments.model)
    samples, left = [], int(arguments.hours * 3600 * RATE)
    for recording in recordings(arguments.data, 0):
        samples.append(recording[:left])
        left -= len(samples[-1])
        if left <= 0:
            break
    counts, symbols, losses = [], [], []
    for answer in heard(network, np.concatenate(samples)):
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
