"""Words, speech and noise of speakers who are not trained on, at unit level: the material of robustness.py and streams.py."""

import sys

import numpy as np

from Training.data import suspects
from Training.data.audio import RATE, fade, rms, unit_rms
from Training.data.recordings import samples
from Training.data.sources import speaker
from Training.data.split import background_span
from Training.data.vocabulary import (
    BACKGROUND,
    COMMANDS,
    HELD_OUT_VOICES,
    MANY_WORDS,
    TRAINING_VOICES,
    says,
)

# Talkers in babble.
TALKERS = 4


class HeldOut:
    """Rows of the recordings' table of one part, `tune` or `report`; without clips of a doubtful label."""

    def __init__(self, table, part, commands=COMMANDS):
        self.table, self.part = table, part
        held, kind, label = table["part"] == part, table["kind"], table["label"]
        known = np.isin(label, commands)
        self.commands = np.flatnonzero(held & (kind == "clip") & known & ~suspects.among(table["name"]))
        # A recording under MANY_WORDS has no label of its own and could be a command.
        spoken = np.isin(kind, ["clip", "word"]) & ~known & ~np.isin(label, MANY_WORDS)
        self.others = np.flatnonzero(held & spoken)
        # A command in running speech would be no false accept.
        without_command = np.array([not says(commands, text) for text in table["text"]])
        speech = held & (kind == "speech") & without_command
        self.speech = np.flatnonzero(speech & ~np.isin(label, (*TRAINING_VOICES, *HELD_OUT_VOICES)))
        self.read = np.flatnonzero(speech & np.isin(label, HELD_OUT_VOICES))
        self.sounds = np.flatnonzero(held & (kind == "noise") & (label != BACKGROUND))
        self.background = np.flatnonzero((kind == "noise") & (label == BACKGROUND))
        for name in ("commands", "others", "speech", "sounds", "background"):
            if not len(getattr(self, name)):
                sys.exit(
                    f"the recordings have no {name} in the part {part}; Training/README.md lists what is needed"
                )

    def speakers(self, rows):
        """Who speaks in each of these rows, [n]."""
        return np.array([speaker(name) for name in self.table["name"][rows]])

    def talk_sources(self):
        """Rows of running speech by source; `read` is a synthetic voice."""
        labels = self.table["label"][self.speech]
        sources = {str(label): self.speech[labels == label] for label in sorted(set(labels))}
        return sources | ({"read": self.read} if len(self.read) else {})

    def wave(self, row, first=0, last=None):
        """Samples [first, last) of a recording, float32."""
        return samples(self.table, row, first, last)

    def background_end(self, row):
        """The part's share of the end of a background recording, which training does not use."""
        return self.wave(row, *background_span(self.part, int(self.table["length"][row])))

    def word(self, row, margin=RATE // 5):
        """A word with up to 200 ms around it, at RMS 1 within its bounds, and these bounds in samples of the piece."""
        first, last = int(self.table["from"][row]), int(self.table["to"][row])
        low, high = max(0, first - margin), min(int(self.table["length"][row]), last + margin)
        piece = self.wave(row, low, high)
        loudness = rms(piece[first - low : last - low])
        return fade(piece / np.float32(max(loudness, 1e-6))), first - low, last - low

    def noise_piece(self, generator):
        """A sound or the end of a background recording, at RMS 1."""
        if generator.random() < 0.5:
            return unit_rms(self.background_end(generator.choice(self.background)))
        return unit_rms(self.wave(generator.choice(self.sounds)))

    def noise(self, length, generator):
        """`length` samples of noise: pieces of up to five seconds, one after another."""
        return joined(lambda: fade(self.noise_piece(generator)[: 5 * RATE]), length)

    def talk(self, length, generator):
        """`length` samples of running speech: one utterance after another, each by another talker."""
        order = iter(())

        def utterance():
            nonlocal order
            row = next(order, None)
            if row is None:
                order = iter(generator.permutation(self.speech))
                row = next(order)
            return fade(unit_rms(self.wave(row)))

        return joined(utterance, length)

    def babble(self, length, generator):
        """`length` samples of four talkers at once."""
        return unit_rms(sum(self.talk(length, generator) for _ in range(TALKERS)))


def joined(piece, length):
    """`length` samples from repeated calls of `piece()`."""
    parts, total = [], 0
    while total < length:
        parts.append(piece())
        total += len(parts[-1])
    return np.concatenate(parts)[:length]
