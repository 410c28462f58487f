"""Phrases and their parts: how often a taught phrase is found where it is said, and where only its first or its last word is.

    python -m Benchmarks.words.phrases --data DIR --work DIR

Twenty phrases are taught by five synthetic voices and said by eight others, who also say two rhymes of each. Two
of the teachers then say the rhymes as negative examples. "hey computer" is taught by five recordings of real people, and
by synthetic voices; other real people say it, and "computer". "smart mirror" is taught by five real people; others say it, and their
"mirror" is cut out where it is quiet. Recordings of "computer" whose names begin with 0 to 4 helped to choose the rule; they are left out.
Needs espeak-ng and flite; --data must hold words.tar and words2.tar.
"""

import argparse
import json
import subprocess
from pathlib import Path

import numpy as np
import soundfile

from Benchmarks.words.programs import Beckon
from Benchmarks.words.recordings import members, write
from Training.data.audio import RATE, fade
from Training.data.recordings import utterance_bounds

ROOT = Path(__file__).resolve().parents[2]
# Each phrase with two that sound like it.
RHYMES = {
    "hey house": ("hey mouse", "gray house"),
    "ok computer": ("ok commuter", "oak recruiter"),
    "hey kitchen": ("hey chicken", "they pitch in"),
    "good morning house": ("good morning mouse", "would mourn the house"),
    "wake up robot": ("wake up rabbit", "make a robot"),
    "open sesame": ("broken sesame", "open says me"),
    "hello butler": ("hello cutler", "yellow butter"),
    "hey jarvis": ("hey harvest", "hey service"),
    "kitchen lights": ("chicken bites", "kitchen fights"),
    "living room": ("giving room", "living proof"),
    "view glass": ("new glass", "blue grass"),
    "red alert": ("bread alert", "red a lot"),
    "blue monday": ("new monday", "blue sunday"),
    "hey mirror": ("hey nearer", "hay miracle"),
    "smart home": ("start home", "smart phone"),
    "dear watson": ("clear watson", "dear watching"),
    "hi robin": ("high robbing", "my robin"),
    "garden door": ("guarded door", "garden more"),
    "magic lamp": ("magic lamb", "tragic lamp"),
    "raspberry pie": ("strawberry pie", "raspberry tie"),
}
# Voices that teach, those of them that say what a phrase is not, and others that say the phrases: of espeak-ng a voice, and of flite its name.
TEACHERS = ("en-us+m1", "en-us+f2", "en-gb+m3", "flite slt", "flite rms")
TELLERS = TEACHERS[:2]
SPEAKERS = ("en-us+m7", "en-us+f4", "en-gb+f1", "en-gb-scotland+m5", "en-029+m2", "en-gb-x-rp+f3", "flite awb", "flite kal16")
# Where "mirror" is searched in "smart mirror", as shares of the phrase.
GAP = (0.38, 0.58)
MODES = ("command", "spot")


def say(voice, text, path):
    """Records a synthetic voice."""
    path.parent.mkdir(parents=True, exist_ok=True)
    spoken = path.with_suffix(".spoken.wav")
    name = voice.removeprefix("flite ")
    command = ["espeak-ng", "-v", voice, "-w", spoken, text] if name == voice else ["flite", "-voice", name, "-t", text, "-o", spoken]
    subprocess.run(command, check=True)
    wave, rate = soundfile.read(spoken)
    wave = np.interp(np.arange(0, len(wave), rate / RATE), np.arange(len(wave)), wave)
    quiet = np.random.default_rng(1).normal(0, 1e-4, 3 * RATE // 4)
    write(path, np.concatenate([quiet, 0.3 * wave / np.abs(wave).max(), quiet]))
    spoken.unlink()


def last_part(wave):
    """What follows the quietest 20 ms in the middle of an utterance, with quiet before it."""
    first, last = utterance_bounds(np.round(wave * 32767).astype(np.int16))
    step = RATE // 50
    places = [first + int(share * (last - first)) for share in np.linspace(*GAP, 40)]
    cut = min(places, key=lambda place: np.mean(wave[place : place + step] ** 2)) + step // 2
    return np.concatenate([np.random.default_rng(2).normal(0, 1e-4, RATE), fade(wave[cut:])])


class Counts:
    """How often phrases are found, by mode and by what was said, as [found, said]."""

    def __init__(self):
        self.of = {}

    def add(self, beckon, phrase, said):
        """`said` are files by what was said in them."""
        for mode in MODES:
            for name, files in said.items():
                where = ("--mode", mode, "--words", beckon.store, "--model", beckon.model, "--json")
                events = map(json.loads, beckon.run("classify", *where, *files).splitlines())
                found = {event["file"] for event in events if event["word"] == phrase}
                both = self.of.setdefault((mode, name), [0, 0])
                both[0], both[1] = both[0] + len(found), both[1] + len(files)

    def row(self, title, mode):
        """The cells of a row of the table: a share in per cent for each thing said."""
        cells = [self.of.get((mode, name)) for name in ("phrase", "last", "after", "first", "rhyme")]
        return [title, mode, *("–" if cell is None else f"{100 * cell[0] / cell[1]:.1f} of {cell[1]}" for cell in cells)]


def synthetic(work, beckon):
    """Counts of twenty phrases by synthetic voices, and the same after TELLERS said their rhymes as negative examples."""
    counts, told = Counts(), Counts()
    for phrase, rhymes in RHYMES.items():
        folder, words = work / "phrases" / phrase.replace(" ", "-"), phrase.split()
        takes = [folder / f"take-{number}.wav" for number in range(len(TEACHERS))]
        texts = {"phrase": phrase, "first": " ".join(words[:-1]), "last": words[-1]}
        texts |= {f"rhyme {rhyme}": rhyme for rhyme in rhymes}
        said = {name: [folder / f"{name}-{number}.wav".replace(" ", "-") for number in range(len(SPEAKERS))] for name in texts}
        for voice, path in zip(TEACHERS, takes):
            say(voice, phrase, path)
        for name, paths in said.items():
            for voice, path in zip(SPEAKERS, paths):
                say(voice, texts[name], path)
        if not beckon.learn(phrase, takes):
            print(f"refused: {phrase}")
            continue
        said["rhyme"] = [path for rhyme in rhymes for path in said.pop(f"rhyme {rhyme}")]
        counts.add(beckon, phrase, said)
        for rhyme in rhymes:
            for number, voice in enumerate(TELLERS):
                path = folder / f"not-{rhyme}-{number}.wav".replace(" ", "-")
                say(voice, rhyme, path)
                where = ("--words", beckon.store, "--model", beckon.model)
                beckon.run("enroll", phrase, *where, "--not", path, fails=True)
        told.add(beckon, phrase, said)
    return {"twenty phrases by synthetic voices": counts, "told what they are not": told}


def right_after(others, paths, folder):
    """Recordings of others, as loud, that end in the words of `paths`, 40 ms later."""
    for index, path in enumerate(paths):
        before, wave = (speech(soundfile.read(one)[0]) for one in (others[index % len(others)], path))
        before *= np.sqrt(np.mean(wave**2) / np.mean(before**2))
        quiet = [np.zeros(int(seconds * RATE)) for seconds in (1, 0.04, 1)]
        write(folder / path.name, np.concatenate([quiet[0], before, quiet[1], wave, quiet[2]]))
    return [folder / path.name for path in paths]


def speech(wave):
    """The samples from the first to the last window of 25 ms that is at most 25 dB fainter than the loudest."""
    levels = np.convolve(wave**2, np.ones(RATE // 40))
    loud = np.flatnonzero(levels > levels.max() * 10**-2.5)
    return wave[max(0, loud[0] - RATE // 40) : loud[-1]]


def real(work, beckon, data):
    """Counts of "hey computer" by synthetic voices and by people, and of "smart mirror", by their titles."""
    folder = work / "phrases/real"

    def files(archive, part, chosen=lambda name: True):
        waves = [wave for name, wave in members(data / archive) if part in f"/{name}" and chosen(Path(name).name)]
        paths = [folder / part.strip("/") / f"{number}.wav" for number in range(len(waves))]
        for path, wave in zip(paths, waves):
            write(path, wave)
        return paths

    phrase, alone = files("words2.tar", "/heycomputer/"), files("words.tar", "/computer/", lambda name: name[0] not in "01234")
    others = files("words2.tar", "/athena/")
    after = right_after(others, alone, folder / "after-athena")
    made = [folder / f"take-{number}.wav" for number in range(len(TEACHERS))]
    for voice, path in zip(TEACHERS, made):
        say(voice, "hey computer", path)
    found = {}
    for title, takes in (("“hey computer”, taught by voices", made), ("“hey computer”, by people", phrase[:5])):
        beckon.learn("hey computer", takes)
        found[title] = Counts()
        found[title].add(beckon, "hey computer", {"phrase": phrase if takes is made else phrase[5:], "last": alone, "after": after})
    mirrors = files("words.tar", "/smart_mirror/")
    for path in mirrors:
        write(folder / "mirror" / path.name, last_part(soundfile.read(path)[0]))
    after = right_after(others, [folder / "mirror" / path.name for path in mirrors], folder / "mirror-after-athena")
    generator = np.random.default_rng(3)
    counts = found["“smart mirror”, by people, three draws"] = Counts()
    for _ in range(3):
        chosen = set(generator.choice(len(mirrors), 5, replace=False))
        beckon.learn("smart mirror", [mirrors[index] for index in sorted(chosen)])
        rest = [index for index in range(len(mirrors)) if index not in chosen]
        ends = [folder / "mirror" / mirrors[index].name for index in rest]
        said = {"phrase": [mirrors[index] for index in rest], "last": ends, "after": [after[index] for index in rest]}
        counts.add(beckon, "smart mirror", said)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path, help="folder with words.tar and words2.tar")
    parser.add_argument("--work", required=True, type=Path, help="folder for the recordings")
    parser.add_argument("--beckon", default=ROOT / ".build/release/beckon", type=Path, help="the built program")
    parser.add_argument("--model", default=ROOT / "Models/commands", type=Path)
    options = parser.parse_args()
    beckon = Beckon(options.work.resolve(), options.beckon, options.model)
    rows = synthetic(options.work.resolve(), beckon)
    rows |= real(options.work.resolve(), beckon, options.data)
    print("| % found | mode | the phrase | its last word alone | right after another word | what is before that alone | its rhymes |\n|---|---|---|---|---|---|---|")
    for title, counts in rows.items():
        for mode in MODES:
            print("| " + " | ".join(counts.row(title, mode)) + " |")


if __name__ == "__main__":
    main()
