"""Arrays of samples, as numpy, other packages and Python itself give them, in the form that the library takes."""

from __future__ import annotations

import math
import os
from array import array
from typing import Any

#: As many channels as audio may have.
MOST_CHANNELS = 64
#: Channels that a device may have whose frames come one by one: an array [1, n] of more samples has one channel.
FEW_CHANNELS = 8
#: Numbers that need one step more, which depends on where they are from.
SCALES = {
    "b": "(samples / 2**7).astype('float32')", "B": "((samples.astype('float32') - 128) / 128)",
    "h": "samples.astype('int16')", "i": "(samples / 2**31).astype('float32')", "q": "(samples / 2**31).astype('float32')",
}  # fmt: skip
NAMES = {
    "?": "bool", "b": "int8", "B": "uint8", "h": "int16", "H": "uint16", "i": "int32", "I": "uint32", "q": "int64", "Q": "uint64",
    "l": "int64", "L": "uint64", "e": "float16", "f": "float32", "d": "float64", "g": "longdouble", "Zf": "complex64", "Zd": "complex128",
    "F": "complex64", "D": "complex128", "O": "object", "c": "bytes",
}  # fmt: skip
WANTED = "samples are an array of float32 or float64 in -1 to 1, or of int16"
BYTES = WANTED + ", not {}: of samples of 16 bits give numpy.frombuffer(samples, 'int16'), or array.array('h', samples)"


def read(samples: Any, channels: int | None = None) -> tuple[memoryview, int]:
    """The samples of one channel, as "f" or "h" in the machine's byte order, and the number of channels that they are the mean of.

    channels: of the arrays before this one, where they had several.
    """
    view = _view(samples)
    if view.ndim == 0:
        raise ValueError(f"a single number is not audio; {WANTED}")
    if view.ndim > 2:
        raise ValueError(
            f"samples of the shape {view.shape} have {view.ndim} dimensions; give [samples] or [samples, channels], such as samples[0] of a batch"
        )
    kind = _kind(view, hasattr(samples, "dtype"))
    if view.ndim == 2 and 0 not in view.shape:
        count = _channels(view.shape, channels)
        if count > 1:
            view, kind, channels = _mean(view, kind), "f", count
    data = memoryview(view.tobytes()).cast(kind) if kind in "fh" else _single(view)
    if data.format == "f" and not math.isfinite(sum(data)):
        _check_finite(data)
    return data, channels or 1


def _view(samples: Any) -> memoryview:
    """The memory of the samples."""
    if samples is None or isinstance(samples, (str, os.PathLike)):
        raise TypeError(f"{WANTED}, not {_name(samples)}; the words of a file are found by detect_file(path)")
    if isinstance(samples, (bytes, bytearray)):
        raise TypeError(BYTES.format(_name(samples)))
    try:
        return memoryview(samples)
    except Exception:  # Of any kind: it is what another package says.
        pass
    if isinstance(samples, (list, tuple, range)):
        raise TypeError(f"{WANTED}, not {_name(samples)}: give numpy.array(samples, 'float32'), or array.array('f', samples)")
    # A tensor of torch, a series of pandas, or numbers that numpy itself does not give as memory, such as dates.
    if not hasattr(samples, "__array__") and not hasattr(samples, "__dlpack__"):
        raise TypeError(f"{WANTED}, not {_name(samples)}")
    try:
        return memoryview(samples.__array__() if hasattr(samples, "__array__") else _from_dlpack(samples))
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        dtype = getattr(samples, "dtype", None)
        kind = _name(samples) if dtype is None else f"{_name(samples)} of {dtype}"
        raise TypeError(f"{WANTED}; {kind} cannot be read as one ({reason})") from None


def _from_dlpack(samples: Any) -> Any:
    import numpy

    return numpy.from_dlpack(samples)


def _name(value: Any) -> str:
    """What a value is, for messages."""
    return "None" if value is None else type(value).__name__


def _kind(view: memoryview, has_type: bool) -> str:
    """The type of the samples: "f", "d", "e" or "h".

    has_type: whether they are of a package whose arrays have types.
    """
    code = view.format.lstrip("@=<>!")
    big = view.format[:1] in (">", "!") and view.itemsize > 1
    if not big and code in ("f", "d", "e", "h"):
        return code
    name = NAMES.get(code, f"the type {view.format!r}")
    if code in ("b", "B", "c") and not has_type:
        raise TypeError(BYTES.format(name))
    if big:
        raise TypeError(f"{WANTED}, in the machine's byte order, not big-endian {name}: give samples.astype({name!r})")
    size = {"l": "q", "L": "Q"}.get(code, code)
    if size in ("i", "q"):
        raise TypeError(f"{WANTED}, not {name}, whose full scale is not known: give {SCALES['h']} if it has 16 bits, {SCALES['i']} if 32")
    if size in SCALES:
        more = "; of bytes that hold samples of 16 bits samples.view('int16')" if size == "B" else ""
        raise TypeError(f"{WANTED}, not {name}: give {SCALES[size]} if its full scale is that of 8 bits{more}")
    raise TypeError(f"{WANTED}, not {name}")


def _channels(shape: tuple[int, ...], known: int | None) -> int:
    """The number of channels of a shape [samples, channels], or 1."""
    rows, columns = shape
    if columns == 1 or rows == 1 and columns != known and columns > FEW_CHANNELS:
        return 1
    if columns == known or rows == 1 or columns <= FEW_CHANNELS or columns <= min(rows, MOST_CHANNELS):
        return columns
    if rows <= MOST_CHANNELS:
        raise ValueError(
            f"samples of the shape {shape} look like [channels, samples]; give [samples, channels], which is samples.T, or one channel, such as "
            "samples[0]"
        )
    raise ValueError(f"samples of the shape {shape} have more channels than {MOST_CHANNELS}; give [samples], or [samples, channels]")


def _mean(view: memoryview, kind: str) -> memoryview:
    """The mean of the channels; of integers as floats, whose full scale is 1."""
    try:
        import numpy
    except ImportError:
        raise TypeError("arrays of several channels need numpy; give one channel, or install numpy") from None
    mean = numpy.asarray(view).mean(axis=1, dtype="float32")
    return memoryview(mean / numpy.float32(32_768) if kind == "h" else mean)


def _single(view: memoryview) -> memoryview:
    """Float64 or float16 as float32."""
    try:
        import numpy
    except ImportError:
        flat = memoryview(view.tobytes()).cast(view.format.lstrip("@=<"))
        return memoryview(array("f", flat))
    with numpy.errstate(over="ignore"):
        return memoryview(numpy.asarray(view).astype("float32").reshape(-1))


def _check_finite(data: memoryview) -> None:
    for index, value in enumerate(data):
        if not math.isfinite(value):
            raise ValueError(f"sample {index} is {value}, not a number in -1 to 1; find out where it comes from, or give numpy.nan_to_num(samples)")
