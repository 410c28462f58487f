"""What measurements are made of: words, speech and noise of the validation partition, at levels of their own."""

import sys

import numpy as np

from examples import BACKGROUND, BACKGROUND_SHARE, COMMANDS, MANY_WORDS, NEURAL
from recordings import HELD_VOICES, RATE

TALKERS = 4


def rms(wave):
    return float(np.sqrt(np.mean(np.square(wave, dtype=np.float64)))) if len(wave) else 0.0


def unit(wave):
    """The wave at RMS 1; digital silence stays what it is."""
    loudness = rms(wave)
    return (wave / loudness).astype(np.float32) if loudness > 0 else wave


def fade(wave, samples=RATE // 100):
    """Fades in and out, by default over 10 ms, so that no cut is heard as a click."""
    ramp = np.minimum(1, np.arange(1, len(wave) + 1, dtype=np.float32) / samples)
    return wave * ramp * ramp[::-1]


class HeldOut:
    """Rows of the recordings' table that no model was trained on."""

    def __init__(self, table):
        self.table = table
        held, kind, label = table["part"] == "validation", table["kind"], table["label"]
        known = np.isin(label, COMMANDS)
        self.commands = np.flatnonzero(held & (kind == "clip") & known)
        # Which word a recording of MANY_WORDS holds nobody wrote down; it could be a command.
        spoken = np.isin(kind, ["clip", "word"]) & ~known & ~np.isin(label, MANY_WORDS)
        self.others = np.flatnonzero(held & spoken)
        speech = held & (kind == "speech")
        self.speech = np.flatnonzero(speech & ~np.isin(label, (*NEURAL, *HELD_VOICES)))
        self.read = np.flatnonzero(speech & np.isin(label, HELD_VOICES))
        self.sounds = np.flatnonzero(held & (kind == "noise") & (label != BACKGROUND))
        self.background = np.flatnonzero((kind == "noise") & (label == BACKGROUND))
        for name in ("commands", "others", "speech", "sounds", "background"):
            if not len(getattr(self, name)):
                sys.exit(f"the recordings hold no {name} of the validation partition; README.md says what is needed")

    def wave(self, row, first=0, last=None):
        begin, length = self.table["start"][row], self.table["length"][row]
        return self.table["audio"][begin + first : begin + (length if last is None else last)] / np.float32(32768)

    def word(self, row, margin=RATE // 5):
        """A word with up to 200 ms around it, at RMS 1 over its bounds, and these bounds within the piece."""
        first, last = int(self.table["from"][row]), int(self.table["to"][row])
        low, high = max(0, first - margin), min(int(self.table["length"][row]), last + margin)
        piece = self.wave(row, low, high)
        loudness = rms(piece[first - low : last - low])
        return fade(piece / np.float32(max(loudness, 1e-6))), first - low, last - low

    def noise_piece(self, generator):
        """A sound, or the end of a background recording, that training leaves alone; RMS 1."""
        if generator.random() < 0.5:
            row = generator.choice(self.background)
            return unit(self.wave(row, int(self.table["length"][row] * BACKGROUND_SHARE)))
        return unit(self.wave(generator.choice(self.sounds)))

    def noise(self, length, generator):
        """Pieces of noise, up to five seconds of each, one after another."""
        return joined(lambda: fade(self.noise_piece(generator)[: 5 * RATE]), length)

    def talk(self, length, generator):
        """One utterance after another, each by another talker."""
        order = iter(())

        def utterance():
            nonlocal order
            row = next(order, None)
            if row is None:
                order = iter(generator.permutation(self.speech))
                row = next(order)
            return fade(unit(self.wave(row)))

        return joined(utterance, length)

    def babble(self, length, generator):
        """Four talkers at once, none of them understood."""
        return unit(sum(self.talk(length, generator) for _ in range(TALKERS)))


def joined(piece, length):
    """`length` samples of what `piece()` gives, call by call."""
    parts, total = [], 0
    while total < length:
        parts.append(piece())
        total += len(parts[-1])
    return np.concatenate(parts)[:length]
