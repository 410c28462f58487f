"""Takes the dialogue out of two games of Debian, and joins it to streams.

The games are acted: `beneath-a-steel-sky` and `flight-of-the-amazon-queen`, whose texts tell what is said. Lines that say a command, or a word that sounds
like one, are left out and listed, as are files without a subtitle. What is kept is written as 16 kHz WAV, a file a line, at the level it has in the game;
and joined, in the games' order, to streams of ten minutes. Between two lines is a gap as between speakers, beside what silence the files have: its length is
drawn from a log-normal distribution with a median of 0.5 s (half of them 0.36 to 0.7 s), limited to 0.2 to 2 s, and holds noise at -80 dBFS. Nothing here is
ever trained on.
"""

import concurrent.futures
import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import soundfile

from Benchmarks.talk import queen, sky
from Training.data.audio import RATE, resample
from Training.data.vocabulary import COMMANDS, says

GAMES = {"sky": ("beneath-a-steel-sky", sky), "queen": ("flight-of-the-amazon-queen", queen)}
INSTALLED = Path("/usr/share/scummvm")
# Seconds of a stream, of the gap between two lines (median, least, most) and the deviation of its logarithm; the level of the noise in it.
STREAM, GAP, SPREAD, NOISE = 600, (0.5, 0.2, 2.0), 0.5, 1e-4


def plain(text):
    """A subtitle as words in small letters; a letter that is drawn out, as in "Nooo", counts once."""
    return " ".join(re.findall(r"[a-z']+", re.sub(r"(.)\1{2,}", r"\1", text.lower())))


def why_not(text):
    """Why a line is left out, or None."""
    if text is None or not plain(text):
        return "no subtitle"
    return "says a command" if says(COMMANDS, plain(text)) else None


def find_game(name, folder=None):
    """The folder of a game's data: where the package is installed, or else what apt-get downloads into a folder. None if it cannot be had."""
    package, _ = GAMES[name]
    if (INSTALLED / package).is_dir():
        return INSTALLED / package
    tree = folder / "packages" / package
    if not tree.is_dir():
        tree.mkdir(parents=True)
        try:
            subprocess.run(["apt-get", "download", package], cwd=tree, check=True, capture_output=True)
            subprocess.run(["dpkg-deb", "-x", *tree.glob("*.deb"), tree], check=True)
        except (OSError, subprocess.CalledProcessError):
            shutil.rmtree(tree)
            return None
    return tree / "usr/share/scummvm" / package


def write(path, wave):
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, np.clip(wave, -1, 1), RATE, subtype="PCM_16")


def join(folder, name, waves, generator):
    """Writes (line, waveform) pairs as streams <name>-<n>.wav; returns for each of them where its lines are, in seconds."""
    streams, parts, places, length = {}, [], [], 0

    def end():
        stream = f"{name}-{len([s for s in streams if s.startswith(name)]):02d}"
        write(folder / "streams" / f"{stream}.wav", np.concatenate(parts))
        streams[stream] = {"seconds": length / RATE, "lines": places}

    for line, wave in waves:
        seconds = np.clip(GAP[0] * np.exp(SPREAD * generator.standard_normal()), *GAP[1:])
        gap = (NOISE * generator.standard_normal(int(seconds * RATE))).astype(np.float32)
        places.append((line, round(length / RATE, 5), round((length + len(wave)) / RATE, 5)))
        parts += [wave, gap]
        length += len(wave) + len(gap)
        if length >= STREAM * RATE:
            end()
            parts, places, length = [], [], 0
    if parts:
        end()
    return streams


def extract_game(folder, name, data):
    """Writes a game's lines and streams; returns the lists of both, and what was left out."""
    listed, left_out = {}, []

    def kept():
        for line, text, wave, rate in GAMES[name][1].lines(data):
            reason = why_not(text)
            if reason:
                left_out.append((line, reason, text or ""))
                continue
            wave = resample(wave, rate).astype(np.float32)
            write(folder / "lines" / f"{line}.wav", wave)
            listed[line] = {"text": text, "seconds": round(len(wave) / RATE, 3)}
            yield line, wave

    return listed, join(folder, name, kept(), np.random.default_rng(len(name))), left_out


def extract(folder, sources, jobs):
    """Writes lines/, streams/, talk.json and left-out.tsv into a folder, once, of the games' data by name."""
    index = folder / "talk.json"
    if index.exists():
        found = json.loads(index.read_text())
        if sorted(sources) == found["games"]:
            return found
    lines, streams, left_out = {}, {}, []
    with concurrent.futures.ProcessPoolExecutor(jobs) as workers:
        for one in workers.map(extract_game, [folder] * len(sources), sources, sources.values()):
            lines |= one[0]
            streams |= one[1]
            left_out += one[2]
    rows = ["line\twhy\tsubtitle", *("\t".join(row) for row in left_out)]
    (folder / "left-out.tsv").write_text("\n".join(rows) + "\n")
    found = {"games": sorted(sources), "lines": lines, "streams": streams, "left_out": len(left_out)}
    index.write_text(json.dumps(found))
    return found
