"""The one source of random numbers: a NumPy generator for each purpose, so that no two purposes share their numbers."""

import numpy as np

# The constant that keeps a purpose apart from the others that take the same seed. Validation sets and renders depend on these
# numbers: change none. None means that the seed and the caller's numbers suffice.
_PURPOSES = {
    # From a seed that the user chooses.
    "rooms and noises": 1,
    "epoch order": 2,
    "example": 3,
    "training batch": 4,
    "voice activity": 6,
    "mining": 8,
    "voice activity, measured": 9,
    "ablation batch": 7,
    "rejecter examples": 10,
    "flatspeech epoch": None,
    "embedding examples": None,
    "embedding epoch": None,
    "degradation": 2,
    "degraded clips": 0,
    "levels of silence": 1,
    "stream": None,
    # Fixed for good, so that figures of different days can be compared.
    "adapted commands": 2,
    "open-set takes": 3,
    "own-voice takes": 5,
    "negative set": 6,
    "open-set clips": 7,
    "text encoder": 9,
    "fixtures": 7,
    "validation clips": 20,
    "validation running speech": 21,
    "validation word endings": 22,
    "validation sounds": 23,
    "synthetic words": 30,
    "int8 ranges": 30,
    "sentences": 40,
    "neural words": 41,
    "neural sentences": 42,
    "neural dictionary words": 43,
    "neural phrases": 44,
    "phases of pictures": 45,
    "noise above pictures": 46,
    "bootstrap": 50,
    "noise without words": 51,
    "random music": 52,
    "strangers' clips": 53,
    "places of the speech teacher": 60,
    "reference inputs": 100,
    "confirming reference": 101,
    "confirming fixture": 102,
    "promises": 103,
}


def generator(purpose, *numbers, seed=None):
    """A NumPy generator for a purpose of the table above; `numbers` tell apart its epochs, batches or files."""
    constant = _PURPOSES[purpose]
    parts = ([] if seed is None else [seed]) + ([] if constant is None else [constant]) + list(numbers)
    return np.random.default_rng(parts)
