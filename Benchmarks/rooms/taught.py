"""Taught words in rooms in which a loudspeaker plays: recall and false accepts, without and with Beckon's echo cancellation.

    python -m Benchmarks.rooms.taught --data DIR --cache DIR --work DIR --clips DIR

The words by real people that `python -m Benchmarks.words --strangers` writes to its folder `strangers/clips`, taught from five clips each, as
recorded; 25 others in each room of Benchmarks.rooms, and ten minutes of talk by the reporting half of the held-out speakers. The names of the
telephone calls are left out, because the talk has them.
"""

import json
import shutil
from pathlib import Path

import numpy as np
import soundfile

from Benchmarks.rooms import scenes
from Benchmarks.rooms.options import parser as options_of
from Benchmarks.rooms.scenes import Condition
from Benchmarks.words.strangers import CLIPS
from Training.data import recordings
from Training.data.audio import RATE, unit_rms
from Training.data.recordings import utterance_bounds
from Training.evaluate import program, streams
from Training.evaluate.held_out import HeldOut

TAKES, SAID, TALK = 5, 25, 50
CONDITIONS = (Condition(), *(Condition(what, 0) for what in ("music", "speech", "television")))


def words(clips, count, draw):
    """A stream of so many clips of all words, with pauses."""
    stream = streams.Stream()
    for _ in range(count):
        word = draw.choice(list(clips))
        wave = soundfile.read(clips[word].pop(), dtype="float32")[0]
        first, last = utterance_bounds(np.round(wave * 32767).astype(np.int16))
        wave = wave[first:last] * np.float32(streams.LEVEL / np.sqrt(np.mean(wave[first:last] ** 2)))
        stream.add_silence(draw.uniform(1, 2.5))
        stream.add_speech(streams.at_random_level(wave / streams.LEVEL, draw), 0, len(wave), word)
    stream.add_silence(2)
    return stream


def talk(held_out, draw):
    """A stream of talk, all of it as one span of speech."""
    stream = streams.Stream()
    stream.add_speech(unit_rms(held_out.talk(TALK * RATE, draw)) * np.float32(streams.LEVEL), 0, TALK * RATE)
    stream.add_silence(2)
    return stream


def cells(options, folder, store, *extra):
    arguments = ("evaluate", "--stream", "--json", "--channel", 0, "--words", store, "--model", options.model, *extra, folder)
    report = json.loads(program.run(options.beckon, *arguments))
    for setting in report["settings"]:
        figures = [word["figures"] for word in setting["words"] if word["word"] in options.taught]
        said, hits, wrong = (sum(f[key] for f in figures) for key in ("said", "hits", "falseAccepts"))
        yield f"{100 * hits / said:.1f} | {3600 * wrong / report['seconds'] / len(options.taught):.2f}"


def main():
    parser = options_of(__doc__)
    parser.add_argument("--clips", required=True, type=Path, help="folder with a folder of clips for each word")
    options = parser.parse_args()
    draw = np.random.default_rng([49, 2])
    clips = {word: list(draw.permutation(sorted((options.clips / word).iterdir()))) for word in CLIPS}
    options.taught = list(clips)
    store = options.work / "taught.words"
    options.work.mkdir(parents=True, exist_ok=True)
    store.unlink(missing_ok=True)
    for word, own in clips.items():
        takes = [own.pop() for _ in range(TAKES)]
        program.run(options.beckon, "enroll", word, "--words", store, "--model", options.model, "--force", "--json", "--from", *takes)
    held_out = HeldOut(recordings.load_all([str(options.data)], str(options.cache)), "report")
    rooms = [*scenes.measured_rooms(held_out.table), *scenes.simulated_rooms()]
    said = [stream for _ in rooms for stream in (words(clips, SAID, draw), talk(held_out, draw))]
    print("| loudspeaker | canceller | command: recall | false/h and word | spot: recall | false/h and word |\n|---|---|--:|--:|--:|--:|", flush=True)
    for condition in CONDITIONS:
        folder = options.work / condition.name
        shutil.rmtree(folder, ignore_errors=True)
        for number, stream in enumerate(said):
            room = rooms[number // 2]
            scenes.write(folder, number, scenes.scene(stream, room, condition, held_out, np.random.default_rng([2, number])), stream)
        print(f"| {condition.name} | none |", " | ".join(cells(options, folder, store)), "|", flush=True)
        print("| | Beckon |", " | ".join(cells(options, folder, store, "--echo-reference", 1)), "|", flush=True)


if __name__ == "__main__":
    main()
