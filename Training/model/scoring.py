"""A network's figures on the validation sets."""

from typing import NamedTuple

import numpy as np
import torch

from Training.data import log_mel, validation_sets
from Training.data.vocabulary import SILENCE, UNKNOWN
from Training.model import metrics
from Training.model.network import logits_of

# The program scores a clip four times, rotated left by so many samples, and averages the posteriors.
TIME_SHIFTS = (-320, 320, 960, 1600)
# How far the largest logit of a word must be above that of babble where nothing stands out of a clip's background.
LEAD = 6.0


class Scores(NamedTuple):
    """Logits [shifts, n, outputs] of clips, and how far something stands out of their background, [shifts, n]."""

    logits: torch.Tensor
    foreground: torch.Tensor

    def alone(self):
        """The same clips, each time shift as a clip of its own."""
        return Scores(self.logits.reshape(1, -1, self.logits.shape[2]), self.foreground.reshape(1, -1))


def shifted_logits(network, waves, time_shifts=TIME_SHIFTS):
    """Scores of waveforms [n, 16000]."""
    features = [log_mel.features(np.roll(waves, -shift, axis=1)) for shift in time_shifts]
    foreground = torch.from_numpy(np.stack([log_mel.foreground(each) for each in features]))
    return Scores(torch.stack([logits_of(network, each) for each in features]), foreground)


class ClipPrior(NamedTuple):
    """How the logits of a single clip differ from those of a stream: `shift` [outputs] is subtracted from them. Where nothing stands out of
    the background, words must also lead the output `over`, that of babble, by LEAD; None for a network without one."""

    shift: np.ndarray
    over: int | None


def clip_prior(examples, words, other):
    """The ClipPrior with these shifts: `words` is for the outputs of single other words, `other` for that of all other speech.

    Training holds far more of both than a set of clips does. Babble keeps its logit: it is not a word that somebody says.
    """
    shift = np.array([words if label == UNKNOWN else 0.0 for label in examples.output_labels()])
    shift[examples.other] = other
    if examples.babble_output is not None:
        shift[examples.babble_output] = 0
    return ClipPrior(shift, examples.babble_output)


def posteriors(scores, output_labels, labels, temperature=1.0, prior=None):
    """Posteriors [n, labels] of Scores, the mean over the time shifts; as a stream has them where `prior`, a ClipPrior, is None."""
    logits = scores.logits
    if prior is not None:
        logits = logits - torch.as_tensor(prior.shift) - lacking(scores, output_labels, prior)
    outputs = torch.softmax(logits / temperature, dim=2).mean(dim=0).numpy()
    return metrics.label_posteriors(outputs, output_labels, labels)


def lacking(scores, output_labels, prior):
    """What a ClipPrior subtracts from the logits of words, [shifts, n, outputs]: what their lead lacks, where nothing stands out."""
    if prior.over is None:
        return torch.zeros(())
    words = torch.tensor([label not in (UNKNOWN, SILENCE) for label in output_labels])
    lead = scores.logits[:, :, words].amax(dim=2) - scores.logits[:, :, prior.over]
    lacks = (1 - scores.foreground) * (LEAD - lead).clamp(0, LEAD)
    return lacks[:, :, None] * words


class ValidationSets:
    """The validation sets of one part of a table, scored together; part `tune` chooses, part `report` is reported.

    Clips whose label is doubtful choose nothing: each counts as an error, and few errors decide on the temperature.
    """

    def __init__(self, table, part, commands):
        self.part = part
        self.labels = list(commands) + [UNKNOWN, SILENCE]
        self.commands = list(commands)
        self.clips, self.truth = validation_sets.clips(table, part, self.commands, certain=part == "tune")
        negatives = {
            "endings": validation_sets.word_endings(table, part, self.commands),
            "held-out": validation_sets.held_out_words(table),
            "running": validation_sets.running_speech(table, part),
            "sounds": validation_sets.sounds(table, part),
        }
        self.negatives = {name: waves for name, waves in negatives.items() if len(waves)}

    def logits(self, network):
        """Logits of the clips, and of each set of negatives by name; computed once, calibrated many times."""
        negatives = {name: shifted_logits(network, waves) for name, waves in self.negatives.items()}
        return shifted_logits(network, self.clips), negatives

    def posteriors(self, logits, output_labels, temperature=1.0, prior=None):
        """Posteriors [n, labels] of the sets' labels; see `posteriors`."""
        return posteriors(logits, output_labels, self.labels, temperature, prior)

    def figures(self, logits, output_labels, temperature=1.0, prior=None):
        """Accuracies in per cent, calibration error `ece`, `auroc`, and per cent false accepts at 0.8 of each negative set.

        The prior counts for clips, and so for held-out words; the other negatives are scored as in a stream. `temperature` may be a
        pair, that of clips and that of streams.
        """
        of_clips, of_streams = temperature if isinstance(temperature, tuple) else (temperature, temperature)
        clips = self.posteriors(logits[0], output_labels, of_clips, prior)
        result = metrics.accuracy(clips, self.truth)
        result["ece"] = metrics.calibration_error(clips, self.truth)
        words = self.truth < len(self.commands)
        for name, part in logits[1].items():
            as_clip = (of_clips, prior) if name == "held-out" else (of_streams, None)
            scores = self.posteriors(part, output_labels, *as_clip)
            result[f"{name}@0.8"] = metrics.false_accepts(scores, 0.8)
            if name == "held-out":
                result["auroc"] = metrics.command_auroc(clips[words], scores)
        return {key: float(value) for key, value in result.items()}


def line(result):
    """Figures as one line of text."""
    return "  ".join(
        f"{key} {value:.4f}" if key in ("ece", "auroc") else f"{key} {value:.2f}" for key, value in result.items()
    )
