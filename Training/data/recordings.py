"""Reads the recordings once, decodes them to 16 kHz int16 and keeps them in one cache file per folder.

`sources` says what a path means; `split` says who is trained on, who tunes and who reports. The testing partition of Speech
Commands is left out here and so never trained on. A tar file may hold the transcripts of its recordings: `text….tsv` (name,
transcript in the last column) or `align.tsv` (name, word, start, end in seconds); each aligned word is a row of its own, of
kind `cut`.
"""

import io
import os
import sys
import tarfile

import numpy as np
import soundfile

from Training.data import alignment
from Training.data.audio import RATE, resample
from Training.data.files import replacing
from Training.data.sources import kind_and_label, short_name
from Training.data.split import part

ENDINGS = (".opus", ".wav", ".flac", ".ogg")
# Seconds left out before and after a command that a recognizer heard: its times are that exact.
HEARD_MARGIN = 0.2


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


def read_lists(folder):
    """(file name, text) of every .tsv file in the folder's tar files."""
    archives = [os.path.join(folder, entry) for entry in sorted(os.listdir(folder)) if entry.endswith(".tar")]
    return [(os.path.basename(name), data.decode()) for path in archives for name, data in read_tar(path, ".tsv")]


def transcripts(lists):
    """What is said in the recordings, by the name of `sources.short_name`, from what `read_lists` gives; lower case."""
    said = {}
    for name, text in lists:
        lines = [line.split("\t") for line in text.splitlines() if "\t" in line]
        if name == "align.tsv":
            words = {}
            for row in lines:
                words.setdefault(short_name(row[0]), []).append(row[1])
            said = {key: " ".join(value).lower() for key, value in words.items()} | said
        elif name.startswith("text"):
            said |= {short_name(row[0]): row[-1].lower() for row in lines}
    return said


def machine_transcripts():
    """What a recognizer heard in recordings that come without transcripts, by name: transcripts.tsv beside this module."""
    with open(os.path.join(os.path.dirname(__file__), "transcripts.tsv")) as file:
        return dict(line.rstrip("\n").split("\t") for line in file if not line.startswith("#"))


def heard_commands():
    """Where a recognizer heard commands in recordings without transcripts, {name: [(start, end)]} in seconds."""
    spans = {}
    with open(os.path.join(os.path.dirname(__file__), "heard_commands.tsv")) as file:
        for line in file:
            if not line.startswith("#"):
                name, start, end, _ = line.split("\t")
                spans.setdefault(name, []).append((float(start), float(end)))
    return spans


def without(table, spans):
    """The table with the running speech before, between and after these spans in place of each recording that has some.

    `spans` is what `heard_commands` gives. Pieces shorter than a second are dropped.
    """
    rows, starts, lengths = [], [], []
    for row in range(len(table["name"])):
        start, length = int(table["start"][row]), int(table["length"][row])
        cuts = spans.get(table["name"][row], ()) if table["kind"][row] == "speech" else ()
        bounds = [0, *(int((t + margin) * RATE) for a, b in cuts for t, margin in ((a, -HEARD_MARGIN), (b, HEARD_MARGIN))), length]
        for first, last in zip(bounds[::2], bounds[1::2]):
            if not cuts or last - first >= RATE:
                rows.append(row), starts.append(start + first), lengths.append(last - first)
    result = {key: column if key == "audio" else column[rows] for key, column in table.items()}
    result |= {"start": np.array(starts), "length": np.array(lengths)}
    is_cut = np.isin(result["name"], list(spans)) & (result["kind"] == "speech")
    result["from"] = np.where(is_cut, 0, result["from"])
    result["to"] = np.where(is_cut, result["length"], result["to"])
    return result


def aligned_words(lists):
    """The aligned words of the recordings, as `alignment.parse` gives them, from what `read_lists` gives."""
    words = {}
    for name, text in lists:
        if name == "align.tsv":
            words |= alignment.parse(text)
    return words


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
    (samples in `audio`), `from` and `to` (the utterance's bounds, samples after `start`), `kind`, `label`, `text` (the
    transcript, if there is one, by hand or by a recognizer), `part` (training, tune or report) and `name` (`<folder>/<file>`
    without extension). The part is not stored, so that a cache outlives a change of the split.
    """
    table = {}
    if os.path.exists(cache):
        with np.load(cache) as stored:
            table = {key: stored[key] for key in stored.files}
    if "text" not in table:  # no cache, or one of an older version
        table = read(folder)
        os.makedirs(os.path.dirname(cache) or ".", exist_ok=True)
        with replacing(cache) as unfinished:
            np.savez(unfinished, **table)
    heard = machine_transcripts()
    table["text"] = np.array([text or heard.get(name, "") for text, name in zip(table["text"], table["name"])])
    table = without(table, heard_commands())
    table["part"] = np.array([part(*row) for row in zip(table["kind"], table["label"], table["name"])])
    return table


def read(folder):
    """The table of `load` without the column `part`, from the audio files."""
    pieces, rows, position = [], [], 0
    lists = read_lists(folder)
    said, aligned = transcripts(lists), aligned_words(lists)
    for number, (path, data) in enumerate(read_folder(folder)):
        kind, label = kind_and_label(path)
        name = short_name(path)
        if part(kind, label, name) == "testing":
            continue
        try:
            audio = decode(data)
        except soundfile.SoundFileError as error:
            print(f"{path}: skipped: {error}", file=sys.stderr)
            continue
        if kind == "clip":
            audio = np.pad(audio[:RATE], (0, max(0, RATE - len(audio))))
        first, last = utterance_bounds(audio) if kind in ("clip", "word") else (0, len(audio))
        rows.append((position, len(audio), first, last, kind, label, said.get(name, ""), name))
        for start, length, begin, end, word in alignment.rows(aligned.get(name, ()), position, len(audio)):
            rows.append((start, length, begin, end, "cut", word, "", name))
        pieces.append(audio)
        position += len(audio)
        if number % 2000 == 0:
            print(f"read {number} files, {position / RATE / 3600:.2f} h", file=sys.stderr)
    if not rows:
        sys.exit(f"{folder}: no recordings found; Training/README.md describes the layout")
    columns = ("start", "length", "from", "to", "kind", "label", "text", "name")
    return {"audio": np.concatenate(pieces)} | {key: np.array(column) for key, column in zip(columns, zip(*rows))}


def samples(table, row, first=0, last=None):
    """Samples [first, last) of a recording (all by default, never beyond its end) as float32 in [−1, 1)."""
    start, length = int(table["start"][row]), int(table["length"][row])
    last = length if last is None else min(last, length)
    return table["audio"][start + int(first) : start + int(last)] / np.float32(32768)
