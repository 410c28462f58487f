"""Who is trained on, who tunes and who reports: the part of every recording, by its speaker.

* `training`: trained on.
* `tune`: chooses temperature, clip shifts, thresholds, and one network among several.
* `report`: measured, and used for nothing else.
* `testing`: the dataset's own testing partition, which is left out.
* `dropped`: clips that the dataset's second version dropped (data/dropped.tsv), which count nowhere.

Two hashes of the speaker's name decide. The dataset's own rule says who is held out: the SHA-1 in per cent of 2^27 − 1; of
Speech Commands below 10, below 20 is its testing partition. Other sources have no official test, so all below 20 are held
out, and of running speech all below 30, because hours of it are needed to measure; of spelling and numbers below 50. Some sources are never trained on. Of all
who are held out, the second hash, of the name after "half 7 ", sends the odd ones to `report` and the even ones to
`tune`. Recordings without a label of their own and the voices of synthesizers are trained on only. The dataset's background
recordings are split in time (`background_span`).
"""

import hashlib

from Training.data import dropped
from Training.data.sources import FOREIGN, short_name, speaker
from Training.data.vocabulary import BACKGROUND, BACKGROUND_SHARE, HELD_OUT_VOICES, MANY_WORDS, TRAINING_VOICES

PARTS = ("training", "tune", "report")
# Per cent of the speakers that are held out, by kind.
HELD_OUT_SHARES = {"clip": 10, "word": 20, "noise": 20, "room": 20, "speech": 30, "cut": 30}
# Spelling and numbers: letters said one by one are the talk that is most like commands.
SPELLING, SPELLING_HELD_OUT = ("an4", "alphanumeric"), 50
TESTING = 20
# Put before a name for the second hash. Of forty such prefixes the one with which the halves are most alike: in speakers, in clips,
# and in the share of the ten words that published networks recognize (96.9 % of `tune`, 96.3 % of `report`).
HALF = "half 7 "
# Sources that are never trained on, as labels or folders: two under share-alike licences (telephone speech and digits), and other
# languages.
ONLY_MEASURED = ("wuw2", "fsdd", FOREIGN)


def _hash(text):
    return int(hashlib.sha1(text.encode()).hexdigest(), 16)


def percent(name):
    """The dataset's own hash of a speaker's name, 0 to 100."""
    return _hash(name) % 2**27 * (100.0 / (2**27 - 1))


def half(name):
    """`tune` or `report`, for a speaker who is held out."""
    return "report" if _hash(HALF + name) % 2 else "tune"


def partition(path):
    """`training`, `tune`, `report` or `testing` of the speaker of a Speech Commands clip or of a picture of one."""
    return _speakers_part("clip", "", path)


def part(kind, label, path):
    """The part of a recording from its kind, its label and its path or name in the table."""
    # A picture of the second version may have the name of another take in the first: only recordings are dropped by name.
    if kind == "clip" and short_name(path) in dropped.names():
        return "dropped"
    return _speakers_part(kind, label, path)


def _speakers_part(kind, label, path):
    who, folder = speaker(path), short_name(path).split("/")[0]
    if label in (*MANY_WORDS, *TRAINING_VOICES, BACKGROUND):
        return "training"
    if label in (*ONLY_MEASURED, *HELD_OUT_VOICES) or folder in ONLY_MEASURED:
        return half(who)
    hashed = percent(who)
    held_out = SPELLING_HELD_OUT if label in SPELLING or folder in SPELLING else HELD_OUT_SHARES[kind]
    if hashed < held_out:
        return half(who)
    return "testing" if kind == "clip" and hashed < TESTING else "training"


def background_span(name, length):
    """The samples [first, last) of a background recording of this length that belong to a part."""
    held_out = int(length * BACKGROUND_SHARE)
    middle = (held_out + length) // 2
    return {"training": (0, held_out), "tune": (held_out, middle), "report": (middle, length)}[name]
