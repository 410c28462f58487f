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
from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, NamedTuple

if TYPE_CHECKING:
    import numpy

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
    """A word or phrase that was detected. Times are in seconds from the start of the file or stream."""

    #: The word, or the words of the phrase with spaces between.
    word: str
    #: 0 to 1; of a phrase the lowest of its words.
    confidence: float
    #: Estimated bounds of the word.
    start: float
    end: float
    #: Where networks confirmed it: its score in the streaming network, and their posterior, 0 to 1.
    proposed: float | None = None
    confirmed: float | None = None
    #: "word" or "phrase".
    kind: str = "word"


class FileWords(NamedTuple):
    """The words of one of many files."""

    #: As it was given.
    path: Any
    words: list[Detection]
    #: Why the file could not be read; None if it could.
    error: Error | None = None


class Handle:
    """What the library made. It is given back with the last reference: scores that are still looked at keep the memory of their stream."""

    def __init__(self, pointer: int, close: Any):
        self._as_parameter_ = pointer
        weakref.finalize(self, close, pointer)


class Spotter:
    """A model, taught words and wake words, for any number of files and streams. Any number of threads may use it at a time.

    As a context manager it is closed at the end; without, when it is not used any more.
    """

    def __init__(
        self,
        model: str | os.PathLike[str] | None = None,
        *,
        words: str | os.PathLike[str] | Iterable[str | os.PathLike[str]] | None = None,
        wake_words: Iterable[str | os.PathLike[str]] = (),
        phrases: Iterable[str] = (),
        typed_words: Iterable[str] | Mapping[str, Iterable[str]] = (),
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
        words: the only words that are reported, such as ["left", "right"], beside wake words; None for all. A path in place of a word, which
            has a slash or an ending, is a file of taught words, as `beckon enroll --words FILE` or `beckon words export FILE` writes it;
            alone, such as words="my.words", it adds them to all words.
        wake_words: wake words with models of their own, by their names, such as "okay_nabu", or files of microWakeWord and openWakeWord.
        phrases: of two or more words, such as "go left", which are reported after their words.
        typed_words: words that are made from their names, such as ["hey house"]; or a dictionary with how each is said, in IPA or ARPAbet, in
            place of what its spelling gives: {"hey house": ["h eɪ h aʊ s"]}.
        mode: "spot" for words anywhere, "command" for words said alone.
        trigger: "early" as soon as a word is certain enough, "end" when it is over.
        sensitivity: "strict", "balanced" or "eager": the model's thresholds, for at most 0.1, 0.5 and 5 false accepts in an hour of talk.
        threshold, thresholds: confidence from 0 to 1 that every word needs, and single ones, in place of these.
        channel: of files, from 0; None for the mean of all.
        confirm: whether the model's confirming networks look at what it finds.

        Raises ModelError, WordsError and SettingsError.
        """
        thresholds = thresholds or {}
        if not isinstance(thresholds, Mapping):
            raise TypeError(f'thresholds are a dictionary, such as {{"stop": 0.9}}, not {type(thresholds).__name__}')
        items = (_library.Threshold * len(thresholds))(
            *(_library.Threshold(str(name).encode(), _number(value)) for name, value in thresholds.items())
        )
        file, names = _words(words)
        wake = _texts("wake_words", wake_words)
        typed = _typed(typed_words)
        if names == [] and not wake and not typed:
            raise SettingsError("words is empty, so that nothing could be found; name some, or give None for all")
        texts = _texts("phrases", phrases)
        settings = _library.Settings(
            size=ctypes.sizeof(_library.Settings),
            mode=_choice("mode", mode, MODES),
            trigger=_choice("trigger", trigger, TRIGGERS),
            sensitivity=_choice("sensitivity", sensitivity, SENSITIVITIES),
            threshold=math.nan if threshold is None else _number(threshold),
            thresholds=items if thresholds else None,
            threshold_count=len(thresholds),
            taught_words=None if file is None else _path(file),
            channel=-1 if channel is None else _index(channel),
            confirms=bool(confirm),
            words=None if names is None else _array(names),
            word_count=len(names or ()),
            wake_words=_array(wake),
            wake_word_count=len(wake),
            phrases=_array(texts),
            phrase_count=len(texts),
            typed_words=_array(typed),
            typed_word_count=len(typed),
        )
        folder = _find_model("commands" if model is None else model)
        self._chosen = (sensitivity, mode)
        self._handle: Handle | None = Handle(_call(library.open, _path(folder), ctypes.byref(settings)), library.close)

    def close(self) -> None:
        """Gives the model back; streams go on. Any other call raises CallError then."""
        self._handle = None

    def __enter__(self) -> Spotter:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _use(self) -> Handle:
        if self._handle is None:
            raise CallError("the spotter is closed; make another one")
        return self._handle

    @property
    def words(self) -> tuple[str, ...]:
        """The words that may be reported: those of the model, in its order, then the taught ones, then wake words."""
        return _list(library.word, self._use(), library.word_count(self._use()))

    @property
    def phrases(self) -> tuple[str, ...]:
        """The phrases that are reported."""
        return _list(library.phrase, self._use())

    @property
    def labels(self) -> tuple[str, ...]:
        """What has a score in each hop, the rows of `Stream.scores`: all words, then "_unknown_" and "_silence_"."""
        return _list(library.label, self._use(), library.label_count(self._use()))

    def detect_file(self, path: str | os.PathLike[str], *, threads: int = 1) -> list[Detection]:
        """Finds the words of an audio file, of any format that libsndfile reads, at 8 to 192 kHz.

        threads: more than one helps with recordings of minutes.

        Raises AudioError for a file that cannot be read.
        """
        handle = self._use()
        results = _call(library.find, handle, _path(path), _integer("threads", threads))
        try:
            items, phrases = library.results_items(results), self.phrases
            return [_detection(items[index], phrases) for index in range(library.results_count(results))]
        finally:
            library.results_free(results)

    def detect_files(
        self,
        paths: Iterable[str | os.PathLike[str]],
        *,
        threads: int | None = None,
        progress: bool | Callable[[int, int], object] = False,
    ) -> list[FileWords]:
        """Finds the words of many files, some at a time. A file that cannot be read has an `error`, and the others go on.

        threads: files at a time; None for as many as there are processors.
        progress: True for a line on standard error, or a function that gets the number of files that are done and of all, on the calling
            thread; an exception of it ends the work.

        Returns the words of each file, in the order of the paths.
        """
        if isinstance(paths, (str, bytes, os.PathLike)):
            raise TypeError(f"paths is a list, such as [{os.fspath(paths)!r}]; one file is for detect_file")
        self._use()
        return _files.run(self, list(paths), threads, progress)

    def detect(self, samples: Any, sample_rate: int) -> list[Detection]:
        """Finds the words of samples, which `Stream.push` describes, errors included. sample_rate: in Hz."""
        with self.stream(sample_rate, history=0.1) as stream:
            return stream.push(samples) + stream.finish()

    def stream(self, sample_rate: int = 16_000, *, history: float = 60.0) -> Stream:
        """Begins a stream of audio, such as a microphone's.

        sample_rate: of the samples, in Hz, 8,000 to 192,000.
        history: so many of the newest seconds keep their scores, 0.1 to 86,400.
        """
        return Stream(self, sample_rate, history)

    def teach(
        self,
        word: str,
        takes: Iterable[Any],
        sample_rate: int = 16_000,
        *,
        more: bool = False,
        force: bool = False,
        save: str | os.PathLike[str] | None = None,
    ) -> Lesson:
        """Teaches this spotter a word, from recordings of it. It takes seconds. Streams that were begun before do not find it.

        word: as it is said and spelled, such as "computer".
        takes: arrays of samples as `Stream.push` takes them, each with the word once, or several times with pauses between; three to five
            are good. What is too quiet, cut off, clipped, another word or unlike the others is left out.
        sample_rate: of the takes, in Hz.
        more: the word is taught already and gets more takes.
        force: takes may sound like another word.
        save: a file of taught words that keeps it too, for words= and the service; it is made where it is missing.

        Returns what was used, and the estimates of misses and false accepts.

        Raises WordsError where no take can be used or the word sounds like another one, and TypeError or ValueError for samples, as
        `Stream.push` does. The spotter is as it was then.
        """
        lesson, handle = _teaching.run(self._use(), word, takes, sample_rate, more, force, save, self._chosen)
        self._handle = handle
        return lesson


class Stream:
    """Finds words in audio as it arrives; the words are those of a file with the same samples.

    Threads that use it at the same time wait for each other. As a context manager it is closed at the end, which does not finish it: words
    that are not decided yet come from `finish`.
    """

    def __init__(self, spotter: Spotter, sample_rate: int, history: float = 60.0):
        spotted = spotter._use()
        pointer = _call(library.stream_open, spotted, _integer("sample_rate", sample_rate))
        self._handle: Handle | None = Handle(pointer, library.stream_close)
        _check(library.stream_keep, self._handle, _real("history", history))
        self._lock = threading.Lock()
        self._channels: int | None = None
        #: Of the rows of `scores`.
        self.labels, self._phrases = spotter.labels, spotter.phrases
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
            handle = self._use()
            try:
                _check(function, handle, data.tobytes(), len(data))
            except AudioError as error:
                raise ValueError(str(error)) from None
            return self._poll(handle)

    def finish(self) -> list[Detection]:
        """Ends the stream, as if a second of silence followed, and returns the words that were decided since the last call."""
        with self._lock:
            handle = self._use()
            _check(library.stream_finish, handle)
            return self._poll(handle)

    @property
    def scores(self) -> numpy.ndarray[Any, Any]:
        """The scores of the newest hops, ten a second: float32, [labels, hops], 0 to 1, the newest hop last.

        They are smoothed over three hops; thresholds are compared with them. Not a copy: the next `push` changes what the array shows, so
        copy what is to stay. Needs numpy.
        """
        try:
            import numpy
        except ImportError:
            raise ImportError("scores are a numpy array; install numpy: pip install numpy") from None
        with self._lock:
            handle = self._use()
            first = ctypes.POINTER(ctypes.c_float)()
            hops = library.stream_scores(handle, ctypes.byref(first))
            if not hops:
                return numpy.zeros((len(self.labels), 0), "float32")
            memory = (ctypes.c_float * (hops * len(self.labels))).from_address(ctypes.addressof(first.contents))
            # The array keeps it, and it keeps the memory, also where the stream is closed.
            memory.handle = handle  # type: ignore[attr-defined]
            view = numpy.frombuffer(memory, "float32").reshape(hops, -1).T
            view.flags.writeable = False
            return view

    @property
    def hops(self) -> int:
        """Hops of 0.1 s since the stream began; `scores` has those of the newest `history` seconds."""
        with self._lock:
            return int(library.stream_hops(self._use()))

    def close(self) -> None:
        """Gives the stream back, finished or not. Any other call raises CallError then."""
        with self._lock:
            self._handle = None

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _use(self) -> Handle:
        if self._handle is None:
            raise CallError("the stream is closed; begin another one")
        return self._handle

    def _poll(self, handle: Handle) -> list[Detection]:
        found, detection = [], _library.Detection()
        while library.stream_poll(handle, ctypes.byref(detection)):
            found.append(_detection(detection, self._phrases))
        return found


#: All streams, whose locks a child process gets anew: the thread that held one is not in the child.
STREAMS: weakref.WeakSet[Stream] = weakref.WeakSet()


def _unlock() -> None:
    for stream in STREAMS:
        stream._lock = threading.Lock()


os.register_at_fork(after_in_child=_unlock)


def _words(words: Any) -> tuple[Any, list[str] | None]:
    """The file of taught words, and the words that are reported."""
    if words is None or words == "none":
        return None, None
    if isinstance(words, (bytes, os.PathLike)):
        return words, None
    if isinstance(words, str):
        if "/" in words or "." in words or "\0" in words or os.path.exists(words):
            return words, None
        words = words.split(",")
    file, names = None, []
    for item in _items("words", words):
        if isinstance(item, os.PathLike) or isinstance(item, str) and ("/" in item or "." in item):
            if file is not None:
                raise SettingsError(f"words names two files, {os.fspath(file)!r} and {os.fspath(item)!r}; leave one out")
            file = item
        elif isinstance(item, str):
            names.append(item.strip())
        else:
            raise TypeError(f"words are texts, such as ['left', 'right'], not {item!r}")
    return file, names if names or file is None else None


def _items(name: str, values: Any) -> list[Any]:
    try:
        return list(values)
    except TypeError:
        raise TypeError(f"{name} is a list of texts, not {type(values).__name__}") from None


def _texts(name: str, values: Any) -> list[str]:
    """A list of texts; a text alone is one of one."""
    values = [values] if isinstance(values, (str, os.PathLike)) else _items(name, values)
    texts = [os.fspath(value) if isinstance(value, os.PathLike) else value for value in values]
    for value in texts:
        if not isinstance(value, str):
            raise TypeError(f"{name} are texts, not {value!r}")
    return texts


def _typed(words: Any) -> list[str]:
    """Typed words as the library takes them: each name, or each way to say it."""
    if not isinstance(words, Mapping):
        return _texts("typed_words", words)
    found = []
    for name, sounds in words.items():
        ways = _texts("typed_words", sounds)
        found += [f"{name}={way}" for way in ways] or [name]
    return found


def _array(texts: list[str]) -> Any:
    return (ctypes.c_char_p * len(texts))(*map(_text, texts))


def _list(function: Any, handle: Handle, count: int | None = None) -> tuple[str, ...]:
    """The texts that a function of the library numbers; without a count as many as there are."""
    found: list[str] = []
    while count is None or len(found) < count:
        text = function(handle, len(found))
        if text is None:
            break
        found.append(text.decode())
    return tuple(found)


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


def _real(name: str, value: float) -> float:
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"{name} is a number, not {value!r}") from None


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


def _text(text: str) -> bytes:
    if "\0" in text:
        raise CallError(f"{text!r} contains a zero character")
    return text.encode("utf-8", "surrogateescape")


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


def _detection(found: _library.Detection, phrases: tuple[str, ...] = ()) -> Detection:
    word = found.word.decode()
    optional = [None if math.isnan(value) else value for value in (found.proposed, found.confirmed)]
    return Detection(word, found.confidence, found.start, found.end, *optional, "phrase" if word in phrases else "word")


# Last: they use what is above.
from . import _files, _teaching  # noqa: E402
from ._teaching import Lesson  # noqa: E402
