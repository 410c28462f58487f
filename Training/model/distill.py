"""What teachers answer to the examples of a rendered epoch: soft targets, rows of zeros where there is no answer, and speech embeddings."""

import os
import sys

import numpy as np
import torch

from Training.augment import render, speech_teacher
from Training.augment.examples import Kind
from Training.data import log_mel
from Training.data.files import replacing
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
        self.outputs = outputs
        self.key = "-".join(os.path.splitext(os.path.basename(path))[0] for path in checkpoints)
        self.folder, self.commands = folder, commands

    def __call__(self, number):
        """Posteriors [n, outputs] float16 for the commands of rendered epoch `number`, zeros for all else; computed once and kept beside it."""
        # An earlier version kept the answers to all examples in `soft-<key>-…`.
        path = os.path.join(self.folder, f"soft-commands-{self.key}-{number:02}.npy")
        if not os.path.exists(path):
            with np.load(render.path(self.folder, number)) as stored:
                targets, logs = stored["targets"], stored["logs"]
            rows = np.flatnonzero(targets < self.commands)
            answers = np.zeros((len(targets), self.outputs), np.float16)
            for i in range(0, len(rows), CHUNK):
                answers[rows[i : i + CHUNK]] = self.posteriors(logs[rows[i : i + CHUNK]])
            with replacing(path) as part:
                np.save(part, answers)
        return np.load(path)

    def posteriors(self, logs):
        """The mean posteriors [n, outputs] for logs of energies [n, 79, 40]."""
        features = log_mel.normalized(np.exp(logs.astype(np.float32)))
        each = [torch.softmax(logits_of(network, features), dim=1) for network in self.networks]
        return (sum(each) / len(each)).numpy()


class SpeechAnswers:
    """The speech teacher's answers to the epochs rendered in a folder, each number with mean 0 and deviation 1 over the first epoch."""

    def __init__(self, folder):
        self.folder, numbers = folder, [n for n in render.rendered(folder) if os.path.exists(speech_teacher.path(folder, n))]
        if not numbers:
            sys.exit(f"{folder}: no answers of a speech teacher; render it anew with augment/render.py --without-noise --speech-teacher")
        answers = self._read(numbers[0])[0]
        self.mean, self.deviation = np.nanmean(answers, axis=0), np.nanstd(answers, axis=0) + 1e-3

    def _read(self, number):
        path = speech_teacher.path(self.folder, number)
        if not os.path.exists(path):
            sys.exit(f"{path}: missing; the speech teacher must have heard every rendered epoch")
        with np.load(path) as stored:
            return stored["answers"].astype(np.float32), stored["places"].astype(np.int64)

    def __call__(self, number):
        """Answers [n, 96] for rendered epoch `number`, NaN where there is none, and their places [n]."""
        answers, places = self._read(number)
        return (answers - self.mean) / self.deviation, places


def speech_loss(predicted, answers, places):
    """The mean squared error of predicted answers [n, places · 96] at the places [n] that were asked about; NaN answers do not count."""
    chosen = predicted.view(len(places), -1, answers.shape[1])[torch.arange(len(places)), places]
    known = torch.isfinite(answers[:, 0])
    errors = ((chosen - answers.nan_to_num()) ** 2).mean(dim=1)
    return (errors * known).sum() / known.sum().clamp(min=1)
