"""The windows that the networks run on, as the front end's columns: to calibrate with, and others to answer."""

import json
import tarfile

import numpy as np
import safetensors.numpy

from .network import recipe

CALIBRATION, TEST = 128, 256
# Of some words there are few.
EACH = 24


def recorded(data):
    """Clips of the validation speakers, as many of each word, [n, 16000]."""
    recordings = recipe("recordings")

    waves = []
    for archive in sorted(data.glob("speech_commands-*.tar")):
        share = EACH
        with tarfile.open(archive) as tar:
            for member in sorted(tar.getmembers(), key=lambda member: member.name):
                if (
                    share
                    and member.name.endswith(recordings.AUDIO)
                    and recordings.partition(member.name) == "validation"
                ):
                    wave = recordings.decode(tar.extractfile(member).read())[: recordings.RATE]
                    waves.append(np.pad(wave, (0, recordings.RATE - len(wave))) / 32768)
                    share -= 1
    return np.array(waves)


def stored(model):
    """The waveforms beside the model, whose answers by PyTorch are known."""
    tensors = safetensors.numpy.load_file(model / "reference.safetensors")
    return (tensors["waveforms"].astype(np.float64) - 128) / 128 * tensors["gains"].astype(np.float64)[:, None]


def columns(waves, front):
    """[n, columns, channels], float32, by the definition in Models/FORMAT.md and in double precision."""
    if front["kind"] == "waveform":
        return (waves[:, :, None] * front["scale"]).astype(np.float32)
    import torch

    reference = recipe("reference")

    return reference.log_mel(torch.from_numpy(waves), front).numpy().astype(np.float32)


def load(model, data):
    """Windows to calibrate with, windows to answer, and where they come from."""
    front = json.loads((model / "model.json").read_text())["frontEnd"]
    waves = recorded(data) if data else []
    source = "clips of validation speakers"
    if not len(waves):
        waves, source = stored(model), "the waveforms stored beside the model"
    order = np.random.default_rng(5).permutation(len(waves))
    found = columns(np.asarray(waves, np.float64)[order], front)
    split = min(CALIBRATION, len(found) // 2)
    test = found[split : split + TEST]
    return found[:split], test, f"calibrated on {split}, answers compared on {len(test)} {source}"
