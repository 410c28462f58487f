"""Reads the recordings once, decodes them to 16 kHz int16 and keeps them in one cache file per folder.

A data folder holds tar files or plain folders, in any mixture:

* Speech Commands clips: `<word>/<speaker>_nohash_<n>.<ext>`, in `speech_commands-<word>.tar` or as the folders of the
  unpacked public dataset;
* `words/<word>/…`: recordings of up to a few seconds with one word each;
* `speech/…`: running speech without commands;
* `noise/…` or `_background_noise_/…`: everything that is not speech.

The split is by speaker, with the dataset's own rule. The testing partition is left out here and so never trained on.
"""

import hashlib
import io
import os
import sys
import tarfile

import numpy as np
import soundfile

from Training.data.audio import RATE, resample
from Training.data.files import replacing
from Training.data.vocabulary import BACKGROUND, HELD_OUT_VOICES

ENDINGS = (".opus", ".wav", ".flac", ".ogg")


def speaker(name):
    """Who speaks in a file: its name up to `_nohash_`, else its name without extension."""
    return os.path.splitext(os.path.basename(name))[0].split("_nohash_")[0]


def partition(name):
    """`training`, `validation` or `testing`, by the dataset's own rule: the speaker's SHA-1 in per cent of 2^27 − 1."""
    percent = int(hashlib.sha1(speaker(name).encode()).hexdigest(), 16) % 2**27 * (100.0 / (2**27 - 1))
    return "validation" if percent < 10 else "testing" if percent < 20 else "training"


def read_tar(path, endings=ENDINGS):
    """Yields (name, bytes) of the files of a tar archive whose names end so, sorted by name."""
    with tarfile.open(path) as archive:
        for member in sorted(archive.getmembers(), key=lambda member: member.name):
            if member.isfile() and member.name.endswith(endings):
                yield member.name, archive.extractfile(member).read()


def read_folder(folder):
    """Yields (name, bytes) of every audio file in the folder's tar files and subfolders, sorted by name."""
    for entry in sorted(os.listdir(folder)):
        path = os.path.join(folder, entry)
        if entry.endswith(".tar"):
            yield from read_tar(path)
        elif os.path.isdir(path):
            for root, folders, names in os.walk(path):
                folders.sort()
                for name in sorted(names):
                    if name.endswith(ENDINGS):
                        full = os.path.join(root, name)
                        with open(full, "rb") as file:
                            yield os.path.relpath(full, folder), file.read()


def decode(data):
    """The bytes of an audio file → mono int16 [n] at 16 kHz. Raises soundfile.SoundFileError."""
    samples, rate = soundfile.read(io.BytesIO(data), dtype="float32", always_2d=True)
    samples = samples.mean(axis=1)
    if rate != RATE:
        samples = resample(samples, rate)
    return np.clip(np.round(samples * 32767), -32768, 32767).astype(np.int16)


def utterance_bounds(samples):
    """Start and end, in samples, of the loudest utterance in int16 samples [n].

    It consists of 10 ms frames within 26 dB of its peak; gaps under 200 ms are bridged. Breath or room noise may lie outside
    the bounds, the body of the word never does.
    """
    frame = 160
    count = len(samples) // frame
    if count < 4:
        return 0, len(samples)
    energy = (samples[: count * frame].astype(np.float64) ** 2).reshape(count, frame).mean(axis=1)
    decibels = 10 * np.log10(energy + 1)
    decibels = np.convolve(decibels, np.ones(3) / 3, mode="same")
    peak = int(decibels.argmax())
    floor = np.percentile(decibels, 10)
    limit = max(decibels[peak] - 26, min(floor + 8, decibels[peak] - 8))

    def last_loud(indices):
        """The last frame above the limit before a gap of more than 20 frames."""
        found, gap = peak, 0
        for index in indices:
            gap = 0 if decibels[index] > limit else gap + 1
            if gap > 20:
                break
            if gap == 0:
                found = index
        return found

    first, last = last_loud(range(peak, -1, -1)), last_loud(range(peak, count))
    return max(0, first - 2) * frame, min(len(samples), (last + 4) * frame)


def kind_and_label(name):
    """(kind, label) of a recording from its path; the kind is clip, word, speech or noise."""
    parts = name.split("/")
    if "noise" in parts or "_background_noise_" in parts:
        return "noise", BACKGROUND if "_background_noise_" in parts else parts[-2]
    if "speech" in parts:
        return "speech", parts[-2]
    if "words" in parts:
        return "word", parts[-2]
    return "clip", parts[-2]


def load_all(folders, cache):
    """The recordings of several folders as one table (see `load`); each folder has its own file in the folder `cache`."""
    tables = []
    for folder in folders:
        # Three parts of the path, because each model has its own folder of synthetic words.
        name = "-".join(os.path.normpath(os.path.abspath(folder)).split(os.sep)[-3:]).replace("_", "")
        tables.append(load(folder, os.path.join(cache, name + ".npz")))
    joined = {key: np.concatenate([table[key] for table in tables]) for key in tables[0]}
    shifts = np.cumsum([0] + [len(table["audio"]) for table in tables[:-1]])
    joined["start"] = np.concatenate([table["start"] + shift for table, shift in zip(tables, shifts)])
    return joined


def load(folder, cache):
    """All recordings of a folder but the testing partition's, from the file `cache` if it exists.

    A dict of `audio`, one int16 array [samples of all recordings], and one entry per recording in each of `start` and `length`
    (samples in `audio`), `from` and `to` (the utterance's bounds, samples after `start`), `kind`, `label`, `part` (training
    or validation) and `name` (`<folder>/<file>` without extension).
    """
    if os.path.exists(cache):
        with np.load(cache) as stored:
            return {key: stored[key] for key in stored.files}
    pieces, rows, position = [], [], 0
    for number, (name, data) in enumerate(read_folder(folder)):
        kind, label = kind_and_label(name)
        part = partition(name)
        if kind == "clip" and part == "testing":
            continue
        try:
            audio = decode(data)
        except soundfile.SoundFileError as error:
            print(f"{name}: skipped: {error}", file=sys.stderr)
            continue
        if kind == "clip":
            audio = np.pad(audio[:RATE], (0, max(0, RATE - len(audio))))
        first, last = utterance_bounds(audio) if kind in ("clip", "word") else (0, len(audio))
        is_held_out = part == "validation" or label in HELD_OUT_VOICES
        short_name = "/".join(os.path.splitext(name)[0].split("/")[-2:])
        part = "validation" if is_held_out else "training"
        rows.append((position, len(audio), first, last, kind, label, part, short_name))
        pieces.append(audio)
        position += len(audio)
        if number % 2000 == 0:
            print(f"read {number} files, {position / RATE / 3600:.2f} h", file=sys.stderr)
    if not rows:
        sys.exit(f"{folder}: no recordings found; Training/README.md describes the layout")
    table = {"audio": np.concatenate(pieces)}
    for key, column in zip(("start", "length", "from", "to", "kind", "label", "part", "name"), zip(*rows)):
        table[key] = np.array(column)
    os.makedirs(os.path.dirname(cache) or ".", exist_ok=True)
    with replacing(cache) as part:
        np.savez(part, **table)
    return table


def samples(table, row, first=0, last=None):
    """Samples [first, last) of a recording (all by default, never beyond its end) as float32 in [−1, 1)."""
    start, length = int(table["start"][row]), int(table["length"][row])
    last = length if last is None else min(last, length)
    return table["audio"][start + int(first) : start + int(last)] / np.float32(32768)
