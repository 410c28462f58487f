"""What the confirming networks are trained on: words alone and beside other speech, talk, noise, each with what comes before and after.

An example is a window of a second or more. What it is judged by lies around its middle; a word's neighbours are in sight, as they
are when the gate holds a proposal. Every kind has the same noises, rooms, band limits and levels, so that none of them tells the class.
"""

import dataclasses

import numpy as np
import scipy.fft

from Training.augment import noise
from Training.augment.surroundings import LIMITS, Surroundings, sounds_of
from Training.augment.waveform import low_passed
from Training.confirm.networks import NO_SPEECH, OTHER_SPEECH, WORDS35
from Training.data import suspects
from Training.data.audio import RATE, WINDOW, fade, rms, unit_rms
from Training.data.recordings import samples
from Training.data.seeding import generator as seeded
from Training.data.vocabulary import COMMANDS, HELD_OUT, JUDGES, MANY_WORDS, SOUNDS_LIKE, SYNTHETIC, says
from Training.evaluate.streams import split_phrases


@dataclasses.dataclass(frozen=True)
class Mixture:
    """What a network sees: examples of each kind in a batch, and the shares of what befalls them."""

    # Commands and other words said alone, words cut out of running speech with it around them, running speech, recordings of other
    # collections' words, commands and other words by synthetic voices, no speech at all, and several people at once.
    counts: dict
    # Words with other speech before or after them.
    neighbours: float
    # Examples in noise, noises that are several talkers at once, and signal-to-noise ratios in dB in noise and in babble.
    noisy: float
    babble: float
    ratios: tuple
    ratios_in_babble: tuple
    # Examples whose speech is by telephone.
    telephone: float
    # Words that lie where they lie in the recording, or up to SHIFT beside it, not in the middle; and words that are as recorded in all else, too.
    placed: float = 0.0
    untouched: float = 0.0
    # The published answer's share of the target of a word, and the temperature at which it is learned.
    taught: float = 0.6
    temperature: float = 1.0
    # Of noises that are talkers, those of one alone, such as a television.
    one_talker: float = 0.0


MIXTURES = {
    "rejects": Mixture(
        {"commands": 24, "others": 8, "cuts": 10, "talk": 24, "words": 2, "made_commands": 3, "made_words": 5, "quiet": 3, "babble": 2},
        *(0.35, 0.75, 0.25, (0, 25), (4, 25), 0.2),
    ),
    "beside": Mixture(
        {"commands": 26, "others": 8, "cuts": 10, "talk": 24, "words": 2, "made_commands": 3, "made_words": 5, "quiet": 2, "babble": 2},
        *(0.3, 0.8, 0.6, (0, 25), (2, 25), 0.2),
        one_talker=0.6,
    ),
    "names": Mixture(
        {"commands": 32, "others": 12, "cuts": 4, "talk": 6, "words": 2, "made_commands": 2, "made_words": 4, "quiet": 2, "babble": 4},
        *(0.1, 0.8, 0.5, (-2, 22), (3, 22), 0.1),
    ),
    "keeps": Mixture(
        {"commands": 24, "others": 16, "cuts": 1, "talk": 2, "quiet": 1, "babble": 2},
        *(0.05, 0.8, 0.5, (0, 25), (2, 22), 0.08),
        *(0.7, 0.25, 1.0, 2.0),
    ),
}
# Share of talk that the published network takes for a command, and of talk that is a phrase between two pauses.
HARD, PHRASES = 0.6, 0.3
# Pause between a word and other speech before or after it, in seconds.
PAUSE = (0.12, 0.5)
# Share of words cut out of running speech that have none of it around them.
ALONE = 0.5
# How far, in seconds, the middle of what is judged lies from the window's middle at most.
SHIFT = 0.12
# Shares of examples in a room, and with nothing above a random frequency.
ROOM_SHARE, LIMITED = 0.2, 0.25
# Of speech by telephone the lowest and the highest frequency in hertz, and the curve of its 8-bit samples (μ-law).
LOWEST, HIGHEST, MU = (150, 400), (3200, 3900), 255
# Noise that every example has, in dB below it: what a codec leaves out, the converter of a microphone would have put there.
FLOOR = (35, 65)
# Playback speeds.
SPEEDS = (0.9, 1.12)
# RMS of an example in dB of full scale, and the peak that none exceeds.
LEVELS, PEAK = (-45, -14), 0.5


@dataclasses.dataclass
class Batch:
    """Waveforms [n, samples]; for each the index of its target, and the row of the table whose clean answer is half of the target, or −1."""

    waves: np.ndarray
    targets: np.ndarray
    rows: np.ndarray


def shifted(wave, speed):
    """The waveform played faster or slower, which moves its pitch too."""
    return np.interp(np.arange(0, len(wave) - 1, speed), np.arange(len(wave)), wave).astype(np.float32)


def by_telephone(wave, lowest, highest):
    """The waveform between two frequencies, in the 8-bit samples of a telephone line that its peak reaches."""
    spectrum = scipy.fft.rfft(low_passed(wave, highest))
    spectrum[: int(lowest * len(wave) / RATE)] = 0
    wave = scipy.fft.irfft(spectrum, len(wave))
    peak = max(np.abs(wave).max(), 1e-9)
    curve = np.sign(wave) * np.log1p(MU * np.abs(wave) / peak) / np.log1p(MU)
    steps = np.round(curve * 127) / 127
    return np.sign(steps) * np.expm1(np.abs(steps) * np.log1p(MU)) / MU * peak


def add(window, wave, begin):
    """Adds a waveform to the window, from sample `begin`; what lies outside is lost."""
    first, last = max(0, begin), min(len(window), begin + len(wave))
    if last > first:
        window[first:last] += wave[first - begin : last - begin]


class Examples:
    """Draws batches from the training partition of the table of recordings.load_all, without clips of a doubtful label."""

    def __init__(self, table, window, seed, hard=None, mixture=MIXTURES["rejects"]):
        """`window` is in samples; `hard` are windows of talk that a network takes for a command, as (row, middle sample) [n, 2]."""
        self.table, self.window, self.seed, self.mixture = table, window, seed, mixture
        kind, label, names = table["kind"], table["label"], table["name"]
        train = (table["part"] == "training") & ~suspects.among(names)
        self.labels = [*WORDS35, OTHER_SPEECH, NO_SPEECH]
        index = {word: number for number, word in enumerate(self.labels)}
        self.target = np.array([index.get(str(word), index[OTHER_SPEECH]) for word in label])
        self.no_speech = index[NO_SPEECH]
        clips = train & (kind == "clip") & np.isin(label, WORDS35) & ~np.isin(label, HELD_OUT)
        unknown = (*SOUNDS_LIKE, *HELD_OUT, *JUDGES, *MANY_WORDS)
        of_talk = train & (kind == "speech") & np.array([not says(COMMANDS, text) for text in table["text"]])
        self.rows = {
            "commands": np.flatnonzero(clips & np.isin(label, COMMANDS)),
            "others": np.flatnonzero(clips & ~np.isin(label, COMMANDS)),
            "cuts": np.flatnonzero(train & (kind == "cut") & ~np.isin(label, unknown)),
            "words": np.flatnonzero(train & (kind == "word") & ~np.isin(label, (*unknown, *WORDS35))),
            "made_commands": np.flatnonzero(train & (kind == "word") & np.isin(label, COMMANDS)),
            "made_words": np.flatnonzero(train & (kind == "word") & (label == SYNTHETIC)),
            "talk": np.flatnonzero(of_talk & (table["length"] > RATE) & ~np.isin(label, MANY_WORDS)),
        }
        self.lengths = np.cumsum(table["length"][self.rows["talk"]])
        self.hard = np.zeros((0, 2), np.int64) if hard is None else hard
        self.surroundings = Surroundings(table, sounds_of(table, train), self.talk_row, seed)
        self.surroundings.babble_share = 0.0
        measured = [samples(table, row)[: noise.ROOM] for row in np.flatnonzero((kind == "room") & train)]
        simulated = scipy.fft.irfft(self.surroundings.rooms[:100], axis=1)[:, : noise.ROOM]
        self.rooms = [*simulated, *(response / np.sqrt((response**2).sum()) for response in measured)]

    def talk_row(self, generator):
        """A recording of running speech, the longer the likelier."""
        at = np.searchsorted(self.lengths, generator.random() * self.lengths[-1], "right")
        return self.rows["talk"][min(at, len(self.lengths) - 1)]

    def batch(self, number):
        """The batch of this number; the same for the same seed."""
        generator = seeded("rejecter examples", number, seed=self.seed)
        made = [getattr(self, name)(generator) for name, count in self.mixture.counts.items() if len(self.rows.get(name, [0])) for _ in range(count)]
        waves, targets, rows = zip(*made)
        return Batch(np.stack(waves).astype(np.float32), np.array(targets), np.array(rows))

    def middle(self, generator):
        """The sample at which the middle of what is judged lies."""
        return self.window // 2 + int(generator.uniform(-SHIFT, SHIFT) * RATE)

    def commands(self, generator):
        """A command said alone, some beside other speech."""
        return self.alone(generator.choice(self.rows["commands"]), generator)

    def others(self, generator):
        """Another word that the network has an output for."""
        return self.alone(generator.choice(self.rows["others"]), generator)

    def words(self, generator):
        """A word of another collection, which is other speech."""
        window, target, _ = self.alone(generator.choice(self.rows["words"]), generator)
        return window, target, -1

    def made_commands(self, generator):
        """A command of another collection; most are by synthetic voices, so that such a voice is no sign of another word."""
        window, target, _ = self.alone(generator.choice(self.rows["made_commands"]), generator)
        return window, target, -1

    def made_words(self, generator):
        """A word of the dictionary, or one near a command, by a synthetic voice."""
        window, target, _ = self.alone(generator.choice(self.rows["made_words"]), generator)
        return window, target, -1

    def alone(self, row, generator, begin=0, end=None):
        """The word of a recording, of samples [begin, end) alone, with other speech before or after some."""
        table = self.table
        if self.mixture.untouched and generator.random() < self.mixture.untouched:
            wave, window = samples(table, row, begin, end), np.zeros(self.window, np.float32)
            add(window, wave, (self.window - len(wave)) // 2)
            return window * min(1, PEAK / max(np.abs(window).max(), 1e-6)), self.target[row], row
        speed = generator.uniform(*SPEEDS) if generator.random() < 0.5 else 1.0
        wave = shifted(fade(samples(table, row, begin, end)), speed)
        first, last = int((table["from"][row] - begin) / speed), int((table["to"][row] - begin) / speed)
        window, loudness = np.zeros(self.window, np.float32), rms(wave[first:last])
        at = self.middle(generator) - (first + last) // 2
        if self.mixture.placed and generator.random() < self.mixture.placed:
            at += (first + last) // 2 - len(wave) // 2
        add(window, wave, at)
        for side in (-1, 1):
            if generator.random() < self.mixture.neighbours / 2:
                self.add_neighbour(window, at + first, at + last, side, loudness, generator)
        known = speed == 1 or self.mixture.taught == 1
        return self.surrounded(window, loudness, generator), self.target[row], row if known else -1

    def add_neighbour(self, window, first, last, side, loudness, generator):
        """Adds running speech before (−1) or after (1) what lies in samples [first, last)."""
        piece = self.surroundings.speech_piece(self.talk_row(generator), generator).astype(np.float32)
        piece = fade(unit_rms(piece)) * np.float32(loudness * 10 ** (generator.uniform(-8, 4) / 20))
        pause = int(generator.uniform(*PAUSE) * RATE)
        add(window, piece, last + pause if side > 0 else first - pause - len(piece))

    def cuts(self, generator):
        """A word in running speech: a command counts as one."""
        row = generator.choice(self.rows["cuts"])
        first, last = int(self.table["from"][row]), int(self.table["to"][row])
        if generator.random() < ALONE:
            return *self.alone(row, generator, first, last)[:2], -1
        window = np.zeros(self.window, np.float32)
        add(window, fade(samples(self.table, row)), self.middle(generator) - (first + last) // 2)
        return self.surrounded(window, rms(samples(self.table, row)), generator), self.target[row], -1

    def talk(self, generator):
        """Running speech around a place that a network takes for a command, or anywhere; some as a phrase between pauses."""
        if len(self.hard) and generator.random() < HARD:
            row, middle = self.hard[generator.integers(len(self.hard))]
        else:
            row = self.talk_row(generator)
            middle = generator.integers(self.table["length"][row])
        wave = samples(self.table, row)
        if generator.random() < PHRASES:
            pieces = split_phrases(wave)
            ends = np.cumsum([len(piece) for piece in pieces])
            number = min(int(np.searchsorted(ends, middle, "right")), len(pieces) - 1)
            wave, middle = fade(pieces[number]), middle - (ends[number] - len(pieces[number]))
        window = np.zeros(self.window, np.float32)
        add(window, wave, self.middle(generator) - int(middle))
        return self.surrounded(window, rms(wave), generator), self.target[row], -1

    def quiet(self, generator):
        """No speech: noise at any level."""
        return self.at_any_level(self.noise(generator), generator), self.no_speech, -1

    def babble(self, generator):
        """Several people at once, which is other speech."""
        return self.at_any_level(self.talkers(generator), generator), self.labels.index(OTHER_SPEECH), -1

    def at_any_level(self, wave, generator):
        return np.clip(wave * 10 ** (generator.uniform(-75, -12) / 20), -PEAK, PEAK)

    def noise(self, generator):
        """A window of noise or music at RMS 1."""
        pieces = [fade(self.surroundings.ambience(generator)[0]) for _ in range(-(-self.window // WINDOW))]
        return unit_rms(np.concatenate(pieces)[: self.window])

    def talkers(self, generator):
        """A window of some talkers at once, at RMS 1."""
        window = np.zeros(self.window, np.float32)
        alone = self.mixture.one_talker and generator.random() < self.mixture.one_talker
        for _ in range(1 if alone else generator.integers(3, 7)):
            row = self.talk_row(generator)
            first = generator.integers(max(1, self.table["length"][row] - self.window))
            add(window, fade(unit_rms(samples(self.table, row, first, first + self.window))), 0)
        return unit_rms(window)

    def surrounded(self, window, loudness, generator):
        """The window by telephone, in a room, in noise, without high tones, at another level; each of them some."""
        loudness = max(loudness, 1e-5)
        if generator.random() < self.mixture.telephone:
            window = by_telephone(window, generator.uniform(*LOWEST), generator.uniform(*HIGHEST))
        if generator.random() < ROOM_SHARE:
            response = self.rooms[generator.integers(len(self.rooms))]
            size = scipy.fft.next_fast_len(self.window + len(response))
            window = scipy.fft.irfft(scipy.fft.rfft(window, size) * scipy.fft.rfft(response, size), size)[: self.window]
        if generator.random() < self.mixture.noisy:
            is_babble = generator.random() < self.mixture.babble
            around = self.talkers(generator) if is_babble else self.noise(generator)
            ratios = self.mixture.ratios_in_babble if is_babble else self.mixture.ratios
            window = window + around * (loudness * 10 ** (-generator.uniform(*ratios) / 20))
        if generator.random() < LIMITED:
            window = low_passed(window, generator.uniform(*LIMITS))
        window = window + generator.normal(size=self.window) * (loudness * 10 ** (-generator.uniform(*FLOOR) / 20))
        gain = 10 ** (generator.uniform(*LEVELS) / 20) / loudness
        return window * min(gain, PEAK / max(np.abs(window).max(), 1e-6))
