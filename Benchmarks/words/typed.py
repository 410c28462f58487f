"""Typed words beside real people who say them, and beside talk: `make bench-words OPTIONS=--typed`.

The ten words of strangers.py, made from their names alone. Clips stand in a stream with two seconds between, as they are and in noise of 10 and
5 dB; the talk is of the people whom `Training.phonemes.speakers` keeps for measuring, so that no threshold comes from them, as it is and in noise of
0 to 15 dB. A detection counts for a clip from its beginning to a second after its end; false accepts less than a second apart count once.
"""

import json
import shutil
import subprocess

import numpy as np
import soundfile

from Training.data.audio import RATE
from Training.phonemes import speakers
from Training.phonemes.in_noise import in_noise, noises

# Seconds between clips, and after a clip's end in which a detection counts for it; minutes of a file of talk.
BETWEEN, GRACE, MINUTES = 2.0, 1.0, 20
NOISES = (None, 10, 5)
APART = 1.0
HEADS = ["word", "sounds", "clips", "promised", *(f"{noise} dB" if noise else "found, clean" for noise in NOISES), "false/h promised", "false/h, clean", "false/h, noise"]


def name(word):
    """A word as it is typed: the telephone calls' transcripts write one in one word."""
    return {"smart_mirror": "smart mirror", "thinkengine": "think engine"}.get(word, word)


def beckon(program, words, *arguments):
    result = subprocess.run([program, *arguments], capture_output=True, text=True, env={"BECKON_WORDS": str(words)})
    if result.returncode != 0:
        raise SystemExit(result.stderr)
    return [json.loads(line) for line in result.stdout.splitlines()]


def heard(program, words, file, sensitivity="balanced"):
    """Names and times of the typed words in a file."""
    lines = beckon(program, words, "classify", "--no-confirm", "--json", "--sensitivity", sensitivity, str(file))
    return [(line["word"], line["end"]) for line in lines if line.get("event") == "word"]


def stream(clips, noise, pieces, generator):
    """Clips with silence between, in noise of so many dB below each clip's loudest second; and the seconds of each."""
    parts, spans, length = [np.zeros(int(BETWEEN * RATE))], [], BETWEEN
    for clip in clips:
        spans.append((length, length + len(clip) / RATE))
        parts += [clip, np.zeros(int(BETWEEN * RATE))]
        length = spans[-1][1] + BETWEEN
    wave = np.concatenate(parts) + generator.normal(0, 1e-4, sum(map(len, parts)))
    if noise is not None:
        for clip, (begin, end) in zip(clips, spans):
            # From a second before the clip to a second after it.
            first, last = int((begin - BETWEEN / 2) * RATE), int((end + BETWEEN / 2) * RATE)
            piece = pieces[generator.integers(len(pieces))]
            piece = np.resize(piece, last - first)
            level = np.sqrt(np.mean(np.sort(clip**2)[-min(len(clip), RATE // 2) :]))
            wave[first:last] += piece / (piece.std() + 1e-9) * level * 10 ** (-noise / 20)
    return np.clip(wave, -1, 1), spans


def talk_files(work, data):
    """Files of talk of the people who measure, as it is and in noise."""
    folder, generator = work / "typed/talk", np.random.default_rng(4)
    if not (folder / "done").exists():
        shutil.rmtree(folder, ignore_errors=True)
        samples = np.concatenate(list(speakers.recordings(data, "measures")))
        for kind, wave in (("clean", samples), ("noise", in_noise(samples, noises(data, "report"), 1, generator))):
            (folder / kind).mkdir(parents=True)
            for number, first in enumerate(range(0, len(wave), MINUTES * 60 * RATE)):
                soundfile.write(folder / kind / f"{number}.wav", wave[first : first + MINUTES * 60 * RATE], RATE, subtype="PCM_16")
        (folder / "done").touch()
    return [sorted((folder / kind).glob("*.wav")) for kind in ("clean", "noise")]


def false_accepts(program, store, files, words):
    """False accepts an hour of each word."""
    hours, counts = sum(soundfile.info(file).duration for file in files) / 3600, dict.fromkeys(words, 0)
    for file in files:
        found = heard(program, store, file)
        for word in words:
            times = np.array([time for what, time in found if what == name(word)])
            counts[word] += 0 if len(times) == 0 else 1 + int((np.diff(times) >= APART).sum())
    return {word: count / hours for word, count in counts.items()}


def rows(work, data, program):
    """The rows of the table."""
    store = work / "typed/words"
    store.unlink(missing_ok=True)
    clips = {path.name: sorted(path.iterdir()) for path in sorted((work / "strangers/clips").iterdir())}
    made = {word: beckon(program, store, "enroll", name(word), "--typed", "--force", "--json")[0] for word in clips}
    false = [false_accepts(program, store, files, clips) for files in talk_files(work, data)]
    pieces = noises(data, "report")
    means = []
    for word, paths in clips.items():
        waves = [soundfile.read(path, dtype="float32")[0] for path in paths]
        shares = []
        for noise in NOISES:
            generator = np.random.default_rng(7)
            wave, spans = stream(waves, noise, pieces, generator)
            file = work / "typed/stream.wav"
            soundfile.write(file, wave, RATE, subtype="PCM_16")
            times = np.array([time for what, time in heard(program, store, file) if what == name(word)])
            hits = sum(bool(((times > begin) & (times < end + GRACE)).any()) for begin, end in spans)
            shares.append(100 * hits / len(spans))
        expected = next(one for one in made[word]["expected"] if one["sensitivity"] == "balanced")
        means.append([100 * expected["found"], *shares, expected["falseAcceptsPerHour"], *(rates[word] for rates in false)])
        sounds = min(len(way.split()) for way in made[word]["sounds"])
        yield [name(word), str(sounds), str(len(waves)), f"{means[-1][0]:.0f}", *(f"{share:.1f}" for share in shares), *(f"{rate:.2f}" for rate in means[-1][4:])]
    mean = np.mean(means, 0)
    yield ["mean", "", "", f"{mean[0]:.0f}", *(f"{share:.1f}" for share in mean[1:4]), *(f"{rate:.2f}" for rate in mean[4:])]
