"""What the program detects in the recordings of streams.py: counts of every file, word and threshold."""

import concurrent.futures
import dataclasses
import json
import os
import re

import numpy as np

from Training.evaluate import intervals, program

MODES = ("command", "spot")
BY_FILE = ("hits", "wrong", "false_accepts", "said", "seconds", "content", "pace")


@dataclasses.dataclass
class Counts:
    """Hits, wrong words and false accepts [files, words, thresholds], words said [files, words], seconds [files], what each file
    plays [files]: files that differ in the noise alone play the same, and words a second of its speech [files], nan if unknown."""

    words: list
    thresholds: np.ndarray
    hits: np.ndarray
    wrong: np.ndarray
    false_accepts: np.ndarray
    said: np.ndarray
    seconds: np.ndarray
    content: np.ndarray
    pace: np.ndarray

    @property
    def hours(self):
        return self.seconds.sum() / 3600

    def of_files(self, chosen):
        """The counts of some files, chosen by truth values or indices."""
        return dataclasses.replace(self, **{field: getattr(self, field)[chosen] for field in BY_FILE})

    def at(self, values, chosen):
        """`values` [files, words, thresholds] at the index of each word's threshold, [files, words]."""
        return np.take_along_axis(values, np.asarray(chosen)[None, :, None], axis=2)[:, :, 0]


def joined(parts):
    """The files of several sets as one."""
    parts = list(parts)
    arrays = {field: np.concatenate([getattr(part, field) for part in parts]) for field in BY_FILE}
    return Counts(parts[0].words, parts[0].thresholds, **arrays)


def named(part, counts):
    """The same counts, whose files are told from those of another part that have the same names."""
    return dataclasses.replace(counts, content=np.array([f"{part}/{played}" for played in counts.content]))


def sets_in(folder):
    """The names of the sets that streams.py wrote into a folder."""
    return sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())


def part_of(folder):
    """Whose recordings these are, `tune` or `report`."""
    with open(os.path.join(folder, "manifest.json")) as file:
        return json.load(file)["part"]


def content(name, entry):
    """What file `entry` of set `name` plays, whatever the noise."""
    return re.sub(r"-(clean|noise-\d+)$", "", name) + "/" + entry


def pace(path):
    """Words a second of the utterances in a `.said` file; nan without one, or where no transcript is known."""
    words = seconds = 0
    if os.path.exists(path):
        with open(path) as file:
            for start, end, _, text in (line.rstrip("\n").split("\t") for line in file):
                count = len(re.findall(r"[\w']+", text))
                words += count
                seconds += float(end) - float(start) if count else 0
    return words / seconds if seconds else np.nan


def measure(beckon, model, folder, name, confirms=True):
    """The counts of one set by mode, each file played through the detector by itself, with the networks that confirm or without."""
    settings = () if confirms else ("--no-confirm",)
    found = {mode: [] for mode in MODES}
    paths = sorted(entry.path for entry in os.scandir(os.path.join(folder, name)) if entry.name.endswith(".wav"))
    report_of = lambda path: program.run(beckon, "evaluate", "--json", *settings, "--model", model, "--words", "none", "--stream", path)
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as workers:
        for path, text in zip(paths, workers.map(report_of, paths)):
            report = json.loads(text)
            for setting in report["settings"]:
                what = (report["seconds"], content(name, os.path.basename(path)), pace(path[:-4] + ".said"))
                found[setting["mode"]].append((setting["words"], *what))
    return {mode: _counts(files) for mode, files in found.items()}


def _counts(files):
    first = files[0][0]

    def table(key):
        return np.array([[[point[key] for point in word["curve"]] for word in words] for words, *_ in files])

    return Counts(
        [word["word"] for word in first],
        np.array([point["threshold"] for point in first[0]["curve"]]),
        table("hits"),
        table("wrong"),
        table("falseAccepts"),
        np.array([[word["figures"]["said"] for word in words] for words, *_ in files]),
        *(np.array(column) for column in list(zip(*files))[1:]),
    )


def recall(counts, chosen):
    """Per cent of the words said that are hits at the thresholds' indices [words], and the values of the draws."""
    hits, said = counts.at(counts.hits, chosen).sum(axis=1), counts.said.sum(axis=1)
    return _ratio(counts, 100 * hits, said)


def wrong(counts, chosen):
    """Per cent of the words said that are taken for another, as `recall`."""
    found, said = counts.at(counts.wrong, chosen).sum(axis=1), counts.said.sum(axis=1)
    return _ratio(counts, 100 * found, said)


def false_accepts(counts, chosen):
    """False accepts an hour, as `recall`."""
    return _ratio(counts, counts.at(counts.false_accepts, chosen).sum(axis=1), counts.seconds / 3600)


def false_accept_interval(counts, chosen):
    """The bounds of the 95 % interval of false accepts an hour.

    Without any, the upper bound is 3 in the hours of different talk: a rate that gives none in one case of twenty.
    """
    rate, rates = false_accepts(counts, chosen)
    if rate > 0:
        return intervals.interval(rates)
    played, first = np.unique(counts.content, return_index=True)
    return 0.0, float(3 / (counts.seconds[first].sum() / 3600))


def _ratio(counts, above, below):
    drawn = intervals.weights(counts.content)
    total = drawn @ below
    return above.sum() / below.sum(), np.divide(drawn @ above, total, out=np.full(len(drawn), np.nan), where=total > 0)
