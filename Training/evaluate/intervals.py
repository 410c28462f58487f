"""95 % intervals by bootstrap over speakers: their recordings are not independent of each other, so speakers are drawn."""

import numpy as np

from Training.data.seeding import generator as seeded

DRAWS = 1000


def weights(speakers, draws=DRAWS):
    """How often each item counts in each draw, [draws, items], for the items' speakers [items]."""
    names, index = np.unique(speakers, return_inverse=True)
    counts = seeded("bootstrap").multinomial(len(names), np.full(len(names), 1 / len(names)), size=draws)
    return counts[:, index]


def interval(values):
    """The bounds between which 95 % of the values of the draws lie; NaN, from draws without any item, is left out."""
    return tuple(float(bound) for bound in np.nanpercentile(values, (2.5, 97.5)))


def share(right, drawn):
    """Per cent of items [items] that are right, in each draw [draws, items]; NaN where a draw has none."""
    total = drawn.sum(axis=1)
    return 100 * np.divide(drawn @ right.astype(float), total, out=np.full(len(drawn), np.nan), where=total > 0)


def calibration_error(posteriors, truth, drawn, bins=15):
    """The expected calibration error in each draw; see `metrics.calibration_error`."""
    confidence, right = posteriors.max(axis=1), posteriors.argmax(axis=1) == truth
    slot = np.minimum((confidence * bins).astype(int), bins - 1)
    gaps = [np.abs((drawn * (slot == b)) @ (confidence - right)) for b in range(bins)]
    return np.sum(gaps, axis=0) / drawn.sum(axis=1)


def text(value, values, digits=1):
    """A value with its interval, such as `97.1 (96.0–98.2)`."""
    low, high = interval(values)
    return f"{value:.{digits}f} ({low:.{digits}f}–{high:.{digits}f})"
