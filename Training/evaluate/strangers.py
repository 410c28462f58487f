"""Clips of all twelve classes by held-out speakers whom only the dataset's second version has, clean and degraded.

Four commands of theirs are recordings. The other six, and other words, are made of pictures, which end at 4 kHz. A network that never
heard such a microphone is judged by that and not by how it knows voices: so the clips made of pictures get noise above 4 kHz, at the levels
that recordings have there (data/upper_band.py). Recordings that end at 4 kHz, with and without such noise, are the control. Other words come
also from the speakers of both versions, in pictures and in recordings. Silence is as in data/validation_sets.py.
"""

import numpy as np

from Training.data import new_speakers, suspects, validation_sets
from Training.data.audio import RATE, rms
from Training.data.recordings import samples, utterance_bounds
from Training.data.seeding import generator as seeded
from Training.data.sources import speaker
from Training.data.split import PARTS
from Training.data.upper_band import low_passed
from Training.data.vocabulary import COMMANDS
from Training.evaluate import robustness
from Training.evaluate.held_out import HeldOut

UNKNOWN, SILENCE = len(COMMANDS), len(COMMANDS) + 1
# What is done to the clips of the twelve classes: name, sound, and decibels between the word and it.
CONDITIONS = (("noise 10 dB", "noise", 10), ("noise 5 dB", "noise", 5), ("babble 10 dB", "babble", 10))
# The clips of the twelve classes; a condition degrades these.
TWELVE = ("words, recorded", "words, pictures", "other words, pictures", "silence")


class Strangers:
    """Waveforms [n, 16000] of a half, `tune` or `report`, with their `truth` and `speakers` [n], and the rows `of` each set by its name."""

    def __init__(self, table, folders, cache, part, upper):
        """`upper` is the UpperBand."""
        self.part, self.blocks = part, []
        held = (table["part"] == part) & (table["kind"] == "clip")
        rows = np.flatnonzero(held & np.isin(table["label"], COMMANDS))
        rows = rows[new_speakers.among([speaker(name) for name in table["name"][rows]])]
        rows = rows[~suspects.among(table["name"][rows])]
        recorded = self.add("words, recorded", table["name"][rows], np.array([samples(table, row) for row in rows]))
        narrow = low_passed(recorded)
        self.add("… to 4 kHz", table["name"][rows], narrow)
        self.add("… and noise above", table["name"][rows], upper.added(narrow))
        names, waves = new_speakers.pictured(folders, cache, part)
        is_word, made = np.array([name.split("/")[0] in COMMANDS for name in names]), upper.added(waves)
        self.add("words, pictures", names[is_word], made[is_word])
        self.add("… ending at 4 kHz", names[is_word], waves[is_word])
        self.add("other words, pictures", names[~is_word], made[~is_word])
        self.add("… ending at 4 kHz ", names[~is_word], waves[~is_word])
        names, waves = new_speakers.pictured(folders, cache, part, others=True)
        self.add("… of both versions' speakers", names, upper.added(waves))
        others, waves = validation_sets.other_words(table, part, "clip")
        self.add("other words, recorded", table["name"][others], waves)
        _, waves, truth = validation_sets.clip_rows(table, part)
        silence = waves[truth == SILENCE]
        self.add("silence", np.full(len(silence), "silence/"), silence)
        self.degrade(table)
        self.of = {}
        for name, rows, _ in self.blocks:
            first = sum(len(found) for found in self.of.values())
            self.of[name] = np.arange(first, first + len(rows))
        names = np.concatenate([names for _, names, _ in self.blocks])
        self.waves = np.concatenate([waves for _, _, waves in self.blocks]).astype(np.float32)
        self.truth = np.array([truth_of(name) for name in names])
        self.speakers = np.array([speaker(name) for name in names])
        self.blocks = None

    def add(self, name, names, waves):
        """Adds a set of clips with their names in the table; returns them."""
        self.blocks.append((name, np.asarray(names), waves))
        return waves

    def degrade(self, table):
        """Adds the clips of the twelve classes in each condition."""
        chosen = [block for block in self.blocks if block[0] in TWELVE]
        held_out, number = HeldOut(table, self.part), PARTS.index(self.part)
        for condition, (name, kind, ratio) in enumerate(CONDITIONS):
            generator = seeded("strangers' clips", number, condition)
            source = getattr(held_out, kind)(600 * RATE, generator)
            change = robustness.with_noise(source, ratio, generator)
            levels = []
            for block, names, waves in chosen:
                changed = []
                for wave in waves:
                    silent = block == "silence"
                    first, last = utterance_bounds(np.round(wave * 32768))
                    level = generator.choice(levels) if silent else rms(wave[first:last])
                    levels.append(level)
                    changed.append(change(wave, first, last, level, silent))
                self.add(f"{block}, {name}", names, np.array(changed).reshape(-1, waves.shape[1]))

    def twelve(self, condition=None):
        """Rows of the clips of the twelve classes, clean or in a condition by its name."""
        return np.concatenate([self.of[f"{name}, {condition}" if condition else name] for name in TWELVE])

    def right(self, posteriors):
        """Whether each clip [n] is right. Babble alone is speech without a command: other words count as right for it, too."""
        answer = posteriors.argmax(axis=1)
        right = answer == self.truth
        babble = [rows for name, rows in self.of.items() if name.startswith("silence, babble")]
        right[np.concatenate(babble)] = answer[np.concatenate(babble)] >= UNKNOWN
        return right

    def figures(self, posteriors):
        """Per cent right: mean of the twelve classes, clean and by condition, of the ten words, and of each set."""
        right, found = self.right(posteriors), {}
        for condition in (None, *(name for name, _, _ in CONDITIONS)):
            rows = self.twelve(condition)
            shares = [100 * right[rows[self.truth[rows] == label]].mean() for label in range(SILENCE + 1)]
            found[f"twelve classes, {condition or 'clean'}"] = np.mean(shares)
            found[f"ten words, {condition or 'clean'}"] = np.mean(shares[:UNKNOWN])
        return found | {name: 100 * right[rows].mean() for name, rows in self.of.items() if len(rows)}


def truth_of(name):
    """The index of the label of a clip by its name."""
    word = name.split("/")[0]
    return SILENCE if word == "silence" else COMMANDS.index(word) if word in COMMANDS else UNKNOWN
