"""Measures what the matrices of the phoneme network read, for 8-bit inference, and writes it into its weights.

    python -m Training.phonemes.ranges --data DIR --model Models/phonemes

Of talk by speakers who train, of which half is in noise. `export` comes before.
"""

import argparse
from pathlib import Path

import numpy as np
import torch
from safetensors.numpy import load_file, save_file

from Training.phonemes.in_noise import in_noise, noises
from Training.phonemes.network import Network, from_folder
from Training.phonemes.speakers import RATE, recordings

# Seconds of talk and of a window; the share of a matrix's inputs that is clipped.
SECONDS, WINDOW, CLIPPED = 80, 2, 1e-4


class Measured(Network):
    """The network, which notes what each matrix reads, in the order of its layers."""

    largest = {}

    def linear(self, x, name):
        value = float(x.abs().flatten()[::11].quantile(1 - CLIPPED))
        self.largest[name] = max(self.largest.get(name, 0.0), value)
        return super().linear(x, name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", required=True)
    parser.add_argument("--model", type=Path, required=True)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    network = Measured(from_folder(arguments.model)[0].numbers())
    samples, count = [], SECONDS * RATE
    for recording in recordings(arguments.data, "trains"):
        samples.append(recording)
        if sum(map(len, samples)) >= count:
            break
    talk = in_noise(np.concatenate(samples)[:count], noises(arguments.data, "tune"), 2, np.random.default_rng(3))
    with torch.no_grad():
        network(torch.tensor(talk.astype(np.float32).reshape(-1, WINDOW * RATE)))
    file = arguments.model / "network.safetensors"
    save_file(load_file(file) | {"ranges": np.array([*network.largest.values()], np.float32)}, file)
    file.chmod(0o644)


if __name__ == "__main__":
    main()
