"""Words that are taught by recordings."""

from __future__ import annotations

import ctypes
import os
from typing import Any, NamedTuple

from . import _library, _samples, _spotter
from ._library import library


class Rates(NamedTuple):
    """What is to be expected of a taught word at one threshold; estimates."""

    #: Confidence, 0 to 1.
    threshold: float
    #: Share of utterances that are missed, 0 to 1, where those who said the takes say the word, and where others do.
    missed: float
    missed_of_others: float
    #: In an hour of other people's talk.
    false_accepts: float


class Recording(NamedTuple):
    """What became of one of the takes that were given."""

    #: Utterances in it that teach the word; 0 for a recording that was left out.
    used: int
    #: What is wrong with others, or noteworthy; empty for nothing.
    remark: str


class Lesson(NamedTuple):
    """What came of teaching a word."""

    word: str
    #: Takes that the word has now.
    takes: int
    #: One for each take that was given.
    recordings: tuple[Recording, ...]
    #: At the spotter's own sensitivity and mode; None where the model has nothing to estimate by.
    expected: Rates | None
    #: By sensitivity and mode, such as rates["strict", "command"].
    rates: dict[tuple[str, str], Rates]
    #: The same in sentences, a line each, and what the word may be taken for.
    text: str


MORE, ALIKE = 1, 2


def run(
    spotter: _spotter.Handle,
    word: str,
    takes: Any,
    sample_rate: int,
    more: bool,
    force: bool,
    save: Any,
    chosen: tuple[str, str],
) -> tuple[Lesson, _spotter.Handle]:
    """Teaches a word. Returns what came of it, and the spotter that finds it."""
    if not isinstance(word, str):
        raise TypeError(f"word is a text, such as 'computer', not {word!r}")
    if isinstance(takes, (str, bytes, os.PathLike)) or getattr(takes, "ndim", 2) < 2:
        raise TypeError("takes is a list of arrays, such as [samples]; each has the samples of a recording")
    rate = _spotter._integer("sample_rate", sample_rate)
    # The structures keep the bytes.
    items = []
    for number, take in enumerate(_spotter._items("takes", takes)):
        try:
            data, _ = _samples.read(take)
        except (TypeError, ValueError) as error:
            raise type(error)(f"take {number}: {error}") from None
        items.append(_library.Take(data.tobytes(), len(data), 1 if data.format == "f" else 0, 1, rate))
    path = None if save is None else _spotter._path(save)
    flags = MORE * bool(more) | ALIKE * bool(force)
    try:
        lesson = _spotter._call(library.teach, spotter, _spotter._text(word), (_library.Take * len(items))(*items), len(items), flags, path)
    except _spotter.AudioError as error:
        raise ValueError(str(error)) from None
    try:
        rates = {}
        for sensitivity, first in _spotter.SENSITIVITIES.items():
            for mode, second in _spotter.MODES.items():
                found = _library.Rates()
                if library.lesson_rates(lesson, first, second, ctypes.byref(found)):
                    rates[sensitivity, mode] = Rates(found.threshold, found.missed, found.missed_of_others, found.false_accepts)
        recordings = []
        for index in range(len(items)):
            remark = ctypes.c_char_p()
            used = library.lesson_used(lesson, index, ctypes.byref(remark))
            recordings.append(Recording(used, (remark.value or b"").decode()))
        text = (library.lesson_text(lesson) or b"").decode()
        handle = _spotter.Handle(library.lesson_spotter(lesson), library.close)
        return Lesson(word, library.lesson_takes(lesson), tuple(recordings), rates.get(chosen), rates, text), handle
    finally:
        library.lesson_free(lesson)
