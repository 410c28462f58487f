"""Measures a model on degraded clips of the reporting half: noise, rooms, clipping, telephone and so on.

    python -m Training.evaluate.robustness --data DIR --cache DIR --beckon BINARY --model MODEL

Each condition is a folder of these clips in the dataset's layout, `<condition>/<label>/<n>.wav`, degraded in one way
and scored by `beckon classify --clips --json`. Prints one Markdown table; all figures are per cent of clips right.

Signal-to-noise ratios and hum levels are relative to the word's RMS within its bounds. A silence clip gets the noise of a
randomly chosen word: noise alone, or its own sound with hum. Babble alone is speech without a command: there both `_unknown_`
and `_silence_` count as right. Words, unknown and silence weigh 80, 10 and 10 per cent in `all`.
"""

import os
import tempfile

import numpy as np
import pyroomacoustics
import scipy.signal

from Training.data import command_line, recordings, validation_sets
from Training.data.audio import RATE, WINDOW, rms
from Training.data.seeding import generator as seeded
from Training.data.vocabulary import COMMANDS, SILENCE, UNKNOWN
from Training.evaluate import program
from Training.evaluate.held_out import HeldOut
from Training.model import metrics

LABELS = COMMANDS + [UNKNOWN, SILENCE]
# Name, size in metres, RT60 in seconds.
ROOMS = [("small room", (3.2, 2.8, 2.4), 0.2), ("medium room", (5, 4, 2.6), 0.4), ("large room", (9, 7, 3.2), 0.7)]
# Positions of talker and microphone in each room.
POSITIONS = 8


class Clips:
    """The clips [n, 16000] of the reporting half with the words' bounds and levels."""

    def __init__(self, table, share, seed):
        waves, truth = validation_sets.clips(table, "report")
        order = seeded("degraded clips", seed=seed).permutation(len(waves))
        chosen = np.sort(order[: max(1, round(share * len(waves)))])
        self.waves, self.truth = waves[chosen], truth[chosen]
        self.silent = self.truth == LABELS.index(SILENCE)
        self.bounds = [recordings.utterance_bounds(np.round(wave * 32768)) for wave in self.waves]
        levels = np.array([rms(wave[first:last]) for wave, (first, last) in zip(self.waves, self.bounds)])
        spoken = levels[~self.silent]
        drawn = seeded("levels of silence", seed=seed).choice(spoken, len(levels)) if len(spoken) else levels
        self.levels = np.where(self.silent, drawn, levels)

    def each(self, change):
        """The clips [n, samples], each as `change(wave, first, last, level, silent)` returns it."""
        rows = zip(self.waves, self.bounds, self.levels, self.silent)
        return np.stack([change(wave, *span, level, silent) for wave, span, level, silent in rows]).astype(np.float32)


def with_noise(source, ratio, generator):
    """Adds noise from the waveform `source` at a ratio in dB over the word's bounds; silence becomes the noise alone."""

    def change(wave, first, last, level, silent):
        while True:
            begin = generator.integers(0, len(source) - WINDOW)
            noise = source[begin : begin + WINDOW]
            loudness = rms(noise[first:last])
            if loudness > 0.03:  # where the whole has RMS 1: below, this is a gap between two sounds
                break
        noise = noise * (level / loudness * 10 ** (-ratio / 20))
        return noise if silent else wave + noise

    return change


def at_peak(decibels):
    return lambda wave, *_: wave * (10 ** (decibels / 20) / max(np.abs(wave).max(), 1e-9))


def clipping(percent):
    """Amplifies until so many per cent of the word's samples clip; in a silence clip, of all its samples."""

    def change(wave, first, last, level, silent):
        limit = np.quantile(np.abs(wave if silent else wave[first:last]), 1 - percent / 100)
        return np.clip(wave / max(limit, 1e-9), -1, 1)

    return change


def with_hum(decibels, generator):
    """Adds 50 Hz and its harmonics up to 400 Hz, falling as 1/n, at a level relative to the word's."""
    time = np.arange(WINDOW) / RATE

    def change(wave, first, last, level, silent):
        hum = sum(np.sin(2 * np.pi * (50 * k * time + generator.random())) / k for k in range(1, 9))
        return wave + hum * (level / rms(hum) * 10 ** (decibels / 20))

    return change


def with_offset(value):
    return lambda wave, *_: np.clip(wave + value, -1, 1)


def resampled(waves, rate):
    """Waveforms at another rate: flat to 94 % of the lower rate's band, more than 100 dB down above it."""
    common = np.gcd(rate, RATE)
    up, down = rate // common, RATE // common
    most = max(up, down)
    taps = scipy.signal.firwin(2 * 64 * most + 1, 0.94 / most, window=("kaiser", 12))
    return scipy.signal.resample_poly(waves, up, down, axis=1, window=taps).astype(np.float32)


def telephone(waves):
    """300 to 3400 Hz at 8 kHz, to be written as μ-law."""
    taps = scipy.signal.firwin(1025, [300, 3400], pass_zero=False, fs=RATE)
    return resampled(scipy.signal.fftconvolve(waves, taps[None], mode="same", axes=1), 8000)


def impulse_responses(size, target, generator):
    """Impulse responses of one simulated room, talker and microphone 1 to 3 m apart, and its measured RT60 in seconds.

    Each begins with the direct sound. The absorption is adjusted until the median RT60 is within 5 % of `target`.
    """

    def position():
        while True:
            talker, microphone = (generator.uniform(0.5, np.array(size) - 0.5) for _ in range(2))
            talker[2], microphone[2] = generator.uniform(1.2, 1.8), generator.uniform(0.7, 1.6)
            if 1 <= np.linalg.norm(talker - microphone) <= 3:
                return talker, microphone

    positions, requested = [position() for _ in range(POSITIONS)], target
    for _ in range(4):
        absorption, order = pyroomacoustics.inverse_sabine(requested, size)
        material = pyroomacoustics.Material(absorption)
        out = []
        for talker, microphone in positions:
            room = pyroomacoustics.ShoeBox(size, fs=RATE, materials=material, max_order=order)
            room.add_source(talker)
            room.add_microphone(microphone)
            room.compute_rir()
            response = room.rir[0][0]
            out.append(response[np.flatnonzero(np.abs(response) > 0.5 * np.abs(response).max())[0] :])
        measured = float(np.median([pyroomacoustics.experimental.measure_rt60(r, RATE) for r in out]))
        if abs(measured / target - 1) < 0.05:
            break
        requested *= target / measured
    return out, measured


def in_room(impulses, generator):
    """Convolves with a random impulse response; the word keeps its level."""

    def change(wave, first, last, level, silent):
        response = impulses[generator.integers(len(impulses))]
        wet = scipy.signal.fftconvolve(wave, response)[:WINDOW]
        return wet * (rms(wave[first:last]) / max(rms(wet[first:last]), 1e-9))

    return change


def conditions(clips, held_out, seed):
    """Yields name, waveforms, and the rate and WAV subtype to write them in."""

    def draw(number):
        return seeded("degradation", number, seed=seed)

    yield "clean", clips.waves, RATE, "FLOAT"
    for number, (kind, make) in enumerate([("noise", held_out.noise), ("babble", held_out.babble)]):
        source = make(600 * RATE, draw(number))
        for ratio in (20, 10, 5, 0):
            waves = clips.each(with_noise(source, ratio, draw(10 + number)))
            yield f"{kind}, {ratio} dB below the word", waves, RATE, "FLOAT"
    for decibels in (-40, -30, -20, -6, 0):
        yield f"peak at {decibels} dBFS, 16 bits", clips.each(at_peak(decibels)), RATE, "PCM_16"
    for rate in (8000, 11025, 44100, 48000):
        band = f" (nothing above {rate / 2000:g} kHz)" if rate < RATE else ""
        yield f"at {rate} Hz{band}", resampled(clips.waves, rate), rate, "FLOAT"
    yield "telephone: 300–3400 Hz, μ-law, 8000 Hz", telephone(clips.waves), 8000, "ULAW"
    for number, (name, size, target) in enumerate(ROOMS):
        impulses, measured = impulse_responses(size, target, draw(20 + number))
        waves = clips.each(in_room(impulses, draw(30 + number)))
        yield f"{name}, RT60 {measured:.2f} s, 1–3 m", waves, RATE, "FLOAT"
    for percent in (1, 5, 10):
        yield f"{percent} % of the word's samples clipped", clips.each(clipping(percent)), RATE, "PCM_16"
    for value in (0.02, 0.1):
        yield f"DC offset {value}", clips.each(with_offset(value)), RATE, "FLOAT"
    for decibels in (-30, -20, 0):
        waves = clips.each(with_hum(decibels, draw(40)))
        yield f"50 Hz hum at {decibels} dB of the word", waves, RATE, "FLOAT"


def write(folder, waves, truth, rate, subtype):
    """Writes the clips in the dataset's layout; returns their paths in the clips' order."""
    paths = np.empty(len(waves), object)
    for index, label in enumerate(LABELS):
        rows = np.flatnonzero(truth == index)
        paths[rows] = program.write_clips(os.path.join(folder, label), waves[rows], rate, subtype)
    return list(paths)


def main(arguments=None):
    parser = command_line.parser(__doc__)
    command_line.add_program(parser)
    parser.add_argument("--share", type=float, default=1, help="share of the clips to use, chosen by the seed")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(arguments)
    if not 0 < options.share <= 1:
        parser.error("--share must be above 0 and at most 1")
    table = recordings.load_all(options.data, options.cache)
    clips, clean = Clips(table, options.share, options.seed), None
    print(f"{len(clips.waves)} clips, model {options.model}\n")
    print("| condition | words | unknown | silence | all | change |\n|---|---|---|---|---|---|")
    for name, waves, rate, subtype in conditions(clips, HeldOut(table, "report"), options.seed):
        with tempfile.TemporaryDirectory() as folder:
            paths = write(folder, waves, clips.truth, rate, subtype)
            posteriors = program.posteriors(options.beckon, options.model, paths, LABELS)
        if name.startswith("babble"):
            posteriors[clips.silent, -1] = posteriors[clips.silent, -2:].max(axis=1)
            posteriors[clips.silent, -2] = 0
        result = metrics.accuracy(posteriors, clips.truth)
        clean = result["all"] if clean is None else clean
        shares = " | ".join(f"{result[key]:.1f}" for key in ("words", "unknown", "silence", "all"))
        print(f"| {name} | {shares} | {result['all'] - clean:+.1f} |", flush=True)


if __name__ == "__main__":
    main()
