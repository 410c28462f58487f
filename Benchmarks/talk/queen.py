"""Speech and subtitles of Flight of the Amazon Queen, as Debian's package `flight-of-the-amazon-queen` has it.

`queen.1c` is a table of names, places and sizes, and the files; the speech (.SB) is MP3. Subtitles are in dialogues (.DOG), scenes (.CUT) and the list of
descriptions (QUEEN2.JAS). Asterisks with two characters split them into parts, and a file of speech holds a part: its name tells where it is from.
"""

import io
import struct
from pathlib import Path

import soundfile

TABLE, ENTRY, MP3 = 15, 21, 1
# Bytes before what dialogues, scenes and QUEEN.JAS hold.
HEADER = 20
# Replies that Joe has for everything, and verbs, in the list of descriptions.
REPLIES, VERBS = 40, 12


def files(data):
    """A dict from names to the bytes of the files."""
    if data[:4] != b"QTBL" or data[12] != MP3:
        raise ValueError("queen.1c: not the game's data with speech in MP3")
    (count,) = struct.unpack_from(">H", data, 13)
    found = {}
    for at in range(TABLE, TABLE + ENTRY * count, ENTRY):
        place, size = struct.unpack_from(">II", data, at + 13)
        if place + size > len(data):
            raise ValueError("queen.1c: a file lies beyond the end")
        found[data[at : at + 12].rstrip(b"\0").decode("latin-1")] = data[place : place + size]
    return found


def parts(text):
    """Yields (number, words) of the parts of a text that say something; the numbers begin at 1."""
    begin = number = at = 0
    while at <= len(text):
        if at == len(text) or text[at] == "*":
            number += 1
            if any(character.isalnum() for character in text[begin:at]):
                yield number, text[begin:at].strip()
            # "*XY00(237,112)" walks somewhere; all others are two characters.
            at = begin = at + (14 if text[at + 1 : at + 3] == "XY" else 3)
        else:
            at += 1


def string(data, at, align=2):
    """The text at a place, whose first byte is its length, and where the next one is. The text "0" stands for none."""
    end = at + 1 + data[at]
    text = data[at + 1 : end].decode("latin-1")
    return "" if text == "0" else text, end + (-end % align if data[at] else 0)


def dialogue(data):
    """Yields (beginning of the speech's name, text) of a dialogue."""
    data = data[HEADER:]
    levels, _, key, joe, person = struct.unpack_from(">5h", data)
    first, _, second = struct.unpack_from(">3H", data, 22)
    for letter, at, count in (("J", 32 + 96 * abs(levels), joe), ("P", first, person)):
        for number in range(count):
            if at + 4 >= len(data):
                break
            (line,) = struct.unpack_from(">h", data, at + 2)
            text, at = string(data, at + 4, align=4)
            if line:
                yield f"{key:2d}{line & 0xFFFF:4x}{letter}".upper().replace(" ", "0"), text
            elif letter == "J":
                yield f"{key:2d}SSSSJ".replace(" ", "0"), text
    for letter in "PJ":
        if second < len(data):
            text, second = string(data, second)
            yield f"{key:2d}XXXX{letter}".replace(" ", "0"), text


def scene(name, data):
    """Yields (beginning of the speech's name, text) of a scene."""
    data = data[HEADER:]
    _, count, _, _, at = struct.unpack_from(">hhhHH", data)
    for number in range(abs(count) + 1):
        if at >= len(data):
            break
        text, at = string(data, at)
        yield f"{name.upper():_<5}{number:02d}", text


def descriptions(counts, listed):
    """Yields (beginning of the speech's name, text) of what Joe says of things, and of his replies."""
    rooms, names, _, described = struct.unpack_from(">4H", counts, HEADER)
    rows = listed.decode("latin-1").split("\r\n")
    for number, text in enumerate(rows[:described]):
        # Some are names of dialogues and scenes.
        if not text.upper().endswith((".DOG", ".CUT")):
            yield f"JOE{REPLIES + 1 + number:04d}", text
    first = described + names + rooms + VERBS
    for number, text in enumerate(rows[first : first + REPLIES]):
        yield f"JOE{1 + number:04d}", text


def subtitles(found):
    """A dict from names of files of speech to their subtitles."""
    texts = list(descriptions(found["QUEEN.JAS"], found["QUEEN2.JAS"])) if "QUEEN.JAS" in found else []
    for name, data in found.items():
        if name.endswith(".DOG"):
            texts += dialogue(data)
        elif name.endswith(".CUT"):
            texts += scene(name[:-4], data)
    return {f"{begin}{number:X}.SB": part for begin, text in texts for number, part in parts(text)}


def lines(folder):
    """Yields (name, subtitle or None, samples in [−1, 1), rate) of each file of speech, in the order of their names."""
    found = files((Path(folder) / "queen.1c").read_bytes())
    texts = subtitles(found)
    for name in sorted(found):
        if name.endswith(".SB"):
            try:
                samples, rate = soundfile.read(io.BytesIO(found[name]), dtype="float32")
            except soundfile.LibsndfileError as error:
                raise ValueError(f"queen.1c: {name} is no audio: {error}") from error
            yield f"queen-{name[:-3]}", texts.get(name), samples, rate
