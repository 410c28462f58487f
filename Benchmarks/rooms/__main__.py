"""Words in rooms in which a loudspeaker plays: recall and false accepts, without and with Beckon's echo cancellation.

    python -m Benchmarks.rooms --data DIR --cache DIR --work DIR

The ten words by the reporting half of the held-out speakers, and their talk, through six pairs of measured responses (`rooms.tar`) and six simulated
rooms. The loudspeaker plays music, talk or television, so much louder than the words as the row says, over their spans; its echo is 20 to 250 ms
late. Recall is in per cent of the words said; false accepts are counted in the words, in talk, and where nobody speaks but the loudspeaker.

The scenes are made once and kept in --work, those of each of --seeds in a folder of its own. --data must hold the recordings of Training/README.md with rooms.tar and noise2.tar.
"""

import itertools
import json
import shutil
from collections import Counter

import soundfile

from Benchmarks.rooms import scenes
from Benchmarks.rooms.candidates import CANDIDATES
from Benchmarks.rooms.options import parser as options_of
from Benchmarks.rooms.scenes import Condition
from Training.data import recordings
from Training.data.audio import RATE
from Training.evaluate import program
from Training.evaluate.held_out import HeldOut

CONDITIONS = (
    Condition(),
    *(Condition(what, level) for what in ("music", "speech", "television") for level in (-10, 0, 10)),
    Condition("music", 0, drift=50),
    Condition("music", 0, drift=-200),
    Condition("music", 0, clips=True),
)
MODES = ("command", "spot")
SETS = ("words", "talk", "alone")


def counts(options, folders, echo):
    """Words said and found, and false accepts, in each mode; and the hours. With `echo`, Beckon removes it."""
    found, seconds = {mode: Counter() for mode in MODES}, 0
    for folder, name in itertools.product(folders, SETS):
        arguments = ["evaluate", "--stream", "--json", "--channel", 0, "--words", "none", "--model", options.model, folder / name]
        report = json.loads(program.run(options.beckon, *arguments, *(("--echo-reference", 1) if echo else ())))
        seconds += report["seconds"]
        for setting in report["settings"]:
            for word in setting["words"]:
                found[setting["mode"]].update({key: word["figures"][key] for key in ("said", "hits", "falseAccepts")})
    return found, seconds / 3600


def cells(options, folders, echo=False):
    found, hours = counts(options, folders, echo)
    for mode in MODES:
        yield f"{100 * found[mode]['hits'] / found[mode]['said']:.1f}"
        yield f"{found[mode]['falseAccepts'] / hours:.1f} ({found[mode]['falseAccepts']})"


def cancelled(candidate, source, target):
    """The folder with the scenes of `source` after a canceller."""
    for name in SETS:
        (target / name).mkdir(parents=True, exist_ok=True)
        for path in sorted((source / name).glob("*.wav")):
            both, _ = soundfile.read(path, dtype="float32")
            soundfile.write(target / name / path.name, candidate(both[:, 0], both[:, 1]), RATE, subtype="PCM_16")
            shutil.copy(path.with_suffix(".txt"), target / name)
    return target


def arguments():
    parser = options_of(__doc__)
    parser.add_argument("--minutes", nargs=3, type=float, default=(20, 10, 6), metavar="N", help="of words, talk, and the loudspeaker alone")
    parser.add_argument("--candidates", action="store_true", help="also the cancellers of candidates.py, of which one was chosen")
    parser.add_argument("--conditions", nargs="*", default=[], help="the names of the conditions to measure (default: all)")
    parser.add_argument("--seeds", nargs="+", type=int, default=[1], metavar="N", help="the scenes: whose speech, which music, which room")
    return parser.parse_args()


def scenes_of(options, conditions):
    """The folders of each condition, one for each seed; those that are missing are made."""
    held_out = None
    for seed in options.seeds:
        missing = [condition for condition in conditions if not (options.work / str(seed) / condition.name / "done").exists()]
        if not missing:
            continue
        held_out = held_out or HeldOut(recordings.load_all([str(options.data)], str(options.cache)), "report")
        scenes.make(held_out, options.work / str(seed), missing, dict(zip(SETS, options.minutes)), seed)
        for condition in missing:
            (options.work / str(seed) / condition.name / "done").touch()
    return {condition: [options.work / str(seed) / condition.name for seed in options.seeds] for condition in conditions}


def main():
    options = arguments()
    folders_of = scenes_of(options, [c for c in CONDITIONS if not options.conditions or c.name in options.conditions])
    print("| loudspeaker | canceller |" + "".join(f" {mode}: recall | false/h (all) |" for mode in MODES))
    print("|---|---|" + "--:|" * 2 * len(MODES), flush=True)
    for condition, folders in folders_of.items():
        print(f"| {condition.name} | none |", *(f"{cell} |" for cell in cells(options, folders)), flush=True)
        print("| | Beckon |", *(f"{cell} |" for cell in cells(options, folders, echo=True)), flush=True)
        for candidate in CANDIDATES if options.candidates else ():
            targets = [cancelled(candidate, folder, options.work / "cancelled" / folder.parent.name) for folder in folders]
            print(f"| | {candidate.name} |", *(f"{cell} |" for cell in cells(options, targets)), flush=True)
            shutil.rmtree(options.work / "cancelled")


main()
