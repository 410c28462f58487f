"""Other detectors, as their packages on PyPI have them. A function for each: the detections in a stream, as (time, word, score). They run in processes of their
own, each of which loads its networks once."""

import functools
import importlib
import wave
from pathlib import Path

import numpy as np
import soundfile

from Training.data.audio import RATE

# Where openWakeWord's networks answer 0.5 they have found their word, by its README.
OPEN_THRESHOLD = 0.5


def words_of(package):
    """The words of the networks in a package."""
    return [model.value for model in importlib.import_module(package.replace("-", "_")).Model]


def rises(times, scores, threshold):
    """Times at which scores rise above a threshold, with the score there."""
    above = np.asarray(scores) > threshold
    return [(float(times[n]), float(scores[n])) for n in np.flatnonzero(above & ~np.r_[False, above[:-1]])]


def micro_wake_word(stream):
    """microWakeWord's four networks at the thresholds of their manifests."""
    from pymicro_wakeword import MicroWakeWord, MicroWakeWordFeatures, Model

    samples = soundfile.read(stream, dtype="int16")[0]
    rows, found = list(MicroWakeWordFeatures().process_streaming(samples.tobytes())), []
    for model in Model:
        word, times, scores = MicroWakeWord.from_builtin(model), [], []
        for number, row in enumerate(rows):
            score = word.process_streaming_prob(row)
            if not word._features:
                times.append((number + 1) / 100)
                scores.append(score)
        found += [(time, model.value, score) for time, score in rises(times, scores, word.probability_cutoff)]
    return found


def open_wake_word(stream):
    """openWakeWord's networks of pyopen-wakeword."""
    from pyopen_wakeword import Model, OpenWakeWord, OpenWakeWordFeatures

    samples, features = soundfile.read(stream, dtype="int16")[0], OpenWakeWordFeatures.from_builtin()
    words = {model.value: OpenWakeWord.from_builtin(model) for model in Model}
    scores = {name: ([], []) for name in words}
    for start in range(0, len(samples) - 1279, 1280):
        for row in features.process_streaming(samples[start : start + 1280].tobytes()):
            for name, word in words.items():
                for score in word.process_streaming(row):
                    scores[name][0].append((start + 1280) / RATE)
                    scores[name][1].append(score)
    return [(time, name, score) for name, (times, found) in scores.items() for time, score in rises(times, found, OPEN_THRESHOLD)]


def pocket_sphinx(stream, words, threshold="1e-1"):
    """PocketSphinx' spotting of key phrases, begun anew after each detection, at the threshold of its manual for short words."""
    import tempfile

    from pocketsphinx import Decoder

    with tempfile.NamedTemporaryFile("w", suffix=".list") as phrases:
        phrases.write("".join(f"{word} /{threshold}/\n" for word in words))
        phrases.flush()
        decoder = Decoder(kws=phrases.name, lm=None, loglevel="FATAL")
    found = []
    decoder.start_utt()
    with wave.open(str(stream)) as file:
        while block := file.readframes(1600):
            decoder.process_raw(block)
            if decoder.hyp():
                found.append((file.tell() / RATE, decoder.hyp().hypstr.strip().split()[0], 1.0))
                decoder.end_utt()
                decoder.start_utt()
    decoder.end_utt()
    return found


@functools.cache
def resnet():
    """efficientword-net with its ResNet-50, as bench-words has it."""
    from Benchmarks.words.programs import EfficientWordNet

    return EfficientWordNet(Path("."), 0.75)


def efficient_word_net(stream, takes, kept):
    """efficientword-net: (word, files) pairs of takes. Embeddings of streams are kept in a folder for other takes."""
    program, hop = resnet(), int(0.75 * RATE)
    embeddings = Path(kept) / f"{Path(stream).stem}.npz"
    if not embeddings.exists():
        samples = np.pad(soundfile.read(stream, dtype="float32")[0], (RATE * 3 // 2, 0))
        ends = np.arange(RATE * 3 // 2 + hop, len(samples) + 1, hop)
        ends = [end for end in ends if program.open(samples[end - RATE * 3 // 2 : end])]
        embeddings.parent.mkdir(parents=True, exist_ok=True)
        rows = [program.embed(samples[end - RATE * 3 // 2 : end]) for end in ends]
        np.savez(embeddings, rows=np.array(rows), times=np.array(ends) / RATE - 1.5)
    with np.load(embeddings) as stored:
        rows, times = stored["rows"], stored["times"]
    found = []
    for word, files in takes:
        if program.learn(word, [Path(file) for file in files]):
            scores = [float(program.model.scoreVector(row[None], program.takes)) for row in rows]
            found += [(float(time), word, score) for time, score in zip(times, scores) if score >= program.own]
    return found
