"""Typed names of other languages, said by synthetic voices: `python -m Benchmarks.words.languages --work DIR`.

Ten names of each language. Their sounds are those that espeak-ng gives, or what their spelling gives in English. Each is said by two kinds of
synthesis of espeak-ng, its own and Klatt's, four and three voices, at two speeds. They are not people; recall says whether the sounds of a
language can be told at all. Sensitivity `balanced`, `--no-confirm`.
"""

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np
import soundfile

from Benchmarks.words.__main__ import table
from Training.data.audio import RATE

ROOT = Path(__file__).resolve().parents[2]
NAMES = {
    "de": ("hallo haus", "guten morgen", "wohnzimmer", "küchenlicht", "fernseher", "rollladen", "schlafzimmer", "hey butler", "musik spielen", "gute nacht"),
    "fr": ("salut maison", "bonjour maison", "lumière salon", "cuisine", "musique", "télévision", "volets fermés", "bonne nuit", "ordinateur", "chambre à coucher"),
    "es": ("hola casa", "buenos días", "luz de cocina", "ordenador", "televisión", "persianas", "buenas noches", "dormitorio", "música ahora", "apaga la luz"),
}
KINDS = {"own": ("m1", "m3", "f2", "f4"), "Klatt": ("klatt", "klatt2", "klatt4")}
SPEEDS = (140, 175)


def sounds(language, name):
    """The IPA that espeak-ng gives, without the marks of stress."""
    text = subprocess.run(["espeak-ng", "-q", "-v", language, "--ipa", name], capture_output=True, text=True, check=True).stdout
    return " ".join(text.split())


def say(language, voice, speed, name, path):
    """Records a voice, with a second of near-silence before and after."""
    spoken = path.with_suffix(".spoken.wav")
    subprocess.run(["espeak-ng", "-v", f"{language}+{voice}", "-s", str(speed), "-w", spoken, name], check=True)
    wave, rate = soundfile.read(spoken)
    wave = np.interp(np.arange(0, len(wave), rate / RATE), np.arange(len(wave)), wave)
    quiet = np.random.default_rng(1).normal(0, 1e-4, RATE)
    soundfile.write(path, np.concatenate([quiet, 0.3 * wave / np.abs(wave).max(), quiet]), RATE, subtype="PCM_16")
    spoken.unlink()


def typed(program, store, name, *more):
    """Makes the word; whether it is stored without `--force`."""
    store.unlink(missing_ok=True)
    command = [program, "enroll", name, "--typed", *more]
    return subprocess.run(command, capture_output=True, env={"BECKON_WORDS": str(store)}).returncode == 0


def found(program, store, name, files):
    """The share of the recordings in which the word is found."""
    command = [program, "classify", "--no-confirm", "--json", *files]
    lines = subprocess.run(command, capture_output=True, text=True, env={"BECKON_WORDS": str(store)}).stdout.splitlines()
    events = [json.loads(line) for line in lines]
    return len({event["file"] for event in events if event.get("word") == name}) / len(files)


def rows(work, program):
    """A row for each language and way to give the sounds."""
    for language, names in NAMES.items():
        ways = {"espeak-ng's sounds": lambda name: ("--sounds", sounds(language, name)), "read as English": lambda name: ()}
        for way, more in ways.items():
            stored, shares = 0, {kind: [] for kind in KINDS}
            for name in names:
                is_stored = typed(program, work / "words", name, *more(name))
                stored += is_stored
                for kind, voices in KINDS.items():
                    files = [work / language / f"{name}-{voice}-{speed}.wav" for voice in voices for speed in SPEEDS]
                    shares[kind].append(found(program, work / "words", name, files) if is_stored else 0)
            yield [language, way, str(stored), *(f"{100 * np.sum(part) / max(1, stored):.0f} %" for part in shares.values())]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", required=True, type=Path, help="folder for the recordings")
    parser.add_argument("--beckon", default=ROOT / ".build/release/beckon", type=Path, help="the built program")
    options = parser.parse_args()
    work = options.work.resolve()
    for language, names in NAMES.items():
        (work / language).mkdir(parents=True, exist_ok=True)
        for name in names:
            for voice in (voice for voices in KINDS.values() for voice in voices):
                for speed in SPEEDS:
                    path = work / language / f"{name}-{voice}-{speed}.wav"
                    if not path.exists():
                        say(language, voice, speed, name, path)
    print(table(["language", "sounds", "of ten stored", *(f"found, {kind}" for kind in KINDS)], list(rows(work, options.beckon))))


if __name__ == "__main__":
    main()
