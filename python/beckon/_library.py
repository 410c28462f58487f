"""The functions of beckon.h, by ctypes."""

import ctypes
from ctypes import POINTER, c_char, c_char_p, c_double, c_float, c_int, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).parent


class Error(ctypes.Structure):
    """beckon_error"""

    _fields_ = [("code", c_int), ("text", c_char * 1020)]


class Threshold(ctypes.Structure):
    """beckon_threshold"""

    _fields_ = [("word", c_char_p), ("confidence", c_float)]


class Settings(ctypes.Structure):
    """beckon_settings"""

    _fields_ = [
        ("size", c_size_t), ("mode", c_int), ("trigger", c_int), ("sensitivity", c_int), ("threshold", c_float),
        ("thresholds", POINTER(Threshold)), ("threshold_count", c_size_t), ("taught_words", c_char_p), ("channel", c_int),
        ("confirms", c_int), ("words", POINTER(c_char_p)), ("word_count", c_size_t), ("wake_words", POINTER(c_char_p)),
        ("wake_word_count", c_size_t), ("phrases", POINTER(c_char_p)), ("phrase_count", c_size_t),
        ("typed_words", POINTER(c_char_p)), ("typed_word_count", c_size_t),
    ]  # fmt: skip


class Detection(ctypes.Structure):
    """beckon_detection"""

    _fields_ = [
        ("word", c_char_p), ("confidence", c_double), ("proposed", c_double), ("confirmed", c_double),
        ("start", c_double), ("end", c_double),
    ]  # fmt: skip


class Take(ctypes.Structure):
    """beckon_take"""

    _fields_ = [("samples", c_char_p), ("frames", c_size_t), ("format", c_int), ("channels", c_int), ("sample_rate", c_int)]


class Rates(ctypes.Structure):
    """beckon_rates"""

    _fields_ = [("threshold", c_double), ("missed", c_double), ("missed_of_others", c_double), ("false_accepts", c_double)]


#: Of the header that this package is written for.
INTERFACE = 3
# Handles are void pointers. Samples are bytes, whose memory ctypes passes on.
FUNCTIONS = {
    "version": (c_char_p, []),
    "open": (c_void_p, [c_char_p, POINTER(Settings), POINTER(Error)]),
    "close": (None, [c_void_p]),
    "word_count": (c_size_t, [c_void_p]),
    "word": (c_char_p, [c_void_p, c_size_t]),
    "find": (c_void_p, [c_void_p, c_char_p, c_int, POINTER(Error)]),
    "results_count": (c_size_t, [c_void_p]),
    "results_items": (POINTER(Detection), [c_void_p]),
    "results_free": (None, [c_void_p]),
    "stream_open": (c_void_p, [c_void_p, c_int, POINTER(Error)]),
    "stream_push": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(Error)]),
    "stream_push_int16": (c_int, [c_void_p, c_char_p, c_size_t, POINTER(Error)]),
    "stream_finish": (c_int, [c_void_p, POINTER(Error)]),
    "stream_poll": (c_int, [c_void_p, POINTER(Detection)]),
    "stream_close": (None, [c_void_p]),
    "interface": (c_int, []),
    "phrase": (c_char_p, [c_void_p, c_size_t]),
    "label": (c_char_p, [c_void_p, c_size_t]),
    "label_count": (c_size_t, [c_void_p]),
    "stream_scores": (c_size_t, [c_void_p, POINTER(POINTER(c_float))]),
    "stream_hops": (c_uint64, [c_void_p]),
    "stream_keep": (c_int, [c_void_p, c_double, POINTER(Error)]),
    "teach": (c_void_p, [c_void_p, c_char_p, POINTER(Take), c_size_t, c_int, c_char_p, POINTER(Error)]),
    "lesson_spotter": (c_void_p, [c_void_p]),
    "lesson_takes": (c_size_t, [c_void_p]),
    "lesson_used": (c_size_t, [c_void_p, c_size_t, POINTER(c_char_p)]),
    "lesson_rates": (c_int, [c_void_p, c_int, c_int, POINTER(Rates)]),
    "lesson_text": (c_char_p, [c_void_p]),
    "lesson_free": (None, [c_void_p]),
}


def _load() -> Any:
    """The library of the wheel; without one, that of the system, of the package libbeckon0."""
    try:
        from ._bundled import LIBRARIES
    except ImportError:
        library = ctypes.CDLL("libbeckon.so.0")
    else:
        # Each finds those before it, which are loaded already, by their names; the last is libbeckon.
        library = [ctypes.CDLL(str(PACKAGE / "lib" / name)) for name in LIBRARIES][-1]
    interface = library.beckon_interface() if hasattr(library, "beckon_interface") else 1
    if interface < INTERFACE:
        raise ImportError(f"libbeckon.so.0 of this system has the interface {interface}, this package needs {INTERFACE}; update libbeckon0")
    for name, (result, arguments) in FUNCTIONS.items():
        function = library[f"beckon_{name}"]
        function.restype, function.argtypes = result, arguments
        setattr(library, name, function)
    return library


library = _load()
version = library.version().decode()
