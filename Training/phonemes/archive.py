"""Reads the archives of named tensors in which the package `hama` keeps its networks."""

import struct
import zipfile

import numpy as np

MAGIC = b"HAMAPK"
TYPES = {0: np.float32, 1: np.float16}


def from_wheel(wheel, name):
    """The bytes of a file of the package."""
    with zipfile.ZipFile(wheel) as files:
        return files.read(f"hama/assets/{name}")


def read(data):
    """The tensors of an archive, by name, as 32-bit floats."""
    if not data.startswith(MAGIC):
        raise SystemExit("not an archive of this package")
    (count,) = struct.unpack_from("<I", data, 8)
    place, entries = 12, []
    for _ in range(count):
        (length,) = struct.unpack_from("<H", data, place)
        name = data[place + 2 : place + 2 + length].decode()
        place += 2 + length
        kind, dimensions = data[place], data[place + 1]
        shape = struct.unpack_from(f"<{dimensions}I", data, place + 2)
        start, _ = struct.unpack_from("<QQ", data, place + 2 + 4 * dimensions)
        place += 18 + 4 * dimensions
        entries.append((name, TYPES[kind], shape, start))
    # The numbers begin at a multiple of 16 bytes.
    first = (place + 15) // 16 * 16
    return {
        name: np.frombuffer(data, kind, int(np.prod(shape)), first + start).astype(np.float32).reshape(shape)
        for name, kind, shape, start in entries
    }
