"""Checkpoints of trainings: dicts of state written by torch.save."""

import numpy as np
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


def same(weight, other):
    """Whether two arrays are one weight; checkpoints may be kept in half precision."""
    return weight.shape == other.shape and np.allclose(weight, other, rtol=1e-3, atol=2e-3)
