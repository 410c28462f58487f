"""What the path of a recording says: its kind, its label and who speaks.

A data folder holds tar files or plain folders, in any mixture:

* Speech Commands clips: `<word>/<speaker>_nohash_<n>.<ext>`, in `speech_commands-<word>.tar` or as the folders of the
  unpacked public dataset;
* `words/<word>/…`: recordings of up to a few seconds with one word each;
* `speech/<source>/…`: running speech without commands;
* `noise/…` or `_background_noise_/…`: everything that is not speech;
* `rooms/…`: impulse responses of rooms;
* the folders of SOURCES, anywhere.
"""

import os
import re

from Training.data.vocabulary import BACKGROUND, SYNTHETIC, TRAINING_VOICES

# Public datasets by the name of their folder, and their kind.
SOURCES = {
    "alphanumeric": "speech",
    "an4": "speech",
    "audiomnist": "word",
    "commonvoice": "speech",
    "fsdd": "word",
    "must": "word",
    "mycroft": "word",
    "speechocean762": "speech",
    "wuw2": "speech",
}
DIGITS = "zero one two three four five six seven eight nine".split()
# Common Voice in languages other than English.
FOREIGN = "commonvoice-other"
# LibriSpeech's speakers with several recordings, by the chapter of their first one, after whose name they are split: the other speakers have
# one recording each, and its whole name counts.
_CHAPTERS = """
1088-129236 118-121721 163-121908 1737-142396 1867-148436 1898-145702 19-198 1970-10594 2136-5140 226-122538
2416-152137 32-21625 3242-67153 332-128985 3526-175658 3664-11714 3947-13260 460-172357 4640-19187 4680-16026
5789-57158 6272-70168 669-129061 6848-252322 7312-92432 7367-86737 7859-102518 8629-261139
""".split()
_FIRST = {chapter.split("-")[0]: f"{chapter}-0000" for chapter in _CHAPTERS}
# How `<folder>/<file>` names the speaker, where it is not the whole file name.
_SPEAKERS = [
    re.compile(pattern)
    for pattern in (
        r".*/(.*)_nohash_.*",
        r"(SPEAKER\d+)/.*",  # speechocean762
        r"an4/\w+-(\w+)-b",
        r"wuw2/(WUWII\d+)_\d+",
        r".*/\d_(\w+)_\d+",  # audiomnist and fsdd: digit, speaker, take
        r".*/\d+_.*__\d-(\d+)-[A-Z]",  # ESC-10: several cuts of one recording
        r"ljspeech/(LJ)\d+-\d+",
        r"librispeech/(\d+)-\d+-\d+",
    )
]


def short_name(path):
    """`<folder>/<file>` without extension, the name of a recording in the table."""
    folder, file = os.path.split(path)
    # Only an audio file's extension: names like `freq.97` have a dot of their own.
    stem = re.sub(r"\.(opus|wav|flac|ogg|jpg|jpeg)$", "", file)
    return f"{os.path.basename(folder)}/{stem}"


def speaker(path):
    """Who speaks in a recording, or for a sound what it is cut from: part of its name, else all of the file's name."""
    name = short_name(path)
    found = next((found[1] for pattern in _SPEAKERS if (found := pattern.fullmatch(name))), None)
    whole = name.split("/")[1]
    return _FIRST.get(found, whole) if name.startswith("librispeech/") else found or whole


def spoken_word(name, label):
    """The word in a recording: synthetic ones are named after it, such as heart-computer-3 or computer-3."""
    if label != SYNTHETIC:
        return str(label)
    stem = name.split("/")[-1]
    return re.sub(rf"^({'|'.join(TRAINING_VOICES)})-", "", stem).rsplit("-", 1)[0]


def kind_and_label(path):
    """(kind, label) of a recording; the kind is clip, word, speech, noise or room.

    The label is the word, or of speech and noise the source.
    """
    parts = path.split("/")
    if "noise" in parts or "_background_noise_" in parts:
        return "noise", BACKGROUND if "_background_noise_" in parts else parts[-2]
    if "rooms" in parts:
        return "room", parts[-2]
    source = next((part for part in parts[:-1] if part in SOURCES), None)
    if source == "commonvoice":
        return "speech", source if parts[-2] == "en" else FOREIGN
    if source == "fsdd":
        return "word", DIGITS[int(parts[-1][0])]
    if source:
        return SOURCES[source], source if SOURCES[source] == "speech" else parts[-2]
    if "speech" in parts:
        return "speech", parts[-2]
    if "words" in parts:
        return "word", parts[-2]
    return "clip", parts[-2]
