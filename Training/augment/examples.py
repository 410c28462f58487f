"""Decides which examples an epoch holds and draws each of them, seeded by (seed, epoch, batch)."""

import dataclasses
import enum

import numpy as np

from Training.augment import waveform
from Training.augment.splice import Splicer
from Training.augment.surroundings import Surroundings, sounds_of
from Training.data import log_mel, suspects
from Training.data.audio import WINDOW
from Training.data.seeding import generator as seeded
from Training.data.sources import spoken_word
from Training.data.vocabulary import (
    BABBLE,
    COMMANDS,
    MANY_WORDS,
    SILENCE,
    SOUNDS_LIKE,
    SYNTHETIC,
    TRAINING_VOICES,
    UNKNOWN,
    says,
)


class Kind(enum.IntEnum):
    """What an example is made of, as the rendered files store it."""

    WORDS = 0
    PARTS_OF_WORDS = 1
    RUNNING_SPEECH = 2
    REVERSED_WORDS = 3
    SILENCE = 4
    SYNTHETIC_WORDS = 5
    # 6 is not free: rendered epochs of older versions hold words inverted from pictures under it.
    CUT_WORDS = 7
    MINED_SPEECH = 8
    BABBLE = 9
    SPLICED_WORDS = 10


# Examples of an epoch beside its word recordings, as shares of their number.
SHARES = {
    Kind.PARTS_OF_WORDS: 0.12,
    Kind.RUNNING_SPEECH: 0.30,
    Kind.REVERSED_WORDS: 0.02,
    Kind.SILENCE: 0.18,
    Kind.SYNTHETIC_WORDS: 0.12,
    Kind.CUT_WORDS: 0.15,
    Kind.MINED_SPEECH: 0.20,
    Kind.BABBLE: 0.18,
    Kind.SPLICED_WORDS: 0.25,
}
# A word cut out of running speech is drawn with its number of recordings to the power of this.
CUT_POWER = 0.5
# Share of the running speech that neural voices read, if there is any.
READ_SPEECH = 0.5
# Mined speech: it is drawn with its score to the power of this; the range of its playback speeds; and the samples by which its
# window moves.
MINED_POWER, MINED_SPEEDS, MINED_SHIFT = 0.5, (0.95, 1.05), 1600
# A part of a command shorter than this share of it counts as no word; a longer one as either no word or that command.
NO_WORD_BELOW = 0.4
# Range of playback speeds.
SPEEDS = (0.88, 1.13)
# A word with fewer training recordings than this shares the `other` output.
OWN_OUTPUT = 200


@dataclasses.dataclass
class Batch:
    """Mel energies [n, 79, 40], targets [n], alternatives [n] (a second output that is right too, or −1), what each
    example was made of [n]: a row of the table, or −1 for noise; and waveforms [n, 16000]."""

    energies: np.ndarray
    targets: np.ndarray
    alternatives: np.ndarray
    sources: np.ndarray
    waves: np.ndarray


def without_words(table, words):
    """Which recordings [n] hold none of these words: by label, by a synthetic recording's name or by the transcript."""
    banned, rows = set(words), zip(table["name"], table["label"], table["text"])
    return np.array([banned.isdisjoint([*spoken_word(n, label).split(), *text.split()]) for n, label, text in rows])


class Examples:
    """The training partition as batches.

    The network's outputs are the commands, every other word with many recordings, `other`, `babble` and silence.
    """

    def __init__(self, table, batch, seed, commands=COMMANDS, mined=None, hard_noise=False, without_noise=False, left_out=()):
        """`table` is that of recordings.load_all, `mined` that of render.load_mined.

        `hard_noise` draws more noise around words. `without_noise` draws the same examples and omits the noise around words.
        No example holds a word of `left_out`.
        """
        self.table, self.batch, self.seed, self.commands = table, batch, seed, commands
        self.left_out = tuple(left_out)
        self._select_recordings()
        self.mined, self.mined_shares = self._in_training_speech(mined)
        self._define_outputs()
        shares = dict(SHARES)
        if not self.has_speech:
            shares[Kind.RUNNING_SPEECH] = shares[Kind.BABBLE] = 0
        if len(self.cuts) == 0:
            shares[Kind.CUT_WORDS] = 0
        if not len(self.mined):
            shares[Kind.MINED_SPEECH] = 0
        if not self.splicer.pairs:
            shares[Kind.SPLICED_WORDS] = 0
        counts = [len(self.words)] + [int(len(self.words) * share) for share in shares.values()]
        self.kinds = np.repeat([Kind.WORDS, *shares], counts)
        self.surroundings = Surroundings(table, self.sounds, self.speech_row, seed, hard_noise, without_noise)
        self.epoch = 0

    def _select_recordings(self):
        """Rows of the training partition by their use."""
        table = self.table
        kind, label = table["kind"], table["label"]
        train = (table["part"] == "training") & without_words(table, self.left_out) & ~suspects.among(table["name"])
        # "know" among the other words would teach that "no" is none.
        others = [word for word, command in SOUNDS_LIKE.items() if command in self.commands]
        train &= (kind == "speech") | without_words(table, others)
        self.sounds = sounds_of(table, train)
        words = train & np.isin(kind, ["clip", "word"])
        # The folder of synthetic words, and the recordings in words/ under a command's name.
        synthetic = (label == SYNTHETIC) | ((kind == "word") & np.isin(label, self.commands))
        self.words, self.synthetic = np.flatnonzero(words & ~synthetic), np.flatnonzero(words & synthetic)
        self.command_words = self.words[np.isin(label[self.words], self.commands)]
        self.splicer = Splicer(table, self.words, SPEEDS, self.commands)
        self.cuts = np.flatnonzero(train & (kind == "cut"))
        _, word, counts = np.unique(label[self.cuts], return_inverse=True, return_counts=True)
        weights = counts[word] ** (CUT_POWER - 1.0) if len(self.cuts) else np.zeros(0)
        self.cut_shares = np.cumsum(weights / max(weights.sum(), 1e-9))
        self.cut_shares[-1:] = 1
        holds_command = np.array([says(self.commands, text) for text in table["text"]])
        speech = np.flatnonzero(train & (kind == "speech") & ~holds_command)
        self.has_speech = len(speech) > 0
        # Without running speech, pieces of words replace it around words and in babble.
        self.speech = speech if self.has_speech else self.words
        read = np.isin(label[self.speech], TRAINING_VOICES)
        self.talkers = [rows for rows in (self.speech[~read], self.speech[read]) if len(rows)]

    def _in_training_speech(self, mined):
        """The mined windows of speech that is trained on, (row, first sample) [n, 2], and their cumulative shares [n]; empty if
        nothing was mined."""
        if mined is None:
            return np.zeros((0, 2), np.int64), np.zeros(0)
        rows, first, scores = (column[np.isin(mined[0], self.speech)] for column in mined)
        weights = scores**MINED_POWER
        return np.stack([rows, first], axis=1), np.cumsum(weights / weights.sum())

    def _define_outputs(self):
        """The names of the outputs, and the output of every recording."""
        label = self.table["label"]
        names, counts = np.unique(label[self.words], return_counts=True)
        without_own = (*self.commands, *MANY_WORDS, *self.left_out)
        own = [str(n) for n, count in zip(names, counts) if count >= OWN_OUTPUT and n not in without_own]
        self.outputs = list(self.commands) + own + ["other", BABBLE, SILENCE]
        index = {name: i for i, name in enumerate(self.outputs)}
        self.other, self.silence, self.babble_output = index["other"], index[SILENCE], index[BABBLE]
        self.target = np.array([index.get(str(name), self.other) for name in label])

    def output_labels(self):
        """The label that each output counts towards."""
        return [n if n in self.commands or n == SILENCE else UNKNOWN for n in self.outputs]

    def holds_none_of(self, words):
        """A function of the sources [n] of rendered examples: which of them were made of none of these words.

        Speech that was added around a word or as babble is not looked at.
        """
        # Sources count recordings from 0; −1 is noise, which holds no word. What an older version inverted from pictures is below −1: of
        # it nothing is known any more.
        usable = np.concatenate([without_words(self.table, words), [True]])
        return lambda sources: usable[np.maximum(sources, -1)] & (sources >= -1)

    def __len__(self):
        """Batches in an epoch."""
        return len(self.kinds) // self.batch

    def order(self):
        """The order of the epoch's examples, indices into `kinds`."""
        return seeded("epoch order", self.epoch, seed=self.seed).permutation(len(self.kinds))

    def __getitem__(self, number):
        """Batch `number` of the epoch."""
        rows = self.order()[number * self.batch : (number + 1) * self.batch]
        generator = seeded("example", self.epoch, number, seed=self.seed)
        waves = np.zeros((self.batch, WINDOW), np.float32)
        targets, alternatives = np.zeros(self.batch, np.int64), np.full(self.batch, -1, np.int64)
        sources = np.full(self.batch, -1, np.int64)
        for i, row in enumerate(rows):
            kind, extent = self.kinds[row], None
            if kind == Kind.WORDS:
                sources[i] = self.words[row]
                targets[i], extent = self.word(waves[i], sources[i], generator)
            elif kind == Kind.CUT_WORDS:
                sources[i] = self.cuts[np.searchsorted(self.cut_shares, generator.random())]
                targets[i], extent = self.word(waves[i], sources[i], generator, widest_margin=800)
            elif kind == Kind.PARTS_OF_WORDS:
                sources[i] = generator.choice(self.command_words)
                targets[i], alternatives[i], extent = self.part_of_word(waves[i], sources[i], generator)
            elif kind == Kind.RUNNING_SPEECH:
                sources[i] = self.speech_row(generator)
                targets[i], extent = self.running_speech(waves[i], sources[i], generator)
            elif kind == Kind.BABBLE:
                targets[i], extent = self.babble(waves[i], generator)
            elif kind == Kind.MINED_SPEECH:
                sources[i], first = self.mined[np.searchsorted(self.mined_shares[:-1], generator.random())]
                targets[i], extent = self.mined_speech(waves[i], sources[i], first, generator)
            elif kind == Kind.SPLICED_WORDS:
                sources[i], extent = self.splicer(waves[i], generator)
                targets[i] = self.other
            elif kind == Kind.REVERSED_WORDS:
                sources[i] = generator.choice(self.command_words)
                targets[i], extent = self.reversed_word(waves[i], sources[i], generator)
            elif kind == Kind.SYNTHETIC_WORDS:
                sources[i] = generator.choice(self.synthetic if len(self.synthetic) > 0 else self.words)
                targets[i], extent = self.word(waves[i], sources[i], generator)
            else:
                targets[i] = self.silence
            if extent is None:
                self.surroundings.only_noise(waves[i], generator)
            else:
                self.surroundings.surround(waves[i], extent, generator)
        return Batch(log_mel.mel_energies(waves), targets, alternatives, sources, waves)

    def word(self, wave, row, generator, widest_margin=1600):
        """A whole word: as recorded with ±100 ms of shift, or anywhere in the window with other speech around it.

        Returns its target and its extent (first and last sample in the window); so do the methods below.
        """
        table, speed = self.table, generator.uniform(*SPEEDS)
        start, length = table["start"][row], table["length"][row]
        first, last = table["from"][row], table["to"][row]
        long = length > WINDOW or self.table["kind"][row] == "cut"
        if not long and generator.random() < 0.65:
            offset = WINDOW / 2 * (1 - speed) + generator.uniform(-1600, 1600)
            waveform.place(table["audio"], wave, start, length, offset, speed, 0.0, float(length))
            return self.target[row], (int((first - offset) / speed), int((last - offset) / speed))
        spoken = (last - first) / speed
        at = generator.uniform(0, max(1.0, WINDOW - spoken))
        offset = first - at * speed
        isolate = generator.random() < 0.6 or long
        margin = generator.uniform(300, widest_margin)
        low, high = (max(0.0, first - margin), min(float(length), last + margin)) if isolate else (0.0, float(length))
        waveform.place(table["audio"], wave, start, length, offset, speed, low, high)
        extent = (int(at), int(at + spoken))
        if isolate and generator.random() < 0.5:
            self.add_context(wave, extent, generator)
        return self.target[row], extent

    def reversed_word(self, wave, row, generator):
        """A command played backwards."""
        table, speed = self.table, generator.uniform(*SPEEDS)
        first, last, length = table["from"][row], table["to"][row], table["length"][row]
        waveform.place(table["audio"], wave, table["start"][row], length, float(last), -speed, 0.0, float(length))
        return self.other, (0, int((last - first) / speed))

    def part_of_word(self, wave, row, generator):
        """Part of a command, the rest of it outside the window or cut away.

        It is never another command. It is not a word if little is left; if much is left, that command is the alternative.
        """
        table, speed = self.table, generator.uniform(*SPEEDS)
        start, length = table["start"][row], table["length"][row]
        first, last = float(table["from"][row]), float(table["to"][row])
        part = generator.uniform(0.2, 0.75)
        left = max(1600.0, part * (last - first))
        alternative = self.target[row] if left > NO_WORD_BELOW * (last - first) else -1
        is_ending = generator.random() < 0.6
        low, high = (last - left, float(length)) if is_ending else (0.0, first + left)
        at_edge = generator.random() < 0.5
        if is_ending:
            at = 0.0 if at_edge else generator.uniform(0, WINDOW * 0.6)
            offset = low - at * speed
        else:
            at = float(WINDOW) if at_edge else generator.uniform(WINDOW * 0.4, WINDOW)
            offset = high - at * speed
        waveform.place(table["audio"], wave, start, length, offset, speed, low, high)
        extent = (int(at), int(at + left / speed)) if is_ending else (int(at - left / speed), int(at))
        if not at_edge and generator.random() < 0.4:
            self.add_context(wave, extent, generator)
        return self.other, alternative, extent

    def speech_row(self, generator):
        """The row of a recording of running speech."""
        return generator.choice(self.talkers[0 if len(self.talkers) == 1 or generator.random() >= READ_SPEECH else 1])

    def running_speech(self, wave, row, generator):
        """Running speech: a whole window of it, or a piece of it in silence, as when somebody begins to talk."""
        table = self.table
        length, speed = table["length"][row], generator.uniform(*SPEEDS)
        if generator.random() < 0.35:
            span = generator.uniform(2400, 10000)
            low = generator.uniform(0, max(1.0, length - span))
            at = generator.uniform(0, WINDOW) - span / 2
            waveform.place(table["audio"], wave, table["start"][row], length, low - at * speed, speed, low, low + span)
            return self.other, (max(0, int(at)), min(WINDOW, int(at + span / speed)))
        offset = generator.uniform(-4000, max(1.0, length - 12000))
        waveform.place(table["audio"], wave, table["start"][row], length, offset, speed, 0.0, float(length))
        return self.other, (0, WINDOW)

    def mined_speech(self, wave, row, first, generator):
        """Running speech about a window that an earlier network took for a command."""
        speed = generator.uniform(*MINED_SPEEDS)
        offset = first + WINDOW / 2 * (1 - speed) + generator.uniform(-MINED_SHIFT, MINED_SHIFT)
        length = self.table["length"][row]
        waveform.place(self.table["audio"], wave, self.table["start"][row], length, offset, speed, 0.0, float(length))
        return self.other, (max(0, int(-offset / speed)), min(WINDOW, int((length - offset) / speed)))

    def babble(self, wave, generator):
        """Two to five talkers at once."""
        for _ in range(generator.integers(2, 6)):
            row = self.speech_row(generator)
            start, length = self.table["start"][row], self.table["length"][row]
            span = min(WINDOW, length - 1)
            begin = start + generator.integers(0, max(1, length - span))
            own = np.sqrt((self.table["audio"][begin : begin + span].astype(np.float32) ** 2).mean()) / 32768 + 1e-4
            gain = 0.05 / own * 10 ** (generator.uniform(-4, 4) / 20)
            waveform.add_segment(self.table["audio"], wave, begin, 0, span, gain)
        return self.babble_output, (0, WINDOW)

    def add_context(self, wave, extent, generator):
        """Adds other speech that ends shortly before the word, begins shortly after it, or both."""
        loudness = waveform.level(wave, *extent)
        for before in (True, False):
            if generator.random() < (0.7 if before else 0.45):
                gap = int(generator.exponential(1200)) + 600
                span = int(generator.uniform(1600, WINDOW))
                first, last = (
                    (extent[0] - gap - span, extent[0] - gap) if before else (extent[1] + gap, extent[1] + gap + span)
                )
                if last <= 400 or first >= WINDOW - 400:
                    continue
                row = self.speech_row(generator) if generator.random() < 0.7 else generator.choice(self.words)
                start, length = self.table["start"][row], self.table["length"][row]
                if length <= span:
                    continue
                start += generator.integers(0, length - span)
                piece = self.table["audio"][start : start + span].astype(np.float32)
                own = np.sqrt((piece**2).mean()) / 32768 + 1e-5
                gain = min(20.0, loudness / own * 10 ** (generator.uniform(-9, 4) / 20))
                waveform.add_segment(self.table["audio"], wave, start, first, last, gain)
