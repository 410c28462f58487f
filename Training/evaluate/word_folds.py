"""Cross-validation over words: how often other words that a network was never trained on are told from the commands.

    python -m Training.evaluate.word_folds --data DIR --cache DIR CHECKPOINT CHECKPOINT CHECKPOINT CHECKPOINT CHECKPOINT

Checkpoint N was trained with `--leave-out-fold N`. Clip shifts and temperature are fitted for each on the tuning half, without the
fold's words. Printed are per cent right of the reporting half: the ten words, the other words that were trained on, and the
fold's words; of these also the clips of all speakers, who are strangers to the network in that word only. Intervals are 95 %
over speakers. In PyTorch.
"""

import types

import numpy as np
import torch

from Training.data import command_line, recordings, sources, suspects, validation_sets
from Training.data.audio import WINDOW
from Training.data.vocabulary import BABBLE, COMMANDS, SILENCE, UNKNOWN
from Training.data.word_folds import FOLDS
from Training.evaluate import intervals, no_words
from Training.evaluate.held_out import HeldOut
from Training.model import calibration, checkpoint, metrics, scoring
from Training.model.network import load_checkpoint

LABELS = COMMANDS + [UNKNOWN, SILENCE]
COLUMNS = ("ten words", "words trained on", "the fold's words", "the same, all speakers")


class Judge:
    """A checkpoint with the clip shifts and the temperature that suit the tuning half without some words."""

    def __init__(self, path, tuned, wordless, others):
        outputs = checkpoint.load(path)["outputs"]
        labels = [name if name in COMMANDS or name == SILENCE else UNKNOWN for name in outputs]
        self.network = load_checkpoint(path, len(outputs))
        babble = outputs.index(BABBLE) if BABBLE in outputs else None
        self.outputs = types.SimpleNamespace(
            output_labels=lambda: labels, other=outputs.index("other"), babble_output=babble
        )
        waves, truth = tuned
        sets = types.SimpleNamespace(
            truth=truth, commands=COMMANDS, posteriors=self._posteriors, figures=self._figures(truth)
        )
        logits = (scoring.shifted_logits(self.network, waves), {})
        prior_of = lambda words, other: scoring.clip_prior(self.outputs, words, other)
        negatives = [scoring.shifted_logits(self.network, each) for each in (wordless, others)]
        pair, self.temperature, _ = calibration.calibrate(sets, logits, *negatives, labels, prior_of)
        self.prior = prior_of(*pair)

    @staticmethod
    def _posteriors(logits, labels, temperature, prior=None):
        return scoring.posteriors(logits, labels, LABELS, temperature, prior)

    def _figures(self, truth):
        return lambda logits, labels, temperature, prior: metrics.accuracy(
            self._posteriors(logits[0], labels, temperature, prior), truth
        )

    def answers(self, waves):
        """The indices in LABELS of what the network answers to clips [n, 16000]."""
        logits = scoring.shifted_logits(self.network, waves)
        return self._posteriors(logits, self.outputs.output_labels(), self.temperature, self.prior).argmax(axis=1)


def clips_of(table, chosen):
    """Waveforms, indices in LABELS and speakers of the clips in `chosen` [n] bool that have no doubtful label."""
    rows = np.flatnonzero(chosen & (table["kind"] == "clip") & ~suspects.among(table["name"]))
    waves = np.array([validation_sets.one_second(table, row) for row in rows], np.float32).reshape(-1, WINDOW)
    truth = np.array([LABELS.index(l) if l in COMMANDS else len(COMMANDS) for l in table["label"][rows]])
    return waves, truth, np.array([sources.speaker(name) for name in table["name"][rows]])


def figures(table, path, words, wordless):
    """Right or wrong, and the speakers, of each column's clips, for a checkpoint that was trained without `words`.

    `wordless` are waveforms [n, 16000] without a word, of part `tune`.
    """
    of_fold, known = np.isin(table["label"], words), np.isin(table["label"], COMMANDS)
    reported = table["part"] == "report"
    rest = without(table, words)
    others = validation_sets.all_other_words(rest, "tune")
    judge = Judge(path, validation_sets.clips(rest, "tune", certain=True), wordless, others)
    chosen = (reported & known, reported & ~known & ~of_fold, reported & of_fold, of_fold)
    for rows in chosen:
        waves, truth, speakers = clips_of(table, rows)
        yield judge.answers(waves) == truth if len(waves) else np.zeros(0, bool), speakers


def without(table, words):
    """The table without the clips of some words."""
    kept = ~np.isin(table["label"], words)
    return {key: value if key == "audio" else value[kept] for key, value in table.items()}


def line(name, parts):
    """A line of the table from (right [n], speakers [n]) of each column."""
    cells = []
    for right, speakers in parts:
        if len(right) == 0:
            cells.append("–")
            continue
        values = intervals.share(right, intervals.weights(speakers))
        cells.append(f"{intervals.text(100 * right.mean(), values)} of {len(right)}")
    return f"| {name} | " + " | ".join(cells) + " |"


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("checkpoints", nargs=len(FOLDS), help="one for each fold of data/word_folds.py, in order")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    table = recordings.load_all(options.data, options.cache)
    print("| words left out | " + " | ".join(COLUMNS) + " |\n|---|" + "---|" * len(COLUMNS), flush=True)
    found, wordless = [], no_words.babble_and_music(table, HeldOut(table, "tune"))
    for words, path in zip(FOLDS, options.checkpoints):
        found.append(list(figures(table, path, words, wordless)))
        print(line(", ".join(words), found[-1]), flush=True)
    together = [tuple(np.concatenate(column) for column in zip(*parts)) for parts in zip(*found)]
    print(line("all folds", together))
    means = [np.mean([100 * right.mean() for right, _ in parts if len(right)]) for parts in zip(*found)]
    print("| mean of the folds | " + " | ".join(f"{mean:.1f}" for mean in means) + " |")


if __name__ == "__main__":
    main()
