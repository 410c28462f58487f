"""Spotters, streams and what they find."""

from __future__ import annotations

import ctypes
import difflib
import math
import operator
import os
import threading
import weakref
from pathlib import Path
from typing import Any, Mapping, NamedTuple

from . import _library, _samples
from ._library import PACKAGE, library

MODES = {"spot": 0, "command": 1}
TRIGGERS = {"early": 0, "end": 1}
SENSITIVITIES = {"strict": 0, "balanced": 1, "eager": 2}
#: Where models are found by name.
MODELS = [PACKAGE / "models", Path("/usr/share/beckon/models")]


class Error(Exception):
    """What went wrong, in one line."""


class CallError(Error):
    """A call that is not allowed, such as samples for a stream that has ended."""


class ModelError(Error):
    """The model's folder cannot be read, or its files are wrong."""


class WordsError(Error):
    """The file of taught words cannot be read, is damaged, or has a word that this model cannot find."""


class SettingsError(Error):
    """The settings name a word or sensitivity that the model does not have, or a value outside its range."""


class AudioError(Error):
    """Audio cannot be read or converted."""


KINDS = {1: CallError, 2: ModelError, 3: WordsError, 4: SettingsError, 5: AudioError}


class Detection(NamedTuple):
    """A word that was detected. Times are in seconds from the start of the file or stream."""

    word: str
    #: 0 to 1.
    confidence: float
    #: Estimated bounds of the word.
    start: float
    end: float
    #: Where networks confirmed it: its score in the streaming network, and their posterior, 0 to 1.
    proposed: float | None = None
    confirmed: float | None = None


class Spotter:
    """A model and taught words, for any number of files and streams. Any number of threads may use it at a time."""

    def __init__(
        self,
        model: str | os.PathLike[str] | None = None,
        *,
        words: str | os.PathLike[str] | None = None,
        mode: str = "spot",
        trigger: str = "early",
        sensitivity: str = "balanced",
        threshold: float | None = None,
        thresholds: Mapping[str, float] | None = None,
        channel: int | None = None,
        confirm: bool = True,
    ):
        """Loads a model.

        model: its folder, or the name of one that comes with this package or the system's, such as "commands"; None for that.
        words: a file of taught words, as `beckon enroll --words FILE` or `beckon words export FILE` writes it.
        mode: "spot" for words anywhere, "command" for words said alone.
        trigger: "early" as soon as a word is certain enough, "end" when it is over.
        sensitivity: "strict", "balanced" or "eager": the model's thresholds.
        threshold, thresholds: confidence from 0 to 1 that every word needs, and single ones, in place of these.
        channel: of files, from 0; None for the mean of all.
        confirm: whether the model's confirming networks look at what it finds.
        """
        thresholds = thresholds or {}
        if not isinstance(thresholds, Mapping):
            raise TypeError(f'thresholds are a dictionary, such as {{"stop": 0.9}}, not {type(thresholds).__name__}')
        self._settings_items = (_library.Threshold * len(thresholds))(
            *(_library.Threshold(str(name).encode(), _number(value)) for name, value in thresholds.items())
        )
        settings = _library.Settings(
            size=ctypes.sizeof(_library.Settings),
            mode=_choice("mode", mode, MODES),
            trigger=_choice("trigger", trigger, TRIGGERS),
            sensitivity=_choice("sensitivity", sensitivity, SENSITIVITIES),
            threshold=math.nan if threshold is None else _number(threshold),
            thresholds=self._settings_items if thresholds else None,
            threshold_count=len(thresholds),
            taught_words=None if words is None else _path(words),
            channel=-1 if channel is None else _index(channel),
            confirms=bool(confirm),
        )
        folder = _find_model("commands" if model is None else model)
        self._handle = _call(library.open, _path(folder), ctypes.byref(settings))
        self._close = weakref.finalize(self, library.close, self._handle)

    @property
    def words(self) -> tuple[str, ...]:
        """The words of the model, in its order, then the taught ones."""
        return tuple(library.word(self._handle, index).decode() for index in range(library.word_count(self._handle)))

    def detect_file(self, path: str | os.PathLike[str], *, threads: int = 1) -> list[Detection]:
        """Finds the words of an audio file, of any format that libsndfile reads, at 8 to 192 kHz.

        threads: more than one helps with recordings of minutes.
        """
        results = _call(library.find, self._handle, _path(path), _integer("threads", threads))
        try:
            items = library.results_items(results)
            return [_detection(items[index]) for index in range(library.results_count(results))]
        finally:
            library.results_free(results)

    def detect(self, samples: Any, sample_rate: int) -> list[Detection]:
        """Finds the words of samples, which `Stream.push` describes, errors included."""
        stream = self.stream(sample_rate)
        return stream.push(samples) + stream.finish()

    def stream(self, sample_rate: int = 16_000) -> Stream:
        """Begins a stream of audio, such as a microphone's, with samples at a rate in Hz."""
        return Stream(self, sample_rate)


class Stream:
    """Finds words in audio as it arrives; the words are those of a file with the same samples.

    Threads that use it at the same time wait for each other.
    """

    def __init__(self, spotter: Spotter, sample_rate: int):
        self._handle = _call(library.stream_open, spotter._handle, _integer("sample_rate", sample_rate))
        self._close = weakref.finalize(self, library.stream_close, self._handle)
        self._lock = threading.Lock()
        self._channels: int | None = None
        STREAMS.add(self)

    def push(self, samples: Any) -> list[Detection]:
        """Gives the next samples, any number of them, and returns the words that were decided in them.

        samples: a numpy array or another buffer: float32 or float64 in -1 to 1, or int16, in the machine's byte order; [samples], or
        [samples, channels], of which the mean is used, or [1, samples]. What has an `__array__`, such as a tensor of torch, is taken, too.

        Raises TypeError for what has no such samples, such as bytes and lists, and ValueError for other shapes, such as [channels, samples],
        for samples that are not numbers, and for floats that are no audio in -1 to 1. The stream is as it was then.
        """
        data, channels = _samples.read(samples, self._channels)
        if channels > 1:
            self._channels = channels
        function = library.stream_push if data.format == "f" else library.stream_push_int16
        with self._lock:
            try:
                _check(function, self._handle, data.tobytes(), len(data))
            except AudioError as error:
                raise ValueError(str(error)) from None
            return self._poll()

    def finish(self) -> list[Detection]:
        """Ends the stream, as if a second of silence followed, and returns the words that were decided since the last call."""
        with self._lock:
            _check(library.stream_finish, self._handle)
            return self._poll()

    def _poll(self) -> list[Detection]:
        found, detection = [], _library.Detection()
        while library.stream_poll(self._handle, ctypes.byref(detection)):
            found.append(_detection(detection))
        return found


#: All streams, whose locks a child process gets anew: the thread that held one is not in the child.
STREAMS: weakref.WeakSet[Stream] = weakref.WeakSet()


def _unlock() -> None:
    for stream in STREAMS:
        stream._lock = threading.Lock()


os.register_at_fork(after_in_child=_unlock)


def _find_model(model: str | os.PathLike[str]) -> str | os.PathLike[str]:
    """A model's folder: for a name without a slash that is no folder here, that of the package or of the system."""
    name = os.fspath(model)
    if not isinstance(name, str) or "/" in name or "\0" in name or Path(name, "model.json").exists():
        return model
    for place in MODELS:
        if (place / name / "model.json").exists():
            return place / name
    places = " and ".join(map(str, MODELS))
    names = sorted({path.parent.name for place in MODELS for path in place.glob("*/model.json")})
    if not names:
        raise ModelError(f"no model {name!r}: none came with this package, nothing is in {places}; name the folder of a model, such as './{name}'")
    raise ModelError(f"no model {name!r} in {places}, where there is {', '.join(names)}; name one of them, or a folder, such as './{name}'")


def _choice(name: str, value: str, choices: dict[str, int]) -> int:
    if not isinstance(value, str) or value not in choices:
        near = difflib.get_close_matches(str(value).lower(), choices, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise SettingsError(f"{name} is {', '.join(choices)}, not {value!r}{hint}")
    return choices[value]


def _number(value: float) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise TypeError(f"a threshold is a number from 0 to 1, not {value!r}") from None
    if math.isnan(number):
        raise SettingsError("a threshold is a confidence from 0 to 1, not nan")
    return number


def _integer(name: str, value: int) -> int:
    """A whole number as the library takes it; the library says which it wants, also of those that are too large for it."""
    try:
        number = operator.index(int(value) if isinstance(value, float) and value.is_integer() else value)
    except TypeError:
        raise TypeError(f"{name} is a whole number, not {value!r}") from None
    return max(-(2**31), min(number, 2**31 - 1))


def _index(channel: int) -> int:
    number = _integer("channel", channel)
    if not 0 <= number < _samples.MOST_CHANNELS:
        raise SettingsError(f"a channel is a number from 0 to {_samples.MOST_CHANNELS - 1}, not {channel}")
    return number


def _path(path: str | os.PathLike[str]) -> bytes:
    data = os.fsencode(path)
    if b"\0" in data:
        raise CallError("a path contains a zero byte")
    return data


def _error(error: _library.Error) -> Error:
    return KINDS.get(error.code, Error)(error.text.decode("utf-8", "replace"))


def _call(function: Any, *arguments: Any) -> int:
    """Calls a function that makes a handle."""
    error = _library.Error()
    handle = function(*arguments, ctypes.byref(error))
    if not handle:
        raise _error(error)
    return handle


def _check(function: Any, *arguments: Any) -> None:
    """Calls a function that returns a code."""
    error = _library.Error()
    if function(*arguments, ctypes.byref(error)):
        raise _error(error)


def _detection(found: _library.Detection) -> Detection:
    optional = [None if math.isnan(value) else value for value in (found.proposed, found.confirmed)]
    return Detection(found.word.decode(), found.confidence, found.start, found.end, *optional)
