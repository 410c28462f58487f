"""The functions of beckon.h, by ctypes."""

import ctypes
from ctypes import POINTER, c_char, c_char_p, c_double, c_float, c_int, c_size_t, c_void_p
from pathlib import Path

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
        ("confirms", c_int),
    ]  # fmt: skip


class Detection(ctypes.Structure):
    """beckon_detection"""

    _fields_ = [
        ("word", c_char_p), ("confidence", c_double), ("proposed", c_double), ("confirmed", c_double),
        ("start", c_double), ("end", c_double),
    ]  # fmt: skip


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
}


def _load():
    """The library of the wheel; without one, that of the system, of the package libbeckon0."""
    try:
        from ._bundled import LIBRARIES
    except ImportError:
        library = ctypes.CDLL("libbeckon.so.0")
    else:
        # Each finds those before it, which are loaded already, by their names; the last is libbeckon.
        library = [ctypes.CDLL(str(PACKAGE / "lib" / name)) for name in LIBRARIES][-1]
    for name, (result, arguments) in FUNCTIONS.items():
        function = library[f"beckon_{name}"]
        function.restype, function.argtypes = result, arguments
        setattr(library, name, function)
    return library


library = _load()
version = library.version().decode()
