"""Taught words by real people, over hours of other people's talk: the first table of the benchmark.

The words were never trained on: "snowboy", "computer" and "smart mirror" by Picovoice's volunteers, "athena" and "amelia" by Mycroft's,
and five words of telephone calls. Each draw takes random clips of each word to learn from, by other people than most of those who say the rest. Clips and
talk are real; the talk is of people who are in no training, without sentences that hold one of the words.
"""

import json
from pathlib import Path

import numpy as np
import soundfile
from scipy.signal import fftconvolve

from Benchmarks.words.programs import Beckon
from Benchmarks.words.recordings import NOISE, members, write
from Training.data import recordings
from Training.data.audio import RATE
from Training.data.split import partition
from Training.data.vocabulary import BACKGROUND

# A word, the archive and the part of a name that its clips have.
CLIPS = {name: ("words.tar", f"/{name}/") for name in ("snowboy", "computer", "smart_mirror")}
CLIPS |= {name: ("words2.tar", f"/{name}/") for name in ("athena", "amelia")}
# Words of the telephone calls, as their transcripts have them.
CALLED = ("onword", "wildfire", "thinkengine", "operator", "voyager")
WORDS = (*CLIPS, *CALLED)
# Of the packages, whose thresholds are tried at every score, so many draws of five takes; of Beckon so many of each number of takes.
PACKAGE_DRAWS, DRAWS, TAKES = 2, 4, (1, 3, 5, 10)
# Thresholds that are tried beside the own one (1.4), in log odds.
ODDS = (0.5, 0.9, 1.1, 1.7, 2.0, 2.4)
# Sensitivities beside the default one, and the false accepts per hour that each promises.
PROMISED = {"strict": 0.1, "balanced": 0.5, "eager": 5}
# False accepts per hour and word at which programs are compared.
LIMIT = 0.5
# Halves of the people who talk. What `enroll` aims at was chosen by those of the first, so that only the second are strangers to it.
PARTS = ("tune", "report")
# Seconds of silence between utterances of talk, and the length of a file of talk.
PAUSE, FILE = 0.8, 300
# Detections less than this apart are one, in seconds.
APART = 1.0
# How the clips are changed, after takes without change: in noise of NOISE dB that begins two seconds before, and in a room of half a
# second's reverberation (RT60) as loud as the direct sound.
CONDITIONS = (f"{NOISE} dB", "room")
NOISE_BEFORE, REVERBERATION = 2 * RATE, 0.5


def make(work, data, cache):
    """Writes clips/<word>/<n>.wav and talk/<part>-<source>-<n>.wav below work/strangers; the part is `tune` or `report`."""
    generator = np.random.default_rng(5)

    def clip(word, number, wave):
        wave = np.pad(wave, (RATE // 2, RATE * 3 // 4))
        write(work / "strangers/clips" / word / f"{number}.wav", wave + generator.normal(0, 1e-4, len(wave)))

    for word, (archive, part) in CLIPS.items():
        for number, wave in enumerate(wave for name, wave in members(data / archive) if part in f"/{name}"):
            clip(word, number, wave)
    table = recordings.load_all([data], cache)
    said = np.array([text.lower().strip() for text in table["text"]])
    for word in CALLED:
        for row in np.flatnonzero(said == word):
            clip(word, row, recordings.samples(table, row))
    chosen = (table["kind"] == "speech") & np.isin(table["part"], ["tune", "report"])
    # Transcripts write some of the names in two words.
    spoken = [text.replace(" ", "") for text in said]
    chosen &= ~np.array([any(word.replace("_", "") in text for word in WORDS) for text in spoken])
    for part, source in sorted(set(zip(table["part"][chosen], table["label"][chosen]))):
        parts, number = [], 0
        for row in generator.permutation(np.flatnonzero(chosen & (table["part"] == part) & (table["label"] == source))):
            wave = recordings.samples(table, row)
            parts += [wave + generator.normal(0, 1e-4, len(wave)), generator.normal(0, 1e-4, int(PAUSE * RATE))]
            if sum(map(len, parts)) > FILE * RATE:
                write(work / "strangers/talk" / f"{part}-{source}-{number}.wav", np.concatenate(parts))
                parts, number = [], number + 1
        if parts:
            write(work / "strangers/talk" / f"{part}-{source}-{number}.wav", np.concatenate(parts))


def make_conditions(work, data):
    """Writes <condition>/<word>/<n>.wav below work/strangers, of all clips; the noise is recorded, of the validation partition."""
    is_held_out = lambda name: partition(name) in ("tune", "report") and f"/{BACKGROUND}/" not in name
    noises = [wave for name, wave in members(data / "noise.tar") if is_held_out(name) and len(wave) > RATE and wave.std() > 1e-4]
    generator, time = np.random.default_rng(7), np.arange(int(REVERBERATION * RATE)) / RATE
    for word in WORDS:
        for path in sorted((work / "strangers/clips" / word).iterdir()):
            wave = soundfile.read(path)[0]
            level = np.sqrt(np.sort(wave**2)[-len(wave) // 5 :].mean())
            noise = np.concatenate([noises[n] / noises[n].std() for n in generator.choice(len(noises), 8)])
            noise = np.resize(noise, NOISE_BEFORE + len(wave)) * level * 10 ** (-NOISE / 20)
            write(work / "strangers" / CONDITIONS[0] / word / path.name, np.pad(wave, (NOISE_BEFORE, 0)) + noise)
            tail = generator.normal(size=len(time)) * np.exp(-6.9 * time / REVERBERATION)
            tail *= np.arange(len(time)) > RATE // 200
            response = tail / np.sqrt((tail**2).sum())
            response[0] = 1
            wet = fftconvolve(np.pad(wave, (0, RATE // 2)), response)[: len(wave) + RATE // 2]
            write(work / "strangers" / CONDITIONS[1] / word / path.name, wet / np.sqrt(2))


class Material:
    """The clips by word, and the talk."""

    def __init__(self, work):
        folder = work / "strangers"
        self.clips = {word: sorted((folder / "clips" / word).iterdir(), key=lambda path: int(path.stem)) for word in WORDS}
        self.talk = sorted((folder / "talk").iterdir())
        seconds = [path.stat().st_size / 2 / RATE for path in self.talk]
        self.hours = sum(seconds) / 3600
        # Which of the talk [n] is of each part, and its hours.
        self.of_part = {part: np.array([path.name.startswith(part) for path in self.talk]) for part in PARTS}
        self.hours_of_part = {part: np.array(seconds) @ rows / 3600 for part, rows in self.of_part.items()}

    def rates(self, counts):
        """False accepts per hour of all talk, and of each of PARTS, from the number in each file of talk [n]."""
        counts = np.array(counts)
        return counts.sum() / self.hours, *(counts @ rows / self.hours_of_part[part] for part, rows in self.of_part.items())

    def draws(self, takes, count):
        """For each draw, by word: the clips to learn from, and the others."""
        generator = np.random.default_rng([6, takes])
        for _ in range(count):
            yield {word: self.split(clips, generator.choice(len(clips), takes, replace=False)) for word, clips in self.clips.items()}

    @staticmethod
    def split(clips, chosen):
        return [clips[n] for n in chosen], [clip for n, clip in enumerate(clips) if n not in chosen]


def episodes(times):
    """Number of detections; those that follow closely count as one."""
    times = np.sort(times)
    return 0 if len(times) == 0 else 1 + int((np.diff(times) >= APART).sum())


def beckon_rows(beckon, material):
    """A dict for each draw, word and mode: takes, recall in per cent and false accepts per hour at the own threshold and by threshold,
    and the estimates of `enroll`. All words of a draw are taught at once."""
    rows = []
    for takes in TAKES:
        for number, draw in enumerate(material.draws(takes, DRAWS)):
            store = beckon.work / "stores" / f"strangers-{takes}-{number}.words"
            store.parent.mkdir(parents=True, exist_ok=True)
            store.unlink(missing_ok=True)
            where = ("--words", store, "--model", beckon.model)
            learned = {}
            for word, (chosen, _) in draw.items():
                text = beckon.run("enroll", word, *where, "--json", "--force", "--from", *chosen, fails=True)
                learned[word] = json.loads(text)["sensitivities"]["balanced"] if text else None
            files = [*(clip for _, rest in draw.values() for clip in rest), *material.talk]
            for mode in ("command", "spot"):
                tried = [None, *(ODDS if takes == 5 and number < PACKAGE_DRAWS else ())]
                found = [beckon_found(beckon, where, mode, threshold, [w for w in learned if learned[w]], files) for threshold in tried]
                changed = {name: changed_recall(beckon, where, mode, draw, name) for name in CONDITIONS if takes == 5}
                others = [beckon_found(beckon, (*where, "--sensitivity", name), mode, None, [], files) for name in ("strict", "eager") if takes == 5]
                for word, (_, rest) in draw.items():
                    points = [point(counts, word, rest, material) for counts in found]
                    rows.append({"word": word, "takes": takes, "draw": number, "mode": mode, "own": points[0], "curve": points[1:]})
                    rows[-1]["estimate"] = learned[word][mode] if learned[word] else None
                    if takes == 5:
                        rows[-1]["changed"] = [changed[condition][word] for condition in CONDITIONS]
                        strict, eager = (point(found, word, rest, material) for found in others)
                        rows[-1]["sensitivities"] = {"strict": strict, "balanced": points[0], "eager": eager}
    return rows


def changed_recall(beckon, where, mode, draw, condition):
    """The recall by word in clips as a condition changes them, in per cent."""
    files = {word: [beckon.work / "strangers" / condition / word / clip.name for clip in rest] for word, (_, rest) in draw.items()}
    found = beckon_found(beckon, where, mode, None, list(files), [file for part in files.values() for file in part])
    return {word: 100 * np.mean([(word, str(file)) in found for file in part]) for word, part in files.items()}


def beckon_found(beckon, where, mode, odds, words, files):
    """Times of detections by (word, file)."""
    chosen = () if odds is None else [part for word in words for part in ("--word", f"{word}={1 / (1 + np.exp(-odds)):.5f}")]
    found = {}
    for line in beckon.run("classify", "--json", "--mode", mode, *where, *chosen, *files).splitlines():
        event = json.loads(line)
        found.setdefault((event["word"], event["file"]), []).append(event["time"])
    return found


def point(found, word, rest, material):
    """Recall in per cent, and false accepts per hour: of all talk, and of each of PARTS."""
    heard = np.mean([(word, str(clip)) in found for clip in rest])
    return 100 * heard, *material.rates([episodes(np.array(found.get((word, str(path)), []))) for path in material.talk])


def package_rows(program, material):
    """As `beckon_rows`, for a package and five takes."""
    rows = []
    for number, draw in enumerate(material.draws(5, PACKAGE_DRAWS)):
        for word, (chosen, rest) in draw.items():
            if not program.learn(word, chosen):
                continue
            clips, talk = program.listen(rest), program.listen(material.talk)
            measure = lambda t: (
                100 * np.mean([len(result.at(t)) > 0 for result in clips]),
                *material.rates([episodes(result.at(t)) for result in talk]),
            )
            scores = np.sort(np.concatenate([result.scores for result in talk]))[::-1]
            curve = [measure(scores[n] + 1e-6) for n in range(0, int(8 * material.hours))]
            rows.append({"word": word, "takes": 5, "draw": number, "mode": "", "own": measure(program.own), "curve": curve})
    return rows


def best(curve):
    """The highest recall at most LIMIT false accepts an hour; 0 if no threshold tried has so few."""
    return max((recall for recall, wrong, *_ in curve if wrong <= LIMIT), default=0.0)


def summary(name, rows):
    """A row of the table: means over words and draws, the worst draw of the worst word, and the recall at LIMIT."""
    own = np.array([row["own"] for row in rows])
    curves = [best([row["own"], *row["curve"]]) for row in rows if row["curve"]]
    by_word = [np.mean([row["own"] for row in rows if row["word"] == word], axis=0) for word in {row["word"] for row in rows}]
    cells = [f"{own[:, 0].mean():.1f}", *(f"{own[:, column].mean():.2f}" for column in (1, 2, 3)), f"{min(w[0] for w in by_word):.0f}", f"{own[:, 0].min():.0f}", f"{own[:, 1].max():.1f}"]
    cells.append(f"{np.mean(curves):.1f}" if curves else "–")
    estimates = [row["estimate"] for row in rows if row.get("estimate")]
    if estimates:
        missed = 100 * np.mean([estimate["missedOfOthers"] for estimate in estimates])
        cells += [f"{missed:.1f} / {100 - own[:, 0].mean():.1f}", f"{np.mean([e['falseAcceptsPerHour'] for e in estimates]):.2f}"]
    else:
        cells += ["–", "–"]
    return [name, str(rows[0]["takes"]), *cells]


def changed_summary(rows):
    """The mean recall in each of CONDITIONS, as text."""
    means = np.mean([row["changed"] for row in rows if "changed" in row], axis=0)
    return ", ".join(f"{name} {mean:.1f} %" for name, mean in zip(CONDITIONS, means))


def promises(rows):
    """The mean recall and false accepts per hour at each sensitivity, as text."""
    for name, promised in PROMISED.items():
        recall, wrong, *_ = np.mean([row["sensitivities"][name] for row in rows if "sensitivities" in row], axis=0)
        yield f"{name}: {recall:.1f} % at {wrong:.2f} of {promised} an hour"


HEADS = ["", "takes", "recall", "false/h", *(f"… {part}" for part in PARTS), "worst word", "worst draw", "most false/h", f"recall at {LIMIT}/h", "missed: estimate / real", "false/h: estimate"]


def run(work, programs):
    """Rows of the table for all programs."""
    material, rows = Material(work), []
    for program in programs:
        if isinstance(program, Beckon):
            found = beckon_rows(program, material)
            for mode in ("command", "spot"):
                print(f"{program.name}, {mode}, five takes, clips changed: {changed_summary([r for r in found if r['mode'] == mode])}")
                print("…", "; ".join(promises([r for r in found if r["mode"] == mode])))
                for takes in TAKES:
                    rows.append(summary(f"{program.name}, {mode}", [r for r in found if r["mode"] == mode and r["takes"] == takes]))
        else:
            found = package_rows(program, material)
            rows.append(summary(program.name, found))
        (Path(work) / "strangers" / f"{program.name.split(',')[0].split()[0]}-{len(rows)}.json").write_text(json.dumps(found))
        yield from rows
        rows = []
