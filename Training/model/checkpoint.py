"""Checkpoints of trainings: dicts of state written by torch.save."""

import torch

from Training.data.files import replacing

# Keys of older versions and what they are called now.
OLD_KEYS = {"pass": "epoch", "optimiser": "optimizer"}


def save(path, state):
    """Writes a checkpoint, in place of an earlier one."""
    with replacing(path) as part:
        torch.save(state, part)


def load(path):
    """The state of a checkpoint, also of one that an older version wrote."""
    return {OLD_KEYS.get(key, key): value for key, value in torch.load(path, weights_only=True).items()}
