"""The windows that the networks run on, as the front end's columns: some for int8 calibration, others for comparison.

    python -m Benchmarks.peers.windows MODEL CALIBRATION TEST [DATA]

Writes two .npy files [n, columns, channels], and prints where the windows come from. A process of its own, because PyTorch
computes the columns, and is one of those that are compared.
"""

import json
import sys
from pathlib import Path

import numpy as np
import safetensors.numpy
import torch

from Training.data import recordings, split
from Training.data.audio import WINDOW
from Training.export import reference

CALIBRATION, TEST = 128, 256
# Clips of each word.
EACH = 24


def recorded(data):
    """Clips of the tuning speakers, equally many of each word, [n, 16000]."""
    waves = []
    for archive in sorted(data.glob("speech_commands-*.tar")):
        of_tuning = (data for name, data in recordings.read_tar(archive) if split.partition(name) == "tune")
        for _, clip in zip(range(EACH), of_tuning):
            wave = recordings.decode(clip)[:WINDOW]
            waves.append(np.pad(wave, (0, WINDOW - len(wave))) / 32768)
    return np.array(waves)


def stored(model):
    """The waveforms [n, 16000] of a model's reference answers."""
    tensors = safetensors.numpy.load_file(model / "reference.safetensors")
    return reference.as_samples(tensors["waveforms"], tensors["gains"])


def columns(waves, front):
    """Waveforms [n, 16000] → [n, columns, channels] float32, as Models/FORMAT.md defines them, in double precision."""
    if front["kind"] == "waveform":
        return (waves[:, :, None] * front["scale"]).astype(np.float32)
    return reference.log_mel(torch.from_numpy(waves), front).numpy().astype(np.float32)


def load(model, data):
    """Windows for calibration, windows for comparison, and a sentence on where they come from."""
    front = json.loads((model / "model.json").read_text())["frontEnd"]
    waves = recorded(data) if data else []
    source = "clips of tuning speakers"
    if not len(waves):
        waves, source = stored(model), "the waveforms stored beside the model"
    order = np.random.default_rng(5).permutation(len(waves))
    found = columns(np.asarray(waves, np.float64)[order], front)
    first = min(CALIBRATION, len(found) // 2)
    test = found[first : first + TEST]
    return found[:first], test, f"calibrated on {first}, answers compared on {len(test)} {source}"


def main():
    model, calibration, test, *data = map(Path, sys.argv[1:])
    first, second, source = load(model, *data or [None])
    np.save(calibration, first)
    np.save(test, second)
    print(source)


if __name__ == "__main__":
    main()
