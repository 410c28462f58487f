"""What the streaming network proposes in recordings with known words, and what each proposal turns out to be.

A proposal is a detection of the built program at a low threshold. The networks see a window around its middle, with its peak scaled to
at most PEAK. The second look may correct the word, so that hits, wrong words and false accepts are told by a word given afterwards.
"""

import dataclasses
import json
import os

import numpy as np
import soundfile

from Training.data.audio import RATE
from Training.data.vocabulary import COMMANDS
from Training.evaluate import program, stream_counts

# The threshold that proposes.
THRESHOLD = 0.2
# Seconds after a word's end in which it may be decided, as in `beckon evaluate`.
TOLERANCE = 1.0
PEAK = 0.5


@dataclasses.dataclass
class Proposal:
    """A detection of the program: its recording, word and confidence, and when it begins, ends and is decided, in seconds."""

    path: str
    word: str
    confidence: float
    start: float
    end: float
    time: float


def proposed(beckon, model, mode, paths, trigger="early"):
    """The proposals of `beckon classify` in recordings, in a mode, command or spot; with the trigger `end` they wait for the word's end."""
    arguments = ("classify", "--json", "--mode", mode, "--trigger", trigger, "--threshold", THRESHOLD, "--model", model, "--words", "none", "--files-from", "-")
    lines = [json.loads(line) for line in program.run(beckon, *arguments, input="\n".join(paths)).splitlines()]
    return [
        Proposal(line["file"], line["word"], line["confidence"], line["start"], line["end"], line["time"])
        for line in lines
        if line.get("event") == "word" and line["word"] in COMMANDS
    ]


def windows(proposals, samples, shift=0.0):
    """A window [n, samples] around the middle of each proposal, `shift` seconds later."""
    read, out = {}, np.zeros((len(proposals), samples), np.float32)
    for row, proposal in zip(out, proposals):
        if proposal.path not in read:
            read = {proposal.path: soundfile.read(proposal.path, dtype="float32")[0]}
        wave = read[proposal.path]
        begin = int(((proposal.start + proposal.end) / 2 + shift) * RATE) - samples // 2
        first, last = max(0, begin), min(len(wave), begin + samples)
        if first < last:
            row[first - begin : last - begin] = wave[first:last]
    return scaled(out)


def scaled(waves):
    """Waveforms [n, samples] with their peak at PEAK at most."""
    return waves * np.minimum(1, PEAK / np.maximum(np.abs(waves).max(axis=1, keepdims=True), 1e-9))


def words_said(path):
    """The commands of a recording's label track, [(start, end, word)]."""
    with open(os.path.splitext(path)[0] + ".txt") as file:
        rows = (line.rstrip("\n").split("\t") for line in file if line.strip())
        return [(float(start), float(end), word) for start, end, word in rows if word in COMMANDS]


def in_reach(times, said):
    """For each time of a detection the words, by index, that it can match."""
    reach = TOLERANCE + 1e-6
    return [[i for i, (start, end, _) in enumerate(said) if start <= time + 1e-6 and end + reach >= time] for time in times]


def outcomes(times, words, said, near):
    """`hit`, `wrong` or `false accept` of detections of one recording, by their times, words and what is `in_reach`; as `beckon evaluate` tells."""
    matched, found = set(), []
    distance = lambda index, time: (max(0.0, time - said[index][1]), abs(time - said[index][1]))
    for time, word, reached in zip(times, words, near):
        own = [i for i in reached if said[i][2] == word and i not in matched]
        is_repeat = any(said[i][2] == word and i in matched for i in reached)
        if own:
            matched.add(min(own, key=lambda index: distance(index, time)))
            found.append("hit")
        elif not is_repeat and any(said[i][2] != word and i not in matched for i in reached):
            found.append("wrong")
        else:
            found.append("false accept")
    return found


@dataclasses.dataclass
class Talk:
    """Hours of recordings of talk, and the hours of those who talk in sentences."""

    paths: list
    hours: float
    sentences: set
    sentence_hours: float


def recordings_of(folder, name):
    """The recordings of a set that streams.py wrote."""
    path = os.path.join(folder, name)
    return [os.path.join(path, entry) for entry in sorted(os.listdir(path)) if entry.endswith(".wav")]


def talk_in(folder, single, slow):
    """The Talk of all sets `talk-…` in a folder; sets that begin with one of `single`, and files below `slow` words a second, hold no sentences."""
    paths, sentences, hours, sentence_hours = [], set(), 0.0, 0.0
    for name in stream_counts.sets_in(folder):
        if not name.startswith("talk-") or name.startswith("talk-read"):
            continue
        for path in recordings_of(folder, name):
            seconds = soundfile.info(path).duration
            paths.append(path)
            hours += seconds / 3600
            if not name.startswith(single) and not stream_counts.pace(path[:-4] + ".said") < slow:
                sentences.add(path)
                sentence_hours += seconds / 3600
    return Talk(paths, hours, sentences, sentence_hours)
