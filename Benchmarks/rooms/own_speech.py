"""Words that a loudspeaker says, and words that people say over it: how many of them fire, and how many are marked as the loudspeaker's.

    python -m Benchmarks.rooms.own_speech --data DIR --cache DIR --work DIR

The same speech and rooms as those of Benchmarks.rooms. First people say the ten words, over silence, music, talk and television as loud as they are: a
word of theirs that is marked is lost. Then the loudspeaker says them, as loud as people; and once more with a reference that is 60 ms later than the
echo, so that nothing is removed.
"""

import json
import shutil

import numpy as np
import soundfile

from Benchmarks.rooms import scenes
from Benchmarks.rooms.options import parser as options_of
from Benchmarks.rooms.scenes import Condition
from Training.data import recordings
from Training.data.audio import RATE, rms
from Training.evaluate import program, streams
from Training.evaluate.held_out import HeldOut

MODES = ("command", "spot")
# Seconds by which the echo comes before its reference, which no canceller removes.
EARLY = 0.06
# Seconds after a word's end in which it may be decided.
TOLERANCE = 1.0
PEOPLE = (Condition(), *(Condition(what, 0) for what in ("music", "speech", "television")))


def spoken_by_loudspeaker(stream, room, is_early, draw):
    """Microphone and reference [n, 2]: what a person would say is what the loudspeaker plays."""
    played = stream.wave()
    delay = int(draw.uniform(*scenes.DELAY) * RATE)
    echo = scenes.through(room.loudspeaker, np.pad(played, (0 if is_early else delay, 0))[: len(played)])
    microphone = echo * streams.LEVEL / stream.speech_level(echo) + draw.normal(0, scenes.NOISE, len(echo))
    reference = np.pad(played, (int(EARLY * RATE), 0))[: len(played)] if is_early else played
    both = np.stack([microphone, 0.1 * reference / max(rms(reference), 1e-9)], axis=1)
    return np.clip(both, -1, 1).astype(np.float32)


def write(folder, number, both, stream, words):
    folder.mkdir(parents=True, exist_ok=True)
    soundfile.write(folder / f"{number:03}.wav", both, RATE, subtype="PCM_16")
    labels = [(a / RATE, b / RATE, label) for a, b, label in stream.labels if label in words]
    (folder / f"{number:03}.json").write_text(json.dumps(labels))


def counts(options, folder, mode):
    """Words said, those that fired, and those of them that were marked; and what else fired, and was marked."""
    said = fired = marked = others = others_marked = 0
    for path in sorted(folder.glob("*.wav")):
        labels = json.loads(path.with_suffix(".json").read_text())
        said += len(labels)
        found = program.run(
            options.beckon, "classify", "--json", "--mode", mode, "--channel", 0, "--echo-reference", 1, "--words", "none", "--model", options.model, path
        )
        for event in map(json.loads, found.splitlines()):
            # The echo is later than what is played.
            near = [one for one in labels if one[2] == event["word"] and one[0] - 0.1 <= event["time"] <= one[1] + TOLERANCE]
            if near:
                fired += 1
                marked += event.get("ownSpeech", False)
                labels.remove(near[0])
            else:
                others += 1
                others_marked += event.get("ownSpeech", False)
    return said, fired, marked, others, others_marked


def main():
    parser = options_of(__doc__)
    parser.add_argument("--minutes", default=20, type=float)
    parser.add_argument("--who", nargs="*", default=[], help="rows to measure (default: all)")
    options = parser.parse_args()
    words = set(json.loads((options.model / "model.json").read_text())["labels"])
    held_out = HeldOut(recordings.load_all([str(options.data)], str(options.cache)), "report")
    rooms = [*scenes.measured_rooms(held_out.table), *scenes.simulated_rooms()]
    minutes = {"words": options.minutes, "talk": 0, "alone": 0}
    found = dict(scenes.speeches(held_out, minutes, np.random.default_rng([49, 1])))["words"]
    kinds = {f"people over {c.name}": lambda s, r, d, c=c: scenes.scene(s, r, c, held_out, d) for c in PEOPLE}
    kinds |= {
        "the loudspeaker": lambda s, r, d: spoken_by_loudspeaker(s, r, False, d),
        "the loudspeaker, not removed": lambda s, r, d: spoken_by_loudspeaker(s, r, True, d),
    }
    print("| who says the words | mode | said | fired | of these marked | other events | of these marked |")
    print("|---|---|--:|--:|--:|--:|--:|", flush=True)
    for name, make in kinds.items():
        if options.who and name not in options.who:
            continue
        folder = options.work / name
        shutil.rmtree(folder, ignore_errors=True)
        for number, stream in enumerate(found):
            draw = np.random.default_rng([1, number, len("words")])
            write(folder, number, make(stream, rooms[number % len(rooms)], draw), stream, words)
        for mode in MODES:
            print(f"| {name} | {mode} |", *(f"{count} |" for count in counts(options, folder, mode)), flush=True)


if __name__ == "__main__":
    main()
