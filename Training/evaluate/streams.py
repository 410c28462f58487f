"""Makes long recordings with known words and times, for `beckon evaluate --stream`, from one half of the held-out speakers.

    python -m Training.evaluate.streams --data DIR --cache DIR --out DIR --part tune|report [--seed N] [--minutes N]

Each set of recordings is a folder of files of about a minute, `SET/NNN.wav` (16 kHz, 16 bits) and `SET/NNN.txt`, an Audacity
label track with one line a word: start, end, label. Nobody speaks in two files of a set, so that the files can be drawn anew for
confidence intervals. A set without a command has empty tracks: any detection in it is a false accept. `manifest.json` describes
all files. The same seed gives the same bytes.

* `words-…`: every command clip once, after gaps of 0.5 to 2.5 s, ±6 dB, and one other word in five; the same words in several
  kinds of noise, of which `talk` is one person at a time. The signal-to-noise ratio is over the spans of all words of a file;
  `clean` has digital silence between words.
* `words-talk-…`: the same with running speech in some of the gaps. `…-48k`: in stereo, the right channel at half the level.
* `talk-SOURCE-…`: every utterance of a source once, as recorded, after a gap. Utterances whose transcript has a command, or a
  word that sounds the same, are left out. `talk-read-…`: sentences read by a held-out neural voice.
* `dictation-SOURCE-…`: the same utterances cut into phrases at every pause, with pauses of up to 5 s between them. So many
  phrases of one word are rare among people; it is the harder test for `command`.
* `others-…`: single other words, which only the network can tell from commands.
* `sounds`, `steady`: no speech at all.

Beside a file of talk, `SET/NNN.said` has one line an utterance or phrase: start, end, recording, transcript. It tells what was
said at a false accept.

The part `tune` has only `words-…`, `talk-…` and `dictation-…`, which thresholds are chosen on.
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
# Seconds of recordings in a file, pauses not counted.
FILE = 60
# Kind of noise and its signal-to-noise ratio in dB, of words and of talk.
WORD_NOISE = (("clean", None), ("noise", 20), ("noise", 10), ("noise", 5), ("noise", 0), ("babble", 10), ("talk", 10))
TUNING_NOISE = (("clean", None), ("noise", 10), ("noise", 5), ("babble", 10), ("talk", 10))
TALK_NOISE = (("clean", None), ("noise", 20), ("noise", 10))


class Stream:
    """A recording in the making: its pieces, the spans that count as speech, the labels, and what else is said (in samples)."""

    def __init__(self):
        self.pieces, self.length, self.spans, self.labels, self.said = [], 0, [], [], []

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

    def add_talk(self, wave, name, text):
        """Adds running speech of the recording `name` with the transcript `text`."""
        self.said.append((self.length, self.length + len(wave), str(name), str(text)))
        self.add_speech(wave, 0, len(wave))

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


def groups(held_out, rows, generator, seconds=FILE):
    """The rows in groups of so many seconds or a little more, all rows of a speaker in one group, in a random order."""
    length, names = held_out.table["length"], held_out.speakers(rows)
    group, total = [], 0.0
    for name in generator.permutation(np.unique(names)):
        own = rows[names == name]
        group += list(own)
        total += length[own].sum() / RATE
        if total >= seconds:
            yield generator.permutation(group)
            group, total = [], 0.0
    if group:
        yield generator.permutation(group)


def words(held_out, rows, generator, talk=False):
    """Each row's command once, and other words, after gaps; with `talk`, running speech before three words in ten."""
    stream = Stream()
    others, phrases = cycle(held_out.others, generator), endless_phrases(held_out, generator)
    for row in rows:
        if talk and generator.random() < TALK:
            stream.add_silence(generator.uniform(0.5, 2.5))
            until = stream.length + generator.uniform(3, 10) * RATE
            while stream.length < until:
                stream.add(at_random_level(fade(next(phrases)), generator, 3))
                stream.add_silence(generator.uniform(0.05, 0.25))
            stream.add_silence(generator.uniform(0.5, 2.5))
        add_word(stream, held_out, row, generator, held_out.table["label"][row])
        while generator.random() < OTHER_WORDS:
            other = next(others)
            add_word(stream, held_out, other, generator, held_out.table["label"][other])
    stream.add_silence(2)
    return stream


def add_word(stream, held_out, row, generator, label=None):
    """Adds a word after a gap, labelled if there is a label."""
    wave, first, last = held_out.word(row)
    stream.add_gap(generator.uniform(0.5, 2.5), first)
    stream.add_speech(at_random_level(wave, generator), first, last, label)


def single_words(held_out, rows, generator):
    """Each row's word once after a gap, without a label."""
    stream = Stream()
    for row in rows:
        add_word(stream, held_out, row, generator)
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


def talk(held_out, rows, generator):
    """Each of these utterances once, as recorded, after a gap."""
    stream, table = Stream(), held_out.table
    for row in rows:
        stream.add_silence(generator.uniform(0.3, 2))
        wave = at_random_level(unit_rms(held_out.wave(row)), generator)
        stream.add_talk(fade(wave), table["name"][row], table["text"][row])
    stream.add_silence(2)
    return stream


def dictation(held_out, rows, generator):
    """Each of these utterances once, phrase by phrase, with a random pause after each phrase."""
    stream, table = Stream(), held_out.table
    for row in rows:
        wave = at_random_level(unit_rms(held_out.wave(row)), generator)
        for piece in split_phrases(wave):
            stream.add_talk(fade(piece), table["name"][row], table["text"][row])
            stream.add_silence(pause(generator))
    stream.add_silence(2)
    return stream


def sounds(held_out, rows, generator):
    """Each of these sounds once, at levels from just audible to loud, with and without silence between."""
    stream = Stream()
    for row in rows:
        stream.add(at_random_level(fade(unit_rms(held_out.wave(row))), generator, 18))
        stream.add_silence(generator.choice([0.0, 1.0]))
    return stream


def steady(held_out, generator):
    """White, pink and brown noise, hum, a tone and the ends of the background recordings, at random levels."""
    stream, length, time = Stream(), 10 * RATE, np.arange(10 * RATE) / RATE
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
    os.makedirs(os.path.dirname(path), exist_ok=True)
    soundfile.write(path + ".wav", pcm, RATE, subtype="PCM_16")
    with open(path + ".txt", "w") as file:
        file.writelines(f"{first / RATE:.6f}\t{last / RATE:.6f}\t{label}\n" for first, last, label in stream.labels)
    if stream.said:
        with open(path + ".said", "w") as file:
            file.writelines(f"{a / RATE:.3f}\t{b / RATE:.3f}\t{name}\t{text}\n" for a, b, name, text in stream.said)
    commands = sum(label in COMMANDS for _, _, label in stream.labels)
    return {
        "name": name,
        "seconds": round(len(pcm) / RATE, 3),
        "speechSeconds": round(sum(last - first for first, last in stream.spans) / RATE, 3),
        "commands": commands,
        "otherWords": len(stream.labels) - commands,
        "signalToNoise": ratio,
        "clippedSamples": clipped,
        "sha256": checksum(path + ".wav"),
    }


def copy_48k(folder, entry):
    """Writes a stream again at 48 kHz in stereo, the right channel at half the level, with the same labels."""
    path = os.path.join(folder, entry["name"])
    name = "-48k/".join(entry["name"].split("/"))
    wave, _ = soundfile.read(path + ".wav", dtype="float64")
    taps = scipy.signal.firwin(6 * 128 + 1, 0.94, window=("kaiser", 12), fs=6)
    wave = scipy.signal.resample_poly(wave, 3, 1, window=taps)
    pcm = np.round(np.clip(np.stack([wave, wave / 2], axis=1), -1, 1) * 32767).astype(np.int16)
    copy = os.path.join(folder, name)
    os.makedirs(os.path.dirname(copy), exist_ok=True)
    soundfile.write(copy + ".wav", pcm, 3 * RATE, subtype="PCM_16")
    with open(path + ".txt") as source, open(copy + ".txt", "w") as target:
        target.write(source.read())
    return entry | {"name": name, "sha256": checksum(copy + ".wav")}


def checksum(path):
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def make(held_out, folder, seed, minutes):
    """Writes all sets, each of at most so many minutes, and returns the files' entries of the manifest.

    Of the part `tune` only words and talk, which thresholds are chosen on.
    """
    entries = []

    def draw(*names):
        return seeded("stream", *(zlib.crc32(str(name).encode()) for name in names), seed=seed)

    def put(name, rows, stream_of, kinds):
        """Writes a set in each kind of noise; `stream_of(rows, generator)` makes the stream of a group of rows."""
        left = minutes * 60
        for number, group in enumerate(groups(held_out, rows, draw(name, "groups"))):
            if left <= 0:
                break
            stream = stream_of(group, draw(name, number))
            left -= stream.length / RATE
            for kind, ratio in kinds:
                suffix = "" if kind is None else "-clean" if ratio is None else f"-{kind}-{ratio}"
                # The same noise at every ratio.
                source = getattr(held_out, kind) if ratio is not None else None
                noise = None if source is None else source(stream.length, draw(name, number, kind))
                entries.append(write(folder, f"{name}{suffix}/{number:03}", stream, noise, ratio))

    is_tuning = held_out.part == "tune"
    put("words", held_out.commands, lambda *group: words(held_out, *group), TUNING_NOISE if is_tuning else WORD_NOISE)
    for source, rows in held_out.talk_sources().items():
        put(f"talk-{source}", rows, lambda *group: talk(held_out, *group), TALK_NOISE)
        put(f"dictation-{source}", rows, lambda *group: dictation(held_out, *group), TALK_NOISE)
    if is_tuning:
        return entries
    entries.extend([copy_48k(folder, entry) for entry in entries if entry["name"].startswith("words-noise-20/")])
    put("words-talk", held_out.commands, lambda *group: words(held_out, *group, talk=True), (("noise", 20),))
    put("others", held_out.others, lambda *group: single_words(held_out, *group), (("clean", None), ("noise", 20)))
    put("sounds", held_out.sounds, lambda *group: sounds(held_out, *group), ((None, None),))
    for number in range(3):
        entries.append(write(folder, f"steady/{number:03}", steady(held_out, draw("steady", number))))
    return entries


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--out", required=True, help="folder to write the streams to")
    command_line.add_part(parser)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=120, help="maximum length of a set")
    options = parser.parse_args(arguments)
    if not options.minutes > 0:
        parser.error("--minutes must be above 0")
    held_out = HeldOut(recordings.load_all(options.data, options.cache), options.part)
    entries = make(held_out, options.out, options.seed, options.minutes)
    manifest = {"part": options.part, "seed": options.seed, "sampleRate": RATE, "files": entries}
    files.write_json(os.path.join(options.out, "manifest.json"), manifest)
    for name in dict.fromkeys(entry["name"].split("/")[0] for entry in entries):
        own = [entry for entry in entries if entry["name"].split("/")[0] == name]
        seconds, speaking, commands = (sum(e[key] for e in own) for key in ("seconds", "speechSeconds", "commands"))
        print(f"{name:32} {len(own):3} files {seconds / 60:6.1f} min, {speaking / 60:5.1f} of speech, {commands:5} commands")


if __name__ == "__main__":
    main()
