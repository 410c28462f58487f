"""Published keyword networks as teachers: their answers to examples, before noise is added.

They were trained on three times as many clips as are at hand. They know 35 words and no running speech, so they are asked
about those words alone.
"""

import importlib.util
import os

import numpy as np

# The two that tell all 35 words apart, and the one that knows the commands best.
ALL_WORDS, COMMANDS = ("matchboxnet", "bcresnet2"), ("kwt1",)


class PublishedTeachers:
    """Posteriors over `words` by the networks of a folder that has a `teachers.py`; `labels` are the twelve classes."""

    def __init__(self, folder, names=ALL_WORDS):
        specification = importlib.util.spec_from_file_location("published_teachers", os.path.join(folder, "teachers.py"))
        module = importlib.util.module_from_spec(specification)
        specification.loader.exec_module(module)
        self.words, self.labels = list(module.WORDS35), list(module.LABELS12)
        self.networks = module.Teachers(names)

    def __call__(self, waves):
        """Waveforms [n, 16000] float32 → posteriors [n, words]."""
        return np.asarray(self.networks.words(waves))


def over_outputs(taught, words, outputs, other):
    """The teachers' posteriors [n, words] over a network's outputs [n, outputs]; a word without an output counts as `other`."""
    matrix = np.zeros((len(words), len(outputs)), np.float32)
    for i, word in enumerate(words):
        matrix[i, outputs.index(word) if word in outputs else other] = 1
    return taught.astype(np.float32) @ matrix
