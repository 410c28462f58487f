"""Makes long recordings whose words and times are known, for `beckon evaluate --stream`.

    python streams.py --data DIR --out DIR [--seed N] [--minutes N]

Writes, for each stream, `NAME.wav` (16 kHz, 16 bits) and `NAME.txt`, an Audacity label track with one line a word:
start, end, label. A stream without a command has an empty track: whatever fires there is a false accept. `manifest.json`
says what each holds. Everything comes from the validation partition; the same seed gives the same bytes.

`words-…`: commands said alone, and one word in five another one, after gaps of 0.5 to 2.5 s, ±6 dB; the same words in
every kind of noise. The signal-to-noise ratio is that of all words' spans together; `clean` has digital silence between
words. `words-talk-…`: running speech in some of the gaps. `…-48k`: in stereo, the right channel at half the level.
`stop-500`: that word alone. `speech-…`: phrases of running speech with the pauses of somebody who dictates; `read-…`: sentences without commands, read by
a voice of recite.py, up to three times as long. `others-…`: other words said alone, which no pause gives away. `sounds`,
`steady`: no speech at all.
"""

import argparse
import hashlib
import json
import os
import zlib

import numpy as np
import scipy.fft
import scipy.signal
import soundfile

import recordings
from examples import BACKGROUND_SHARE, COMMANDS
from heldout import HeldOut, fade, rms, unit
from recordings import RATE

# RMS of a word or a phrase, before its own ±6 dB.
LEVEL, SPREAD = 0.05, 6.0
OTHER_WORDS, TALK = 0.2, 0.3
STOPS = 500


class Stream:
    """A recording as it grows: its pieces, the spans that count as speech, and the labels."""

    def __init__(self):
        self.pieces, self.length, self.spans, self.labels = [], 0, [], []

    def quiet(self, seconds):
        self.extend(np.zeros(int(seconds * RATE), np.float32))

    def extend(self, wave):
        self.pieces.append(wave.astype(np.float32))
        self.length += len(wave)

    def gap(self, seconds, first):
        """Quiet, so that speech at `first` of the next piece begins so long after the last speech ended."""
        since = self.length - self.spans[-1][1] if self.spans else self.length
        self.quiet(max(0, seconds - (since + first) / RATE))

    def speak(self, wave, first, last, label=None):
        """Adds speech that stands at [first, last) of the wave, and its label if it is a word of the truth."""
        span = (self.length + first, self.length + last)
        self.spans.append(span)
        if label is not None:
            self.labels.append((*span, str(label)))
        self.extend(wave)

    def wave(self):
        return np.concatenate(self.pieces)

    def level(self, wave):
        """RMS of a wave of the stream's length over all spans of speech."""
        inside = np.zeros(len(wave), bool)
        for first, last in self.spans:
            inside[first:last] = True
        return rms(wave[inside])


def gain(wave, generator, spread=SPREAD):
    """The wave at a drawn level about LEVEL, lowered where it would clip."""
    scale = LEVEL * 10 ** (generator.uniform(-spread, spread) / 20)
    return wave * np.float32(min(scale, 0.95 / max(np.abs(wave).max(), 1e-6)))


def cycling(rows, generator):
    """The rows in a drawn order, and in another one when all were taken."""
    while True:
        yield from generator.permutation(rows)


def words(held, seconds, generator, talk=False):
    """Commands and other words after gaps; with `talk`, running speech before three words in ten."""
    stream = Stream()
    commands, others = cycling(held.commands, generator), cycling(held.others, generator)
    phrases = endless_phrases(held, generator)
    while stream.length < seconds * RATE:
        if talk and generator.random() < TALK:
            stream.quiet(generator.uniform(0.5, 2.5))
            until = stream.length + generator.uniform(3, 10) * RATE
            while stream.length < until:
                stream.extend(gain(fade(next(phrases)), generator, 3))
                stream.quiet(generator.uniform(0.05, 0.25))
            stream.quiet(generator.uniform(0.5, 2.5))
        row = next(others if generator.random() < OTHER_WORDS else commands)
        wave, first, last = held.word(row)
        stream.gap(generator.uniform(0.5, 2.5), first)
        stream.speak(gain(wave, generator), first, last, held.table["label"][row])
    stream.quiet(2)
    return stream


def alone(held, rows, seconds, generator, labelled):
    """Each row's word once, in the order given, after a gap."""
    stream = Stream()
    for row in rows:
        if stream.length >= seconds * RATE:
            break
        wave, first, last = held.word(row)
        stream.gap(generator.uniform(0.5, 2.5), first)
        stream.speak(gain(wave, generator), first, last, held.table["label"][row] if labelled else None)
    stream.quiet(2)
    return stream


def phrases(wave):
    """Cuts an utterance where it pauses: in the middle of every 120 ms or more at 25 dB under its loudest."""
    frame = RATE // 100
    count = len(wave) // frame
    energy = (wave[: count * frame].astype(np.float64) ** 2).reshape(count, frame).mean(axis=1)
    energy = np.convolve(energy, np.ones(3) / 3, mode="same")
    soft = np.concatenate([[False], energy < energy.max() * 10**-2.5, [False]])
    begins, ends = (np.flatnonzero(np.diff(soft.astype(int)) == step) for step in (1, -1))
    cuts = [(b + e) // 2 * frame for b, e in zip(begins, ends) if e - b >= 12 and b > 0 and e < count]
    return np.split(wave, cuts)


def endless_phrases(held, generator):
    for row in cycling(held.speech, generator):
        yield from (piece for piece in phrases(unit(held.wave(row))) if len(piece) > RATE // 10)


def pause(generator):
    """Seconds of quiet between phrases as in dictation: mostly a breath, at times a thought."""
    draw = generator.random()
    low, high = (0.1, 0.5) if draw < 0.5 else (0.5, 1.5) if draw < 0.85 else (1.5, 5)
    return generator.uniform(low, high)


def speech(held, rows, seconds, generator):
    """Each of these utterances once, phrase by phrase, with a pause of its own after each."""
    stream = Stream()
    for row in generator.permutation(rows):
        if stream.length >= seconds * RATE:
            break
        wave = gain(unit(held.wave(row)), generator)
        for piece in phrases(wave):
            stream.speak(fade(piece), 0, len(piece))
            stream.quiet(pause(generator))
    stream.quiet(2)
    return stream


def sounds(held, seconds, generator):
    """Every environmental sound once, from just audible to loud, with and without quiet between."""
    stream = Stream()
    for row in generator.permutation(held.sounds):
        if stream.length >= seconds * RATE:
            break
        stream.extend(gain(fade(unit(held.wave(row))), generator, 18))
        stream.quiet(generator.choice([0.0, 1.0]))
    return stream


def steady(held, seconds, generator):
    """White, pink and brown noise, hum, a tone and the background recordings' ends, ten seconds each at drawn levels."""
    stream, length, time = Stream(), 10 * RATE, np.arange(10 * RATE) / RATE
    while stream.length < seconds * RATE:
        for slope in (0, 0.5, 1):
            spectrum = generator.normal(size=length // 2 + 1) + 1j * generator.normal(size=length // 2 + 1)
            spectrum[0] = 0
            colour = np.maximum(np.arange(length // 2 + 1), 20 * length // RATE) ** -float(slope)
            stream.extend(gain(unit(scipy.fft.irfft(spectrum * colour)), generator, 18))
        hum = sum(np.sin(2 * np.pi * 50 * k * time) / k for k in range(1, 9))
        tone = np.sin(2 * np.pi * generator.uniform(100, 4000) * time)
        for wave in (hum, tone):
            stream.extend(gain(fade(unit(wave)), generator, 18))
        for row in held.background:
            end = held.wave(row, int(held.table["length"][row] * BACKGROUND_SHARE))
            stream.extend(gain(fade(unit(end)), generator, 18))
        stream.quiet(1)
    return stream


def write(folder, name, stream, noise=None, ratio=None):
    """Adds the noise at `ratio` dB over the spans of speech, writes recording and labels; returns the manifest's entry."""
    wave = stream.wave()
    if noise is not None:
        wave = wave + noise * np.float32(stream.level(wave) / stream.level(noise) * 10 ** (-ratio / 20))
    clipped = int((np.abs(wave) > 1).sum())
    pcm = np.round(np.clip(wave, -1, 1) * 32767).astype(np.int16)
    path = os.path.join(folder, name)
    soundfile.write(path + ".wav", pcm, RATE, subtype="PCM_16")
    with open(path + ".txt", "w") as file:
        file.writelines(f"{first / RATE:.6f}\t{last / RATE:.6f}\t{label}\n" for first, last, label in stream.labels)
    commands = sum(label in COMMANDS for _, _, label in stream.labels)
    return {
        "name": name,
        "seconds": round(len(pcm) / RATE, 3),
        "commands": commands,
        "otherWords": len(stream.labels) - commands,
        "signalToNoise": ratio,
        "clippedSamples": clipped,
        "sha256": checksum(path + ".wav"),
    }


def copy_48k(folder, entry):
    """A stream again at 48 kHz in stereo, the right channel at half the level, with the same labels."""
    path, name = os.path.join(folder, entry["name"]), entry["name"] + "-48k"
    wave, _ = soundfile.read(path + ".wav", dtype="float64")
    taps = scipy.signal.firwin(6 * 128 + 1, 0.94, window=("kaiser", 12), fs=6)
    wave = scipy.signal.resample_poly(wave, 3, 1, window=taps)
    pcm = np.round(np.clip(np.stack([wave, wave / 2], axis=1), -1, 1) * 32767).astype(np.int16)
    copy = os.path.join(folder, name)
    soundfile.write(copy + ".wav", pcm, 3 * RATE, subtype="PCM_16")
    with open(path + ".txt") as source, open(copy + ".txt", "w") as target:
        target.write(source.read())
    return entry | {"name": name, "sha256": checksum(copy + ".wav")}


def checksum(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make(held, folder, seed, minutes):
    """Writes all streams and returns their entries of the manifest."""
    seconds, entries = minutes * 60, []

    def draw(name):
        return np.random.default_rng([seed, zlib.crc32(name.encode())])

    def put(name, stream, noise=None, ratios=()):
        for ratio in ratios:
            suffix = "clean" if ratio is None else f"{noise.__name__}-{ratio}"
            wave = None if ratio is None else noise(stream.length, draw(name + noise.__name__))
            entries.append(write(folder, f"{name}-{suffix}", stream, wave, ratio))

    spoken = words(held, seconds, draw("words"))
    put("words", spoken, held.noise, (None, 20, 10, 5, 0))
    entries.append(copy_48k(folder, next(entry for entry in entries if entry["name"] == "words-noise-20")))
    put("words", spoken, held.babble, (10,))
    put("words-talk", words(held, seconds, draw("words-talk"), talk=True), held.noise, (20,))
    stops = cycling(held.commands[held.table["label"][held.commands] == "stop"], draw("stop"))
    stop = alone(held, [next(stops) for _ in range(STOPS)], np.inf, draw("stop-gaps"), labelled=True)
    entries.append(write(folder, f"stop-{STOPS}", stop))
    put("speech", speech(held, held.speech, seconds, draw("speech")), held.noise, (None, 20, 10))
    if len(held.read):
        put("read", speech(held, held.read, 3 * seconds, draw("read")), held.noise, (None, 20, 10))
    others = draw("others").permutation(held.others)
    put("others", alone(held, others, seconds, draw("others-gaps"), labelled=False), held.noise, (None, 20))
    entries.append(write(folder, "sounds", sounds(held, seconds, draw("sounds"))))
    entries.append(write(folder, "steady", steady(held, seconds / 4, draw("steady"))))
    return entries


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, action="append", help="folder of recordings; may be repeated")
    parser.add_argument("--runs", default=os.path.join(os.path.dirname(__file__), "runs"))
    parser.add_argument("--out", required=True, help="folder to write the streams to")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=20, help="length of a stream at most, `stop-500` apart")
    options = parser.parse_args()
    if not options.minutes > 0:
        parser.error("--minutes must be above 0")
    os.makedirs(options.out, exist_ok=True)
    held = HeldOut(recordings.load_all(options.data, options.runs))
    entries = make(held, options.out, options.seed, options.minutes)
    manifest = {"seed": options.seed, "minutes": options.minutes, "sampleRate": RATE, "streams": entries}
    with open(os.path.join(options.out, "manifest.json"), "w") as file:
        json.dump(manifest, file, indent=1)
        file.write("\n")
    for entry in entries:
        print(f"{entry['name']:20} {entry['seconds'] / 60:5.1f} min {entry['commands']:5} commands")


if __name__ == "__main__":
    main()
