"""Makes long recordings with known words and times, for `beckon evaluate --stream`.

    python -m Training.evaluate.streams --data DIR --cache DIR --out DIR [--seed N] [--minutes N]

Writes, for each stream, `NAME.wav` (16 kHz, 16 bits) and `NAME.txt`, an Audacity label track with one line a word: start, end,
label. A stream without a command has an empty track: any detection in it is a false accept. `manifest.json` describes all
streams. Everything comes from one half of the held-out speakers; the same seed gives the same bytes.

* `words-…`: single commands after gaps of 0.5 to 2.5 s, ±6 dB, and one other word in five; the same words in several kinds of
  noise. The signal-to-noise ratio is over the spans of all words together; `clean` has digital silence between words.
* `words-talk-…`: the same with running speech in some of the gaps. `…-48k`: in stereo, the right channel at half the level.
* `stop-500`: that word alone.
* `speech-…`: phrases of running speech with pauses as in dictation. `read-…`: sentences without commands, read by a held-out
  neural voice, up to three times as long.
* `others-…`: single other words, which only the network can tell from commands.
* `sounds`, `steady`: no speech at all.
"""

import hashlib
import os
import zlib

import numpy as np
import scipy.fft
import scipy.signal
import soundfile

from Training.data import command_line, files, recordings
from Training.data.audio import RATE, fade, rms, unit_rms
from Training.data.seeding import generator as seeded
from Training.data.vocabulary import COMMANDS
from Training.evaluate.held_out import HeldOut

# RMS of a word or a phrase, and the ±dB by which each differs.
LEVEL, SPREAD = 0.05, 6.0
# Share of other words among the words, and of gaps with running speech.
OTHER_WORDS, TALK = 0.2, 0.3
STOPS = 500


class Stream:
    """A recording in the making: its pieces, the spans that count as speech, and the labels (in samples)."""

    def __init__(self):
        self.pieces, self.length, self.spans, self.labels = [], 0, [], []

    def add_silence(self, seconds):
        self.add(np.zeros(int(seconds * RATE), np.float32))

    def add(self, wave):
        self.pieces.append(wave.astype(np.float32))
        self.length += len(wave)

    def add_gap(self, seconds, first):
        """Adds silence so that speech at sample `first` of the next piece begins so long after the last speech."""
        since = self.length - self.spans[-1][1] if self.spans else self.length
        self.add_silence(max(0, seconds - (since + first) / RATE))

    def add_speech(self, wave, first, last, label=None):
        """Adds speech at samples [first, last) of the waveform, and its label if it is to be recognized."""
        span = (self.length + first, self.length + last)
        self.spans.append(span)
        if label is not None:
            self.labels.append((*span, str(label)))
        self.add(wave)

    def wave(self):
        return np.concatenate(self.pieces)

    def speech_level(self, wave):
        """RMS, over all spans of speech, of a waveform of the stream's length."""
        inside = np.zeros(len(wave), bool)
        for first, last in self.spans:
            inside[first:last] = True
        return rms(wave[inside])


def at_random_level(wave, generator, spread=SPREAD):
    """The waveform at a random level around LEVEL, lower where it would clip."""
    scale = LEVEL * 10 ** (generator.uniform(-spread, spread) / 20)
    return wave * np.float32(min(scale, 0.95 / max(np.abs(wave).max(), 1e-6)))


def cycle(rows, generator):
    """The rows in a random order, over and over, each time in another one."""
    while True:
        yield from generator.permutation(rows)


def words(held_out, seconds, generator, talk=False):
    """Commands and other words after gaps; with `talk`, running speech before three words in ten."""
    stream = Stream()
    commands, others = cycle(held_out.commands, generator), cycle(held_out.others, generator)
    phrases = endless_phrases(held_out, generator)
    while stream.length < seconds * RATE:
        if talk and generator.random() < TALK:
            stream.add_silence(generator.uniform(0.5, 2.5))
            until = stream.length + generator.uniform(3, 10) * RATE
            while stream.length < until:
                stream.add(at_random_level(fade(next(phrases)), generator, 3))
                stream.add_silence(generator.uniform(0.05, 0.25))
            stream.add_silence(generator.uniform(0.5, 2.5))
        row = next(others if generator.random() < OTHER_WORDS else commands)
        wave, first, last = held_out.word(row)
        stream.add_gap(generator.uniform(0.5, 2.5), first)
        stream.add_speech(at_random_level(wave, generator), first, last, held_out.table["label"][row])
    stream.add_silence(2)
    return stream


def single_words(held_out, rows, seconds, generator, labelled):
    """Each row's word once, in the order given, after a gap."""
    stream = Stream()
    for row in rows:
        if stream.length >= seconds * RATE:
            break
        wave, first, last = held_out.word(row)
        stream.add_gap(generator.uniform(0.5, 2.5), first)
        label = held_out.table["label"][row] if labelled else None
        stream.add_speech(at_random_level(wave, generator), first, last, label)
    stream.add_silence(2)
    return stream


def split_phrases(wave):
    """Cuts an utterance in the middle of every pause: 120 ms or more at 25 dB below its loudest."""
    frame = RATE // 100
    count = len(wave) // frame
    energy = (wave[: count * frame].astype(np.float64) ** 2).reshape(count, frame).mean(axis=1)
    energy = np.convolve(energy, np.ones(3) / 3, mode="same")
    soft = np.concatenate([[False], energy < energy.max() * 10**-2.5, [False]])
    begins, ends = (np.flatnonzero(np.diff(soft.astype(int)) == step) for step in (1, -1))
    cuts = [(b + e) // 2 * frame for b, e in zip(begins, ends) if e - b >= 12 and b > 0 and e < count]
    return np.split(wave, cuts)


def endless_phrases(held_out, generator):
    """Phrases of running speech without end, each at RMS 1 over its utterance."""
    for row in cycle(held_out.speech, generator):
        yield from (piece for piece in split_phrases(unit_rms(held_out.wave(row))) if len(piece) > RATE // 10)


def pause(generator):
    """Seconds of silence between phrases as in dictation: mostly short, some of several seconds."""
    draw = generator.random()
    low, high = (0.1, 0.5) if draw < 0.5 else (0.5, 1.5) if draw < 0.85 else (1.5, 5)
    return generator.uniform(low, high)


def speech(held_out, rows, seconds, generator):
    """Each of these utterances once, phrase by phrase, with a random pause after each phrase."""
    stream = Stream()
    for row in generator.permutation(rows):
        if stream.length >= seconds * RATE:
            break
        wave = at_random_level(unit_rms(held_out.wave(row)), generator)
        for piece in split_phrases(wave):
            stream.add_speech(fade(piece), 0, len(piece))
            stream.add_silence(pause(generator))
    stream.add_silence(2)
    return stream


def sounds(held_out, seconds, generator):
    """Every environmental sound once, at levels from just audible to loud, with and without silence between."""
    stream = Stream()
    for row in generator.permutation(held_out.sounds):
        if stream.length >= seconds * RATE:
            break
        stream.add(at_random_level(fade(unit_rms(held_out.wave(row))), generator, 18))
        stream.add_silence(generator.choice([0.0, 1.0]))
    return stream


def steady(held_out, seconds, generator):
    """White, pink and brown noise, hum, a tone and the ends of the background recordings, at random levels."""
    stream, length, time = Stream(), 10 * RATE, np.arange(10 * RATE) / RATE
    while stream.length < seconds * RATE:
        for slope in (0, 0.5, 1):
            spectrum = generator.normal(size=length // 2 + 1) + 1j * generator.normal(size=length // 2 + 1)
            spectrum[0] = 0
            gains = np.maximum(np.arange(length // 2 + 1), 20 * length // RATE) ** -float(slope)
            stream.add(at_random_level(unit_rms(scipy.fft.irfft(spectrum * gains)), generator, 18))
        hum = sum(np.sin(2 * np.pi * 50 * k * time) / k for k in range(1, 9))
        tone = np.sin(2 * np.pi * generator.uniform(100, 4000) * time)
        for wave in (hum, tone):
            stream.add(at_random_level(fade(unit_rms(wave)), generator, 18))
        for row in held_out.background:
            stream.add(at_random_level(fade(unit_rms(held_out.background_end(row))), generator, 18))
        stream.add_silence(1)
    return stream


def write(folder, name, stream, noise=None, ratio=None):
    """Adds noise at `ratio` dB over the spans of speech, writes recording and labels; returns the manifest's entry."""
    wave = stream.wave()
    if noise is not None:
        wave = wave + noise * np.float32(stream.speech_level(wave) / stream.speech_level(noise) * 10 ** (-ratio / 20))
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
    """Writes a stream again at 48 kHz in stereo, the right channel at half the level, with the same labels."""
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


def make(held_out, folder, seed, minutes):
    """Writes all streams and returns their entries of the manifest."""
    seconds, entries = minutes * 60, []

    def draw(name):
        return seeded("stream", zlib.crc32(name.encode()), seed=seed)

    def put(name, stream, noise=None, ratios=()):
        for ratio in ratios:
            suffix = "clean" if ratio is None else f"{noise.__name__}-{ratio}"
            wave = None if ratio is None else noise(stream.length, draw(name + noise.__name__))
            entries.append(write(folder, f"{name}-{suffix}", stream, wave, ratio))

    spoken = words(held_out, seconds, draw("words"))
    put("words", spoken, held_out.noise, (None, 20, 10, 5, 0))
    entries.append(copy_48k(folder, next(entry for entry in entries if entry["name"] == "words-noise-20")))
    put("words", spoken, held_out.babble, (10,))
    put("words-talk", words(held_out, seconds, draw("words-talk"), talk=True), held_out.noise, (20,))
    stops = cycle(held_out.commands[held_out.table["label"][held_out.commands] == "stop"], draw("stop"))
    stop = single_words(held_out, [next(stops) for _ in range(STOPS)], np.inf, draw("stop-gaps"), labelled=True)
    entries.append(write(folder, f"stop-{STOPS}", stop))
    put("speech", speech(held_out, held_out.speech, seconds, draw("speech")), held_out.noise, (None, 20, 10))
    if len(held_out.read):
        put("read", speech(held_out, held_out.read, 3 * seconds, draw("read")), held_out.noise, (None, 20, 10))
    others = draw("others").permutation(held_out.others)
    others = single_words(held_out, others, seconds, draw("others-gaps"), labelled=False)
    put("others", others, held_out.noise, (None, 20))
    entries.append(write(folder, "sounds", sounds(held_out, seconds, draw("sounds"))))
    entries.append(write(folder, "steady", steady(held_out, seconds / 4, draw("steady"))))
    return entries


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--out", required=True, help="folder to write the streams to")
    command_line.add_part(parser)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=20, help="maximum length of a stream other than stop-500")
    options = parser.parse_args(arguments)
    if not options.minutes > 0:
        parser.error("--minutes must be above 0")
    os.makedirs(options.out, exist_ok=True)
    held_out = HeldOut(recordings.load_all(options.data, options.cache), options.part)
    entries = make(held_out, options.out, options.seed, options.minutes)
    manifest = {"part": options.part, "seed": options.seed, "minutes": options.minutes, "sampleRate": RATE, "streams": entries}
    files.write_json(os.path.join(options.out, "manifest.json"), manifest)
    for entry in entries:
        print(f"{entry['name']:20} {entry['seconds'] / 60:5.1f} min {entry['commands']:5} commands")


if __name__ == "__main__":
    main()
