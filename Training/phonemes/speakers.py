"""Whose talk trains the network of speech sounds, whose sets the thresholds of typed words, and whose measures them."""

import hashlib
import io
import tarfile
from functools import cache
from pathlib import Path

import soundfile

RATE = 16000
TARS = {"speech.tar": ("librispeech/", "coffee/"), "speech2.tar": ("speechocean762/",), "speech3.tar": ("speechocean762/",)}
# Recordings of other speakers, all of whom train, beside Speech Commands.
TRAINED = {
    "speech4.tar": ("librispeech/", "ljspeech/"),
    "speech2.tar": ("commonvoice/", "alphanumeric/"),
    "speech3.tar": ("commonvoice/", "alphanumeric/"),
    "digits.tar": ("an4/", "alphanumeric/", "audiomnist/"),
    "words.tar": ("honk_random/",),
}


def speaker(name):
    parts = name.split("/")
    if "librispeech" in name:
        return "ls" + parts[-1].split("-")[0]
    return "so" + parts[-2] if "speechocean" in name else parts[-1]


@cache
def trained(data):
    """The speakers of speech4.tar, who train."""
    with tarfile.open(Path(data) / "speech4.tar") as archive:
        return {speaker(name) for name in archive.getnames() if "librispeech/" in name}


def part(data, name):
    """`trains`, `calibrates` or `measures`: half of the speakers measure, an eighth train."""
    number = int(hashlib.sha1(speaker(name).encode()).hexdigest(), 16)
    if speaker(name) in trained(data):
        return "trains"
    return "measures" if number % 2 else "trains" if number // 2 % 4 == 0 else "calibrates"


def recordings(data, wanted):
    """The samples of all recordings of a part, at 16 kHz."""
    for tar, folders in TARS.items():
        with tarfile.open(Path(data) / tar) as archive:
            for member in archive:
                if not member.name.endswith(".opus") or not any(folder in member.name for folder in folders):
                    continue
                if part(data, member.name) == wanted:
                    samples, rate = soundfile.read(io.BytesIO(archive.extractfile(member).read()), dtype="float32")
                    assert rate == RATE
                    yield samples if samples.ndim == 1 else samples.mean(1)
