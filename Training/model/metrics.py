"""Accuracy, calibration error, false accepts and AUROC from posteriors [n, labels]; the last two labels never fire."""

import numpy as np


def label_posteriors(probabilities, output_labels, labels):
    """Sums the network's outputs [n, outputs] into the reported labels [n, labels]."""
    table = np.zeros((len(output_labels), len(labels)), probabilities.dtype)
    for i, label in enumerate(output_labels):
        table[i, labels.index(label)] = 1
    return probabilities @ table


def accuracy(posteriors, truth):
    """Per cent right of all clips, of the words, of unknown and of silence; `truth` [n] holds label indices."""
    commands = posteriors.shape[1] - 2
    right = posteriors.argmax(axis=1) == truth
    percent = lambda chosen: 100 * right[chosen].mean() if chosen.any() else np.nan
    return {
        "all": 100 * right.mean(),
        "words": percent(truth < commands),
        "unknown": percent(truth == commands),
        "silence": percent(truth == commands + 1),
    }


def calibration_error(posteriors, truth, bins=15):
    """Expected calibration error: |confidence − accuracy| averaged over equal-width bins, weighted by their share."""
    confidence, right = posteriors.max(axis=1), posteriors.argmax(axis=1) == truth
    slot = np.minimum((confidence * bins).astype(int), bins - 1)
    return sum(
        abs(confidence[slot == b].mean() - right[slot == b].mean()) * (slot == b).mean()
        for b in range(bins)
        if (slot == b).any()
    )


def false_accepts(posteriors, threshold):
    """Per cent of the windows in which a command reaches the threshold."""
    return 100 * (posteriors[:, :-2].max(axis=1) >= threshold).mean()


def auroc(positives, negatives):
    """Area under the ROC curve: the probability that a positive score is above a negative one, ties counted as half."""
    ordered = np.sort(negatives)
    return (np.searchsorted(ordered, positives, "left") + np.searchsorted(ordered, positives, "right")).mean() / (
        2 * len(negatives)
    )


def command_auroc(clips, others):
    """AUROC of the largest command posterior, of clips of commands [n, labels] against others [m, labels]."""
    return auroc(clips[:, :-2].max(axis=1), others[:, :-2].max(axis=1))
