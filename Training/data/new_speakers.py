"""Held-out speakers whom only the second version of Speech Commands has, as listed in new_speakers.tsv: they report.

No network that was trained on the first version heard anybody like them: their rooms are noisier and their microphones worse. Four
commands of theirs are here as recordings; six, and other words, as pictures, of which `data/pictures.py` makes waveforms.
"""

import functools
import os

import numpy as np

from Training.data import pictures
from Training.data.files import replacing
from Training.data.sources import speaker
from Training.data.split import partition

PATH = os.path.join(os.path.dirname(__file__), "new_speakers.tsv")


@functools.cache
def names():
    """The speakers in the list."""
    with open(PATH) as file:
        return frozenset(line.strip() for line in file if line.strip() and not line.startswith("#"))


def among(speakers):
    """Which of these speakers [n] are in the list, [n] bool."""
    return np.isin(speakers, sorted(names()))


def pictured(folders, cache, part, others=False):
    """Names `<word>/<file>` [n] of all pictures of these speakers in a part, `tune` or `report`, and their waveforms [n, 16000].

    With `others`, of the part's other speakers, whom the first version has too. They are kept in the folder `cache`: making one takes a
    twentieth of a second.
    """
    path = os.path.join(cache, f"pictures-{'others-' if others else ''}{part}.npz")
    wanted = lambda name: partition(name) == part and (speaker(name) in names()) != others
    found = dict(sorted(pair for folder in folders for pair in pictures.names_and_pictures(folder, wanted)))
    if os.path.exists(path):
        with np.load(path) as stored:
            if stored["names"].tolist() == list(found):
                return stored["names"], stored["waves"]
    waves = pictures.waves_of(list(found.values()))
    kept = {"names": np.array(list(found), dtype=str), "waves": waves}
    with replacing(path) as unfinished:
        np.savez(unfinished, **kept)
    return kept["names"], waves
