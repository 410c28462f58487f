"""What published keyword networks answer to clips as recorded, as targets to learn from.

They were trained on three times as many clips as are at hand. They know 35 words and no running speech, so they are asked
about clips of those words alone.
"""

import numpy as np


def over_outputs(taught, words, outputs, other):
    """The teachers' posteriors [n, words] over a network's outputs [n, outputs]; a word without an output counts as `other`."""
    matrix = np.zeros((len(words), len(outputs)), np.float32)
    for i, word in enumerate(words):
        matrix[i, outputs.index(word) if word in outputs else other] = 1
    return taught.astype(np.float32) @ matrix


class ClipAnswers:
    """The answers that confirm/answers.py stored, by the name of a clip, over a network's outputs.

    `posteriors` say how likely each of the `labels` is, `words` how what is left for `_unknown_` is shared by the other words: in files of
    older versions these are of different networks.
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
