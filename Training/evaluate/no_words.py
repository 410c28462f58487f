"""Seconds of sound without any word, by kind: babble, steady noise, music and environmental sounds."""

import numpy as np
import scipy.fft

from Training.data import validation_sets
from Training.data.audio import RATE, WINDOW, unit_rms
from Training.data.seeding import generator as seeded
from Training.data.split import PARTS

# Windows of each kind, and the range of their RMS in dB of full scale.
COUNT, LEVELS = 1000, (-50, -10)


def steady(generator):
    """One second of white, pink or brown noise, hum or a tone, at RMS 1."""
    time = np.arange(WINDOW) / RATE
    kind = generator.integers(5)
    if kind == 3:
        base = generator.choice([50, 60])
        return unit_rms(sum(np.sin(2 * np.pi * (base * k * time + generator.random())) / k for k in range(1, 9)))
    if kind == 4:
        return unit_rms(np.sin(2 * np.pi * generator.uniform(100, 4000) * time))
    bins = WINDOW // 2 + 1
    spectrum = generator.normal(size=bins) + 1j * generator.normal(size=bins)
    spectrum[0] = 0
    return unit_rms(scipy.fft.irfft(spectrum * np.maximum(np.arange(bins), 20) ** -(kind / 2)))


def note(hertz, seconds, generator):
    """A plucked string (Karplus and Strong): noise that runs through a delay line and is smoothed."""
    delay = max(2, int(RATE / hertz))
    line, out = generator.uniform(-1, 1, delay), np.zeros(int(seconds * RATE))
    for begin in range(0, len(out), delay):
        part = out[begin : begin + delay]
        part[:] = line[: len(part)]
        line = 0.996 * (line + np.roll(line, 1)) / 2
    return out


def music(generator):
    """One second out of chords and a melody on plucked strings with a drum, at RMS 1. There are no recordings of music."""
    beat = 60 / generator.uniform(70, 150)
    out = np.zeros(2 * WINDOW)
    root = 110 * 2 ** (generator.integers(12) / 12)
    scale = [0, 2, 4, 5, 7, 9, 11, 12]
    for number in range(int(2 / beat) + 1):
        start = int(number * beat * RATE)
        chord = [0, 4, 7] if number % 4 < 2 else [5, 9, 12]
        pitches = [root * 2 ** (step / 12) for step in chord] if number % 2 == 0 else []
        pitches.append(2 * root * 2 ** (scale[generator.integers(len(scale))] / 12))
        sounds = [note(pitch, 1.5 * beat, generator) for pitch in pitches]
        if generator.random() < 0.7:
            drum = generator.normal(size=RATE // 10) * np.exp(-np.arange(RATE // 10) / generator.uniform(80, 400))
            sounds.append(drum * generator.uniform(0.2, 1))
        for sound in sounds:
            last = min(len(out), start + len(sound))
            if last > start:
                out[start:last] += sound[: last - start]
    begin = generator.integers(0, WINDOW)
    return unit_rms(out[begin : begin + WINDOW])


def windows(table, held_out):
    """Windows [n, 16000] by kind, each at a random level; of environmental sounds as in validation_sets."""
    # Numbers of its own for each part, so that what chooses is not what is reported.
    generator = seeded("noise without words", PARTS.index(held_out.part))

    def levelled(waves):
        gains = 10 ** (generator.uniform(*LEVELS, len(waves)) / 20)
        return np.clip(np.stack(waves) * gains[:, None], -1, 1).astype(np.float32)

    babble = held_out.babble(COUNT * WINDOW, generator).reshape(COUNT, WINDOW)
    return {
        "babble of four": levelled([unit_rms(wave) for wave in babble]),
        "steady noise": levelled([steady(generator) for _ in range(COUNT)]),
        "music (synthetic)": levelled([music(generator) for _ in range(COUNT)]),
        "sounds": validation_sets.sounds(table, held_out.part),
    }


def babble_and_music(table, held_out):
    """Windows [n, 16000] of these two kinds: what is taken for a word most often."""
    kinds = windows(table, held_out)
    return np.concatenate([kinds[name] for name in kinds if name.startswith(("babble", "music"))])
