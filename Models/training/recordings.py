"""Reads the recordings once, decodes them to 16 kHz int16 and keeps them in one cache file.

The data folder holds tar files or plain folders, in any mixture:

* Speech Commands clips: `<word>/<speaker>_nohash_<n>.<ext>`, in `speech_commands-<word>.tar` or as the folders of the
  public dataset as it is unpacked;
* `words/<word>/…`: longer recordings of one other word each;
* `speech/…`: running speech that holds no command on purpose;
* `noise/…` or `_background_noise_/…`: everything that is not speech.

The split is by speaker with the dataset's own rule; testing-partition speakers are left out here and so can never be
trained on.
"""

import hashlib
import io
import os
import sys
import tarfile

import numpy as np
import scipy.signal
import soundfile

RATE = 16000
# Voices of recite.py that are never trained on.
HELD_VOICES = ("joe",)
AUDIO = (".opus", ".wav", ".flac", ".ogg")


def partition(name):
    """The dataset's own rule: SHA-1 of the file name up to `_nohash_`, in per cent of 2^27 − 1."""
    stem = os.path.splitext(os.path.basename(name))[0].split("_nohash_")[0]
    percent = int(hashlib.sha1(stem.encode()).hexdigest(), 16) % 2**27 * (100.0 / (2**27 - 1))
    return "validation" if percent < 10 else "testing" if percent < 20 else "training"


def files(folder):
    """Yields (name, bytes) of every audio file in the folder and in the tar files of the folder, sorted."""
    for entry in sorted(os.listdir(folder)):
        path = os.path.join(folder, entry)
        if entry.endswith(".tar"):
            with tarfile.open(path) as tar:
                for member in sorted(tar.getmembers(), key=lambda m: m.name):
                    if member.isfile() and member.name.endswith(AUDIO):
                        yield member.name, tar.extractfile(member).read()
        elif os.path.isdir(path):
            for root, folders, names in os.walk(path):
                folders.sort()
                for name in sorted(names):
                    if name.endswith(AUDIO):
                        full = os.path.join(root, name)
                        with open(full, "rb") as file:
                            yield os.path.relpath(full, folder), file.read()


def decode(data):
    """Mono int16 at 16 kHz."""
    samples, rate = soundfile.read(io.BytesIO(data), dtype="float32", always_2d=True)
    samples = samples.mean(axis=1)
    if rate != RATE:
        gcd = np.gcd(rate, RATE)
        samples = scipy.signal.resample_poly(samples, RATE // gcd, rate // gcd)
    return np.clip(np.round(samples * 32767), -32768, 32767).astype(np.int16)


def bounds(samples):
    """Start and end (in samples) of the loudest utterance: 10 ms frames within 26 dB of its peak, gaps under 200 ms
    bridged. What lies outside may still hold breath or room noise, never the body of the word."""
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
    first = last = peak
    gap = 0
    for index in range(peak, -1, -1):
        gap = 0 if decibels[index] > limit else gap + 1
        if gap > 20:
            break
        if gap == 0:
            first = index
    gap = 0
    for index in range(peak, count):
        gap = 0 if decibels[index] > limit else gap + 1
        if gap > 20:
            break
        if gap == 0:
            last = index
    return max(0, first - 2) * frame, min(len(samples), (last + 4) * frame)


def group(name):
    """(kind, label) of a recording from its path; kind is clip, word, speech or noise."""
    parts = name.split("/")
    if "noise" in parts or "_background_noise_" in parts:
        return "noise", "gsc" if "_background_noise_" in parts else parts[-2]
    if "speech" in parts:
        return "speech", parts[-2]
    if "words" in parts:
        return "word", parts[-2]
    return "clip", parts[-2]


def load_all(folders, runs):
    """The recordings of several folders as one table; each folder has a cache of its own in `runs`."""
    tables = []
    for folder in folders:
        # The synthetic words lie in a folder of their own for each list of words.
        name = "-".join(os.path.normpath(os.path.abspath(folder)).split(os.sep)[-3:]).replace("_", "")
        tables.append(load(folder, os.path.join(runs, name + ".npz")))
    joined = {key: np.concatenate([table[key] for table in tables]) for key in tables[0]}
    shifts = np.cumsum([0] + [len(table["audio"]) for table in tables[:-1]])
    joined["start"] = np.concatenate([table["start"] + shift for table, shift in zip(tables, shifts)])
    return joined


def load(folder, cache):
    """All recordings but the testing partition's: dict with `audio` (one long int16 array) and, per recording, `start`,
    `length`, `from`, `to` (the utterance's bounds), `kind`, `label`, `part`, `name` (`<folder>/<file>` without extension).
    """
    if os.path.exists(cache):
        with np.load(cache) as stored:
            return {key: stored[key] for key in stored.files}
    pieces, rows, position = [], [], 0
    for number, (name, data) in enumerate(files(folder)):
        kind, label = group(name)
        part = partition(name)
        if kind == "clip" and part == "testing":
            continue
        try:
            samples = decode(data)
        except soundfile.SoundFileError as error:
            print(f"{name}: left out: {error}", file=sys.stderr)
            continue
        if kind == "clip":
            samples = np.pad(samples[:RATE], (0, max(0, RATE - len(samples))))
        first, last = bounds(samples) if kind in ("clip", "word") else (0, len(samples))
        rows.append(
            (
                position,
                len(samples),
                first,
                last,
                kind,
                label,
                "validation" if part == "validation" or label in HELD_VOICES else "training",
                "/".join(os.path.splitext(name)[0].split("/")[-2:]),
            )
        )
        pieces.append(samples)
        position += len(samples)
        if number % 2000 == 0:
            print(f"read {number} files, {position / RATE / 3600:.2f} h", file=sys.stderr)
    if not rows:
        sys.exit(f"{folder}: no recordings found; see the recipe's README for the layout it expects")
    columns = list(zip(*rows))
    table = {"audio": np.concatenate(pieces)}
    for key, column in zip(("start", "length", "from", "to", "kind", "label", "part", "name"), columns):
        table[key] = np.array(column)
    os.makedirs(os.path.dirname(cache) or ".", exist_ok=True)
    np.savez(cache + ".part.npz", **table)
    os.replace(cache + ".part.npz", cache)
    return table
