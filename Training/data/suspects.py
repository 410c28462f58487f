"""Clips whose label is doubtful, as listed in suspects.tsv: left out of training, and measured with and without.

Published networks agreed on another label for them, or they are practically silent; `evaluate/suspects.py` writes the list.
"""

import os

import numpy as np

PATH = os.path.join(os.path.dirname(__file__), "suspects.tsv")


def names():
    """The names of the clips in the list, as in the table of recordings."""
    with open(PATH) as file:
        return [line.split("\t")[0] for line in file if line.strip() and not line.startswith("#")]


def among(clips):
    """Which of these names [n] are in the list, [n] bool."""
    return np.isin(clips, names())
