"""Speech and subtitles of Beneath a Steel Sky, version 0.0372, as Debian's package `beneath-a-steel-sky` has it.

`sky.dnr` lists the files in `sky.dsk`: their number, and eight bytes a file that hold flags, place and size. File 60600 and seven after it are the
English texts by section, file 50000 and those after it the speech: 8-bit samples at 11,025 Hz behind a header of 22 bytes, packed.
"""

import struct
from pathlib import Path

import numpy as np

from Benchmarks.talk import rnc

RATE, HEADER = 11025, 22
SPEECH, TEXTS, SECTIONS = 50000, 60600, 8
# Files of the speech of each section's first line, from SPEECH on.
FIRST = (0, 600, 1100, 2430, 3380, 4530, 5080, 5230)
# The prefix code of the texts: characters from the code of zeros to that of ones, in groups of one length.
CODE = [
    (3, " "), (4, "ea"), (5, "ostn.i"), (4, "r"), (6, "\0E"), (5, "umA"), (6, "lIdRNS"), (5, "T"), (7, "Oh"), (6, "cDg"), (7, "LCpU!y"),
    (6, "M"), (8, "Pv"), (7, "H?b"), (8, "'f"), (7, ",GB"), (9, "Vk"), (8, "Fqw"), (9, "K-"), (8, "WJ*"), (9, "zYj+"), (10, "Q\x85"),
    (9, ")"), (10, "Z\x8b"), (9, "<"), (11, "\x95~"), (10, "\x8a\x87:"), (11, "\x7f]"), (10, "#"), (11, "xX"), (10, "\x91"), (12, "\x88`"),
    (11, "2"), (12, "0\x83"), (11, "1"), (12, "/("), (11, "=\x86^"), (12, "39\x984"), (13, "}8"), (12, '\\"\x90'),
    (13, "&\x8d56\x92\x8f\x8e\x93"), (14, "\x8c7"), (13, "\x80"), (14, "\x81\x99$@"), (15, "[\x9a"), (14, "_>\x96"), (15, "\x82%"), (14, "\t"),
    (15, "\x9c\x97{"), (16, "\x94!"),
]  # fmt: skip


def codes():
    """The dict from (length, code) to the character."""
    found, code, before = {}, 0, 0
    for length, characters in CODE:
        for character in characters:
            code = code << length - before if length >= before else code >> before - length
            found[length, code] = character
            code, before = code + 1, length
    return found


CODES = codes()


class Disk:
    """The files by number, unpacked. A file that is not there is None."""

    def __init__(self, folder):
        with open(Path(folder) / "sky.dnr", "rb") as file:
            table = file.read()
        self.data = np.memmap(Path(folder) / "sky.dsk", np.uint8, "r")
        (count,) = struct.unpack_from("<I", table)
        if len(table) < 4 + 8 * count:
            raise ValueError(f"{folder}/sky.dnr: {count} files announced, but it is too short")
        self.places = {}
        for at in range(4, 4 + 8 * count, 8):
            number, place, flags = *struct.unpack_from("<H", table, at), *(int.from_bytes(table[at + n : at + n + 3], "little") for n in (2, 5))
            self.places[number] = (place & 0x7FFFFF) << (4 if place >> 23 else 0), flags & 0x3FFFFF, flags >> 22

    def __getitem__(self, number):
        """The bytes of a file without its header, if it is one with a header."""
        if number not in self.places:
            return None
        place, size, flags = self.places[number]
        raw = bytes(self.data[place : place + size])
        if len(raw) != size:
            raise ValueError(f"sky.dsk: file {number} is cut off")
        if flags & 2:
            return raw
        return rnc.unpack(raw[HEADER:]) if raw[HEADER : HEADER + 4] == rnc.SIGNATURE else raw[HEADER:]


def places(section):
    """Where each text begins, in pairs of bits. Texts are in blocks of 32: a table has the lengths of blocks, another those of texts."""
    lengths, texts = struct.unpack_from("<HH", section)
    begin, line = 0, 0
    sizes = section[lengths:texts]
    blocks = struct.unpack_from(f"<{(lengths - 4) // 2}H", section, 4)
    while line < len(sizes):
        if line % 32 == 0:
            begin = sum(blocks[: line // 32])
        yield 4 * texts + begin
        begin += (sizes[line] & 0x7F) << 3 if sizes[line] & 0x80 else sizes[line]
        line += 1


def text(section, place):
    """The text that begins at a place."""
    found, length, code, at = [], 0, 0, 2 * place
    while at < 8 * len(section):
        code = code << 1 | section[at >> 3] >> 7 - (at & 7) & 1
        length, at = length + 1, at + 1
        character = CODES.get((length, code))
        if character == "\0":
            return "".join(found)
        if character is not None:
            found.append(character)
            length = code = 0
    raise ValueError("a text has no end")


def lines(folder):
    """Yields (name, subtitle or None, samples in [−1, 1), rate) of each file of speech, in their order."""
    disk, texts = Disk(folder), {}
    for number in range(SECTIONS):
        section = disk[TEXTS + number]
        for line, place in enumerate(places(section)) if section else ():
            try:
                texts[FIRST[number] + line] = text(section, place)
            except ValueError:
                break  # The table of lengths is padded.
    for number in sorted(number for number in disk.places if SPEECH <= number < SPEECH + 10000):
        samples = np.frombuffer(disk[number], np.uint8)
        yield f"sky-{number - SPEECH:04d}", texts.get(number - SPEECH), (samples.astype(np.float32) - 128) / 128, RATE
