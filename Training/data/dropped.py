"""Clips of the dataset's first version that its second version dropped, as listed in dropped.tsv: they count nowhere.

They sat in training and in validation, where they capped every network: a published network agrees with the label of four in five. They
are neither trained on nor measured, nor do they choose anything. Clips of which the comparison of both versions left doubts stay.
"""

import functools
import os

PATH = os.path.join(os.path.dirname(__file__), "dropped.tsv")


@functools.cache
def names():
    """The names of the clips in the list, `<word>/<file>` without extension."""
    with open(PATH) as file:
        return frozenset(line.split("\t")[0] for line in file if line.strip() and not line.startswith("#"))
