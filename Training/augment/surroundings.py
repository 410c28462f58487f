"""What is around speech and between it: rooms, noise, music, other people's talk, levels and offsets."""

import dataclasses

import numpy as np

from Training.augment import noise, waveform
from Training.data.audio import WINDOW
from Training.data.recordings import samples
from Training.data.seeding import generator as seeded
from Training.data.vocabulary import BACKGROUND, BACKGROUND_SHARE, MUSIC

# The noise around a word: the share of words that have any, the range of its signal-to-noise ratio in dB, and the share of
# noises that are babble.
NOISE, HARD_NOISE = (0.75, -3, 34, 0.32), (0.88, 0, 20, 0.42)
# The least signal-to-noise ratio in babble: a word that drowns in it teaches that babble is a word.
LEAST_IN_BABBLE = 4
# Share of music among the recorded noise around words, and among the examples without speech, if there is any.
MUSIC_AROUND, MUSIC_ALONE = 0.15, 0.5
# Share of words in a room.
ROOM_SHARE = 0.2
# Share of measured rooms among the rooms, if there are any.
MEASURED_ROOMS = 0.4
# Share of examples with nothing above a random frequency, and its range in hertz. Some microphones and codecs end there, and clips made of
# pictures do: where a sound ends must not tell what is said.
LIMITED, LIMITS = 0.3, (3400, 7600)
# Number of simulated rooms and synthetic noises.
ROOMS, NOISES = 300, 300


@dataclasses.dataclass
class Sounds:
    """Rows of recorded sounds, music and background recordings, and the usable length of every recording."""

    noise: np.ndarray
    music: np.ndarray
    background: np.ndarray
    usable: np.ndarray


def sounds_of(table, train):
    """The Sounds among the rows in `train` [n] bool. The long background recordings are split in time: their ends are for validation."""
    label, length, is_noise = table["label"], table["length"], table["kind"] == "noise"
    background = is_noise & (label == BACKGROUND)
    usable = np.where(background, (length * BACKGROUND_SHARE).astype(np.int64), length)
    sounds = is_noise & (train | background)
    rows = [np.flatnonzero(chosen) for chosen in (sounds & (label != MUSIC), sounds & (label == MUSIC), background)]
    return Sounds(*rows, usable)


class Surroundings:
    """Draws what is added to an example."""

    def __init__(self, table, sounds, speech_row, seed, hard_noise=False, without_noise=False):
        """`speech_row(generator)` draws a recording of running speech.

        `hard_noise` draws more noise around words. `without_noise` draws the same noise around words and leaves it out.
        """
        self.table, self.sounds, self.speech_row, self.without_noise = table, sounds, speech_row, without_noise
        self.noise_share, self.least_ratio, self.most_ratio, self.babble_share = HARD_NOISE if hard_noise else NOISE
        generator = seeded("rooms and noises", seed=seed)
        self.rooms = noise.room_spectra(ROOMS, generator)
        measured = np.flatnonzero((table["kind"] == "room") & (table["part"] == "training"))
        self.measured_rooms = noise.spectra([samples(table, row) for row in measured]) if len(measured) else None
        self.synthetic_noise = np.stack([noise.colored_noise(generator) for _ in range(NOISES)])

    def noise_piece(self, row, generator):
        """A random second of a recording, int16 [16000] or shorter, without a background recording's end."""
        start, length = self.table["start"][row], self.sounds.usable[row]
        begin = start + generator.integers(0, max(1, length - WINDOW))
        return self.table["audio"][begin : begin + WINDOW]

    def speech_piece(self, row, generator):
        """A random second of running speech, int16 [16000] or shorter."""
        start, length = self.table["start"][row], self.table["length"][row]
        begin = start + generator.integers(0, max(1, length - WINDOW))
        return self.table["audio"][begin : begin + WINDOW]

    def ambience(self, generator):
        """One second [16000] without a word to recognize, at RMS 1: synthetic noise, recorded noise or babble; and whether it is
        babble."""
        draw = generator.random()
        if draw < 0.2:
            return self.synthetic_noise[generator.integers(len(self.synthetic_noise))], False
        is_babble = draw >= 1 - self.babble_share
        is_music = len(self.sounds.music) > 0 and generator.random() < MUSIC_AROUND
        row = self.speech_row(generator) if is_babble else generator.choice(self.sounds.music if is_music else self.sounds.noise)
        piece = self.noise_piece(row, generator).astype(np.float32)
        piece = np.pad(piece, (0, WINDOW - len(piece)))
        if is_babble:
            for _ in range(3):
                piece = piece + self.speech_piece(self.speech_row(generator), generator)
        return piece / (np.sqrt((piece**2).mean()) + 1.0), is_babble

    def surround(self, wave, extent, generator):
        """Adds a room, noise at a random signal-to-noise ratio and a level to speech that lies at `extent`."""
        if generator.random() < ROOM_SHARE:
            is_measured = self.measured_rooms is not None and generator.random() < MEASURED_ROOMS
            rooms = self.measured_rooms if is_measured else self.rooms
            wave[:] = noise.reverberate(wave[None], rooms[generator.integers(len(rooms))][None])[0]
        loudness = waveform.level(wave, *extent) + 1e-6
        if generator.random() < self.noise_share:
            draw = generator.random()
            around, is_babble = self.ambience(generator)
            least = max(self.least_ratio, LEAST_IN_BABBLE) if is_babble else self.least_ratio
            gain = loudness * 10 ** (-(least + draw * (self.most_ratio - least)) / 20)
            waveform.add_scaled(wave, around, 0 if self.without_noise else gain)
        if generator.random() < 0.06:
            hum = noise.hum(generator)
            gain = loudness * 10 ** (generator.uniform(-30, 3) / 20)
            waveform.add_scaled(wave, hum, 0 if self.without_noise else gain)
        self.limit(wave, generator)
        target = (
            10 ** (generator.uniform(-54, -8) / 20)
            if generator.random() < 0.6
            else loudness * 10 ** (generator.uniform(-6, 6) / 20)
        )
        waveform.convert(wave, target / loudness, self.offset(generator))

    def limit(self, wave, generator):
        """Takes away what is above a random frequency, from some examples."""
        if generator.random() < LIMITED:
            wave[:] = waveform.low_passed(wave, generator.uniform(*LIMITS))

    def offset(self, generator):
        """The DC offset of a cheap converter, mostly 0."""
        return generator.uniform(-0.1, 0.1) if generator.random() < 0.08 else 0.0

    def only_noise(self, wave, generator):
        """Silence: noise at any level from digital zero to full scale, without speech."""
        if generator.random() < 0.10:
            wave[:] = self.offset(generator)
            return
        is_background = generator.random() < 0.35
        row = generator.choice(self.sounds.background if is_background else self.sounds.noise)
        is_music = len(self.sounds.music) > 0 and generator.random() < MUSIC_ALONE
        if is_music:
            row = generator.choice(self.sounds.music)
        if is_music or generator.random() < 0.65:
            piece = self.noise_piece(row, generator)
            wave[:] = piece / 32768 if self.sounds.usable[row] >= WINDOW else 0
        else:
            wave[:] = self.synthetic_noise[generator.integers(len(self.synthetic_noise))]
            if generator.random() < 0.15:
                wave[: generator.integers(0, 14000)] = 0
        self.limit(wave, generator)
        loudness = waveform.level(wave, 0, WINDOW) + 1e-6
        target = 10 ** (generator.uniform(-85, -3) / 20)
        waveform.convert(wave, target / loudness, self.offset(generator))
