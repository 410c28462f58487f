"""Words by the person who taught them: three takes of a speaker, and the speaker's other clips of the word.

    python -m Benchmarks.words.same_speaker --work DIR --model MODEL

The clips are those of Picovoice's volunteers, which `python -m Benchmarks.words --strangers` writes below --work; no network was trained on
the words. They do not say who speaks: each volunteer said a word about ten times, and a network for voices finds which clips are alike. A fifth
of the clips are recordings that are there twice; one of each is used.
Needs the PyPI packages resemblyzer (without what it depends on), librosa, torch and webrtcvad-wheels. Each speaker's word is taught by itself,
at its own threshold.
"""

import argparse
import json
from pathlib import Path

import numpy as np
import soundfile
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.signal import fftconvolve

from Benchmarks.words.programs import Beckon
from Benchmarks.words.recordings import utterance
from Training.data.audio import RATE

ROOT = Path(__file__).resolve().parents[2]
WORDS = ("snowboy", "computer", "smart_mirror")
# Takes, and random choices of them by each speaker.
TAKES, DRAWS, NAME = 3, 2, "taught"
# The mean distance of voices, 1 − cosine, up to which they are one speaker's, and how many clips a speaker has: with more, two are taken
# for one. At 0.14 to 0.22 there are about as many speakers. Waveforms that correlate more than so are one recording.
ONE_VOICE, CLIPS, SAME = 0.18, range(5, 13), 0.9
# What of a clip the network for voices hears at least, in samples: a short word is repeated.
HEARD = 26000


def voice(encoder, path):
    """A vector of the voice in a file."""
    wave = utterance(soundfile.read(path)[0], RATE // 20).astype(np.float32)
    wave *= 0.03 / np.sqrt(np.mean(wave**2))
    return encoder.embed_utterance(np.resize(wave, max(HEARD, len(wave))))


def speakers(encoder, folder):
    """The files of each speaker."""
    files = sorted(folder.iterdir(), key=lambda path: int(path.stem))
    voices = np.array([voice(encoder, path) for path in files])
    distances = (1 - voices @ voices.T)[np.triu_indices(len(files), 1)]
    groups = fcluster(linkage(np.maximum(distances, 0), "average"), ONE_VOICE, "distance")
    found = [[files[row] for row in np.flatnonzero(groups == group)] for group in np.unique(groups)]
    return [own for own in map(distinct, found) if len(own) in CLIPS]


def distinct(files):
    """One file of each recording."""
    kept = []
    for path in files:
        wave = soundfile.read(path)[0]
        wave /= np.linalg.norm(wave)
        if all(np.abs(fftconvolve(wave, other[::-1])).max() < SAME for _, other in kept):
            kept.append((path, wave))
    return [path for path, _ in kept]


def detected(beckon, takes, others):
    """The number of other clips in which a word taught by takes is detected, by mode; none if it cannot be taught."""
    store = beckon.work / "stores/same-speaker.words"
    store.parent.mkdir(parents=True, exist_ok=True)
    store.unlink(missing_ok=True)
    where = ("--words", store, "--model", beckon.model)
    if not beckon.run("enroll", NAME, *where, "--json", "--force", "--from", *takes, fails=True):
        return {}
    events = {mode: beckon.run("classify", "--json", "--mode", mode, *where, *others) for mode in ("command", "spot")}
    return {mode: len({event["file"] for event in map(json.loads, text.splitlines()) if event["word"] == NAME}) for mode, text in events.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--work", type=Path, required=True, help="the folder in which --strangers wrote its clips")
    parser.add_argument("--beckon", type=Path, default=ROOT / ".build/release/beckon")
    parser.add_argument("--model", type=Path, default=ROOT / "Models/commands", help="model folder")
    options = parser.parse_args()
    from resemblyzer import VoiceEncoder

    encoder = VoiceEncoder("cpu", verbose=False)
    beckon, generator = Beckon(options.work, options.beckon, options.model), np.random.default_rng(3)
    sums = np.zeros(4, int)
    print("| word | speakers | clips | `command` | `spot` |\n|---|---|---|---|---|")
    row = lambda name, counts: print(f"| {name} | {counts[0]} | {counts[1]} | " + " | ".join(f"{100 * n / max(1, counts[1]):.1f} %" for n in counts[2:]) + " |", flush=True)
    for word in WORDS:
        counts = np.zeros(4, int)
        for files in speakers(encoder, options.work / "strangers/clips" / word):
            counts[0] += 1
            for _ in range(DRAWS):
                order = [files[number] for number in generator.permutation(len(files))]
                found = detected(beckon, order[:TAKES], order[TAKES:])
                counts[1:] += [len(order) - TAKES, found.get("command", 0), found.get("spot", 0)]
        row(word, counts)
        sums += counts
    row("all", sums)


if __name__ == "__main__":
    main()
