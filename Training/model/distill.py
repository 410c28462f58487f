"""Soft targets for distillation: the mean posterior of trained networks for a rendered epoch."""

import os

import numpy as np
import torch

from Training.augment import render
from Training.data import log_mel
from Training.model.network import load_checkpoint, logits_of

# Examples in one step, which bounds the memory.
CHUNK = 4096


class Teachers:
    """The mean posterior of several networks for the epochs rendered in a folder."""

    def __init__(self, checkpoints, outputs, folder):
        self.networks = [load_checkpoint(path, outputs) for path in checkpoints]
        self.key = "-".join(os.path.splitext(os.path.basename(path))[0] for path in checkpoints)
        self.folder = folder

    def __call__(self, number):
        """Posteriors [n, outputs] float16 for rendered epoch `number`; computed once and kept beside it."""
        path = os.path.join(self.folder, f"soft-{self.key}-{number:02}.npy")
        if not os.path.exists(path):
            with np.load(render.path(self.folder, number)) as stored:
                logs, parts = stored["logs"], []
            for i in range(0, len(logs), CHUNK):
                features = log_mel.normalized(np.exp(logs[i : i + CHUNK].astype(np.float32)))
                posteriors = [torch.softmax(logits_of(network, features), dim=1) for network in self.networks]
                parts.append((sum(posteriors) / len(posteriors)).numpy().astype(np.float16))
            np.save(path, np.concatenate(parts))
        return np.load(path)
