"""Words that nobody says: the beginning of one recorded word and the end of another, one of the two a command.

A network that tells a command by a part of it takes a new word with that part for the command. Synthetic voices say many new
words, but it can tell these voices from recorded ones; two cut recordings are a new word in recorded voices.
"""

import numpy as np

from Training.augment import waveform
from Training.data.audio import WINDOW
from Training.data.vocabulary import COMMANDS

# The sounds of a word's only or first syllable, before, in and after its vowel; words of more syllables have "*" after it. Vowels
# that some people say alike are one.
SOUNDS = {
    **{"yes": ("y", "e", "s"), "no": ("n", "ou", ""), "up": ("", "o", "p"), "down": ("d", "au", "n"), "left": ("l", "e", "ft")},
    **{"right": ("r", "ai", "t"), "on": ("", "o", "n"), "off": ("", "o", "f"), "stop": ("st", "o", "p"), "go": ("g", "ou", "")},
    **{"bed": ("b", "e", "d"), "bird": ("b", "er", "d"), "cat": ("k", "a", "t"), "dog": ("d", "o", "g"), "eight": ("", "ei", "t")},
    **{"five": ("f", "ai", "v"), "four": ("f", "or", ""), "happy": ("h", "a", "*"), "house": ("h", "au", "s")},
    **{"nine": ("n", "ai", "n"), "one": ("w", "o", "n"), "six": ("s", "i", "ks"), "seven": ("s", "e", "*")},
    **{"three": ("t", "i", ""), "tree": ("t", "i", ""), "two": ("t", "u", ""), "wow": ("w", "au", ""), "zero": ("z", "i", "*")},
}
# Shares of a word that its beginning has: up to behind the vowel, so that the end is new; or less, so that the beginning is.
NEW_END, NEW_BEGINNING = (0.5, 0.72), (0.12, 0.34)
# Samples that are kept before the first word's start and behind the second one's end, at most, and the range of shares of it.
WIDEST_MARGIN, MARGINS = 1600, (0.2, 1)
# The range of the level of the second part beside that of the first, in dB.
LEVELS = (-6, 6)


def may_follow(first, second, is_new_end, commands=COMMANDS):
    """Whether the parts of two words together are certainly no command, and differ from each of the two words."""
    place = 2 if is_new_end else 0
    before, after = SOUNDS[first][place], SOUNDS[second][place]
    if before == after or set(before) & set(after):
        return False
    vowel = SOUNDS[first if is_new_end else second][1]
    return (SOUNDS[first][0], vowel, SOUNDS[second][2]) not in [SOUNDS.get(word) for word in commands]


def play(table, wave, row, sample, at, speed, low, high):
    """Puts samples [low, high) of a recording into wave [16000], so that `sample` is at position `at`."""
    start, length = table["start"][row], float(table["length"][row])
    waveform.place(table["audio"], wave, start, length, sample - at * speed, speed, max(0.0, low), min(length, high))


def spliced(table, wave, first, second, is_new_end, speeds, generator):
    """Puts the beginning of recording `first`, a row of the table, and the end of `second` into wave [16000].

    Returns the extent, first and last sample in the window.
    """
    share, ending = generator.uniform(*(NEW_END if is_new_end else NEW_BEGINNING)), np.zeros(WINDOW, np.float32)
    begins, ends = (table[side][[first, second]].astype(float) for side in ("from", "to"))
    cuts = begins + share * (ends - begins)
    (margin, speed), (other_margin, other_speed) = (
        (WIDEST_MARGIN * generator.uniform(*MARGINS), generator.uniform(*speeds)) for _ in range(2)
    )
    before, behind = (cuts[0] - begins[0]) / speed, (ends[1] - cuts[1]) / other_speed
    at = generator.uniform(0, max(1.0, WINDOW - before - behind))
    joint, last = at + before, int(at + before + behind)
    play(table, wave, first, cuts[0], joint, speed, begins[0] - margin, cuts[0])
    play(table, ending, second, cuts[1], joint, other_speed, cuts[1], ends[1] + other_margin)
    own, other = waveform.level(wave, int(at), int(joint)), waveform.level(ending, int(joint), last)
    gain = 10 ** (generator.uniform(*LEVELS) / 20) * own / (other + 1e-6)
    waveform.add_scaled(wave, ending, min(20.0, max(0.05, gain)))
    return int(at), last


class Splicer:
    """Draws pairs of recordings whose parts make a new word."""

    def __init__(self, table, rows, speeds, commands=COMMANDS):
        """`rows` are those of recorded words; `speeds` is the range of playback speeds."""
        self.table, self.speeds = table, speeds
        label = table["label"][rows]
        names = [name for name in SOUNDS if (label == name).any()]
        self.rows = {name: rows[label == name] for name in names}
        self.commands = [name for name in names if name in commands]
        self.pairs = [
            (command, name, is_first, is_new_end)
            for command in self.commands
            for name in names
            for is_first in (True, False)
            for is_new_end in (True, False)
            if may_follow(*((command, name) if is_first else (name, command)), is_new_end, commands)
        ]

    def __call__(self, wave, generator):
        """Puts a new word into wave [16000]; returns the row of the recording that need not be a command, and the extent."""
        command, name, is_first, is_new_end = self.pairs[generator.integers(len(self.pairs))]
        row, other = generator.choice(self.rows[command]), generator.choice(self.rows[name])
        pair = (row, other) if is_first else (other, row)
        return other, spliced(self.table, wave, *pair, is_new_end, self.speeds, generator)
