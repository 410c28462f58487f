"""A network's figures on the validation sets."""

import numpy as np
import torch

import frontend
import teaching
import validation
from examples import SILENCE, UNKNOWN

# The program hears a clip four times, each time so many samples further on, as a ring.
TURNS = (-320, 320, 960, 1600)


def logits_of(network, waves, turns=TURNS):
    """Logits [turns, n, outputs] of waves [n, 16000]."""
    looks = []
    for turn in turns:
        turned = np.roll(waves, -turn, axis=1)
        features = [frontend.normalised(frontend.mel_energies(turned[i : i + 256])) for i in range(0, len(waves), 256)]
        looks.append(teaching.logits_of(network, np.concatenate(features)))
    return torch.stack(looks)


def shifts(examples, words, other):
    """What to take off each logit where a clip is judged by itself: `words` off those of single other words, `other` off that of
    all the rest, which running speech, parts of words and babble teach far more often than clips hold it. Shape [outputs].
    """
    out = np.array([words if label == UNKNOWN else 0.0 for label in examples.output_labels()])
    out[examples.other] = other
    return out


class Sets:
    """The validation sets of one table, scored together."""

    def __init__(self, table, commands):
        self.commands, self.labels = commands, list(commands) + [UNKNOWN, SILENCE]
        self.clips, self.truth = validation.clips(table, commands)
        self.negatives = {"tails": validation.tails(table, commands=commands), "unheard": validation.unheard(table)}
        self.negatives |= {"running": validation.running(table), "sounds": validation.sounds(table)}
        self.negatives = {name: waves for name, waves in self.negatives.items() if len(waves)}

    def logits(self, network):
        """Logits of the clips and of each set of negatives; worked out once, calibrated many times."""
        return logits_of(network, self.clips), {name: logits_of(network, w) for name, w in self.negatives.items()}

    def posteriors(self, logits, output_labels, temperature=1.0, shift=0.0):
        """Posteriors [n, labels], the mean of all looks; `shift` [outputs] is taken off the logits."""
        outputs = torch.softmax((logits - torch.as_tensor(shift)) / temperature, dim=2).mean(dim=0).numpy()
        return validation.grouped(outputs, output_labels, self.labels)

    def figures(self, logits, output_labels, temperature=1.0, shift=0.0):
        """The table of one network: accuracies in per cent, calibration error, AUROC, false accepts at 0.8 in per cent. The
        shift counts for clips; tails, running speech and sounds are what streams are made of."""
        clips = self.posteriors(logits[0], output_labels, temperature, shift)
        result = validation.accuracy(clips, self.truth, self.commands)
        result["ece"] = validation.calibration_error(clips, self.truth)
        words = self.truth < len(self.commands)
        for name, part in logits[1].items():
            scores = self.posteriors(part, output_labels, temperature, shift if name == "unheard" else 0.0)
            result[f"{name}@0.8"] = validation.false_accepts(scores, 0.8, self.commands)
            if name == "unheard":
                result["auroc"] = validation.separation(clips[words], scores, self.commands)
        return {key: float(value) for key, value in result.items()}

    def report(self, network, output_labels):
        return self.figures(self.logits(network), output_labels)


def line(result):
    return "  ".join(
        f"{key} {value:.4f}" if key in ("ece", "auroc") else f"{key} {value:.2f}" for key, value in result.items()
    )
