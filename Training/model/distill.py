"""Soft targets for distillation, for the examples of a rendered epoch: rows of zeros where there is no answer."""

import os

import numpy as np
import torch

from Training.augment import render
from Training.augment.examples import Kind
from Training.data import log_mel
from Training.model.network import load_checkpoint, logits_of

# Examples in one step, which bounds the memory.
CHUNK = 4096


class PublishedAnswers:
    """The answers of published networks to the clips that an epoch's examples were made of."""

    def __init__(self, folder, answers, table):
        self.folder, self.answers, self.table = folder, answers, table

    def __call__(self, number):
        """Posteriors [n, outputs] for the whole words of rendered epoch `number`, zeros for all else."""
        with np.load(render.path(self.folder, number)) as stored:
            names = np.where(stored["kinds"] == Kind.WORDS, self.table["name"][np.maximum(stored["sources"], 0)], "")
        return self.answers(names)


class Teachers:
    """The mean posterior of several of our networks for the epochs rendered in a folder.

    They answer for commands alone, whose recordings may be mislabelled or empty; what was rendered as no word certainly is none.
    """

    def __init__(self, checkpoints, outputs, folder, commands):
        self.networks = [load_checkpoint(path, outputs) for path in checkpoints]
        self.key = "-".join(os.path.splitext(os.path.basename(path))[0] for path in checkpoints)
        self.folder, self.commands = folder, commands

    def __call__(self, number):
        """Posteriors [n, outputs] for the commands of rendered epoch `number`, zeros for all else."""
        posteriors = self.of_all(number)
        with np.load(render.path(self.folder, number)) as stored:
            return posteriors * (stored["targets"] < self.commands)[:, None]

    def of_all(self, number):
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
