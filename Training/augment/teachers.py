"""Published keyword networks as teachers: their answers to the clips, as recorded.

They were trained on three times as many clips as are at hand. They know 35 words and no running speech, so they are asked
about clips of those words alone.
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


class ClipAnswers:
    """The answers that evaluate/suspects.py stored, by the name of a clip, over a network's outputs.

    Of the commands three networks answer, of the single other words two.
    """

    def __init__(self, path, outputs, other):
        with np.load(path) as stored:
            commands = [(i, str(label)) for i, label in enumerate(stored["labels"]) if not label.startswith("_")]
            words, all_words = stored["words35"].tolist(), stored["words"].copy()
            rest = [i for i, word in enumerate(words) if word not in {label for _, label in commands}]
            unknown = stored["posteriors"][:, stored["labels"].tolist().index("_unknown_")]
            all_words[:, rest] *= (unknown / (all_words[:, rest].sum(axis=1) + 1e-9))[:, None]
            for column, label in commands:
                all_words[:, words.index(label)] = stored["posteriors"][:, column]
            self.row = {str(name): i for i, name in enumerate(stored["names"])}
        posteriors = over_outputs(all_words, words, list(outputs), other)
        self.posteriors = posteriors / posteriors.sum(axis=1, keepdims=True)

    def __call__(self, names):
        """Posteriors [n, outputs] for clips [n], zeros for those without an answer."""
        rows = np.array([self.row.get(name, -1) for name in names.tolist()], np.int64)
        return np.where(rows[:, None] >= 0, self.posteriors[rows], 0).astype(np.float32)
