"""Speech beside the same speech in noise and rooms, for the network of speech sounds.

The speakers neither calibrate nor measure typed words: see `speakers`. Noise and rooms are those that the program's own networks train with.
"""

import numpy as np
import scipy.fft
import scipy.signal

from Training.augment.noise import colored_noise
from Training.data.recordings import decode, read_tar
from Training.data.split import part, partition
from Training.data.vocabulary import BACKGROUND
from Training.phonemes.speakers import RATE, TRAINED, recordings

WINDOW = 2 * RATE
# Share of the windows that are left clean, in a room, over a telephone, beside another speaker, and without speech.
CLEAN, ROOM, TELEPHONE, TALK, NONE = 0.35, 0.3, 0.12, 0.12, 0.06
# Decibels of speech over noise and over other speech; level of the loudest sample of speech in decibels of full scale.
NOISE_RATIO, TALK_RATIO, PEAK = (-3, 22), (6, 20), (-26, -1)
# Clips of each word of Speech Commands; share of the pieces of speech that are of sentences.
CLIPS, SENTENCES = 500, 0.65


def speech(data):
    """Recordings of sentences, and clips of words, as 16-bit samples."""
    sentences, clips = [], []
    for tar, folders in TRAINED.items():
        sentences += [decode(content) for name, content in read_tar(data / tar) if any(folder in name for folder in folders)]
    sentences += [np.round(samples * 32767).astype(np.int16) for samples in recordings(data, "trains")]
    for tar in sorted(data.glob("speech_commands*.tar")):
        names = [(name, content) for name, content in read_tar(tar) if partition(name) == "training"]
        clips += [decode(content) for _, content in names[:: max(1, len(names) // CLIPS)]]
    return sentences, clips


def noises(data):
    """Recordings of noise, as floats of RMS 1."""
    found = []
    for tar in ("noise.tar", "noise2.tar"):
        for name, content in read_tar(data / tar):
            if part("noise", "noise", name) == "training" and f"/{BACKGROUND}/" not in name:
                wave = decode(content).astype(np.float32)
                found.append(wave / (wave.std() + 1e-3))
    return [wave for wave in found if len(wave) >= RATE]


def rooms(data):
    """Impulse responses that begin with the direct sound, of energy 1."""
    found = []
    for name, content in read_tar(data / "rooms.tar"):
        if part("room", "room", name) == "training":
            wave = decode(content).astype(np.float32)
            wave = wave[np.argmax(np.abs(wave)) :][:RATE]
            found.append(wave / np.sqrt((wave**2).sum()))
    return found


class Mixture:
    """Batches of windows `[windows, 32000]`: clean, and as a microphone may hear them."""

    def __init__(self, data, seed):
        self.speech, self.noises, self.rooms = speech(data), noises(data), rooms(data)
        self.sentences = np.array([len(wave) for wave in self.speech[0]], float)
        self.generator = np.random.default_rng(seed)

    def pick(self, items):
        return items[self.generator.integers(len(items))]

    def piece(self, most):
        """At most so many samples of one speaker at a random speed, from full scale −1 to 1."""
        generator = self.generator
        speed = generator.uniform(0.88, 1.14)
        if generator.random() < SENTENCES:
            # As often as there are seconds of them.
            wave = self.speech[0][generator.choice(len(self.sentences), p=self.sentences / self.sentences.sum())]
        else:
            wave = self.pick(self.speech[1])
        wave, wanted = wave.astype(np.float32), int(most * speed) + 1
        if len(wave) > wanted:
            first = generator.integers(len(wave) - wanted)
            wave = wave[first : first + wanted]
        wave = wave / (np.abs(wave).max() + 1.0)
        return np.interp(np.arange(int(len(wave) / speed)) * speed, np.arange(len(wave)), wave).astype(np.float32)[:most]

    def utterance(self):
        """Two seconds with speech somewhere in them."""
        out, first = np.zeros(WINDOW, np.float32), self.generator.integers(RATE // 2)
        while first < WINDOW - RATE // 4:
            wave = self.piece(WINDOW - first)
            out[first : first + len(wave)] = wave
            first += len(wave) + self.generator.integers(RATE)
        # The speech begins or ends at the window's edge as often.
        return out if self.generator.random() < 0.5 else np.roll(out, self.generator.integers(RATE // 2))

    def noise(self):
        """Two seconds of noise of RMS 1, of one or two kinds."""
        generator = self.generator
        if generator.random() < 0.25:
            wave = np.concatenate([colored_noise(generator)] * 2)
        else:
            wave = self.pick(self.noises)
            wave = np.resize(wave, max(len(wave), WINDOW))
            first = generator.integers(len(wave) - WINDOW + 1)
            wave = wave[first : first + WINDOW]
            # A place of near-silence in a recording is no noise.
            wave = wave / max(wave.std(), 0.1)
        return wave + (0.5 * self.noise() if generator.random() < 0.2 else 0)

    def coloured(self, wave):
        """The wave as a microphone colours it: a slope over the frequencies."""
        slope = self.generator.uniform(-6, 6) / 20
        frequencies = np.arange(WINDOW // 2 + 1) * RATE / WINDOW
        gain = (np.maximum(frequencies, 60) / 1000) ** (slope / 3.3)
        return scipy.fft.irfft(scipy.fft.rfft(wave) * gain, WINDOW).astype(np.float32)

    def telephone(self, wave):
        """The band and the companding of a telephone."""
        low = scipy.signal.resample_poly(wave, 1, 2)
        sections = scipy.signal.butter(3, [200, 3500], "bandpass", fs=RATE // 2, output="sos")
        low = np.clip(scipy.signal.sosfilt(sections, low), -1, 1)
        code = np.round(np.sign(low) * np.log1p(255 * np.abs(low)) / np.log(256) * 127) / 127
        return scipy.signal.resample_poly(np.sign(code) * (256 ** np.abs(code) - 1) / 255, 2, 1).astype(np.float32)

    def window(self):
        generator = self.generator
        clean = self.utterance() if generator.random() >= NONE else np.zeros(WINDOW, np.float32)
        clean *= 10 ** (generator.uniform(*PEAK) / 20)
        mixed = clean
        if generator.random() >= CLEAN:
            mixed = self.coloured(mixed)
            if generator.random() < ROOM:
                mixed = scipy.signal.fftconvolve(mixed, self.pick(self.rooms))[:WINDOW].astype(np.float32)
                # Far from the microphone there is the room before the voice.
                mixed *= np.abs(clean).max() / (np.abs(mixed).max() + 1e-9)
            # The level of speech is that of its louder half.
            level = np.sqrt(np.mean(np.sort(mixed**2)[-WINDOW // 2 :])) or 10 ** (generator.uniform(-60, -20) / 20)
            mixed = mixed + self.noise() * level * 10 ** (-generator.uniform(*NOISE_RATIO) / 20)
            if generator.random() < TALK:
                other = self.utterance()
                mixed = mixed + other / (np.sqrt(np.mean(other**2)) + 1e-6) * level * 10 ** (-generator.uniform(*TALK_RATIO) / 20)
            if generator.random() < TELEPHONE:
                mixed = self.telephone(mixed)
        floor = generator.normal(0, 10 ** generator.uniform(-5, -3.5), WINDOW)
        return clean + 1e-5 * generator.normal(size=WINDOW), np.clip(mixed + floor, -1, 1)

    def batch(self, windows):
        pairs = [self.window() for _ in range(windows)]
        return (np.stack(side).astype(np.float32) for side in zip(*pairs))
