"""Finds the talk of the training partition that the streaming network proposes: what the network that rejects meets.

    python -m Training.confirm.mine --data DIR --cache DIR --beckon BINARY --model DIR --out FILE

MODEL is proposed from by itself: any networks that confirm in it are left out of the decision. Every recording is heard as it is and in
noise at 10 dB. FILE holds `hard`, (row, middle sample) [n, 2], for train.py.
"""

import json
import os
import pathlib
import shutil
import tempfile

import numpy as np
import soundfile

from Training.confirm.examples import Examples
from Training.data import command_line, recordings
from Training.data.audio import RATE, rms
from Training.data.files import replacing, write_json
from Training.data.seeding import generator as seeded
from Training.data.vocabulary import COMMANDS
from Training.evaluate import program

# The score from which on a word is proposed, the noise in dB below the talk, and the longest recording in seconds.
LEVEL, RATIO, LONGEST = 0.1, 10, 600


def proposer(model, folder):
    """A copy of a model folder whose confirming networks have no say, so that every proposal is detected with its own score."""
    copy = pathlib.Path(folder) / "model"
    shutil.copytree(model, copy)
    about = json.loads((copy / "model.json").read_text())
    if "confirm" in about:
        about["confirm"] |= {"share": 1, "proposals": {"command": LEVEL, "spot": LEVEL}}
        for network in about["confirm"]["networks"]:
            network["share"] = 0
        write_json(copy / "model.json", about)
    return str(copy)


def mined(examples, beckon, model):
    """(row, middle sample) [n, 2] of what the program proposes in talk, clean and in noise."""
    found, table = [], examples.table
    with tempfile.TemporaryDirectory() as folder:
        own = proposer(model, folder)
        paths = {}
        for row in examples.rows["talk"]:
            wave = recordings.samples(table, row)[: LONGEST * RATE]
            for kind in ("clean", "noise"):
                if kind == "noise":
                    generator = seeded("mining", int(row), seed=examples.seed)
                    pieces = [examples.noise(generator) for _ in range(-(-len(wave) // examples.window))]
                    wave = wave + np.concatenate(pieces)[: len(wave)] * rms(wave) * 10 ** (-RATIO / 20)
                path = os.path.join(folder, f"{row}-{kind}.wav")
                soundfile.write(path, np.clip(wave, -1, 1), RATE)
                paths[path] = row
        arguments = ("classify", "--json", "--mode", "spot", "--threshold", LEVEL, "--model", own, "--words", "none", "--files-from", "-")
        for line in program.run(beckon, *arguments, input="\n".join(paths)).splitlines():
            line = json.loads(line)
            if line.get("event") == "word" and line["word"] in COMMANDS:
                found.append((paths[line["file"]], int((line["start"] + line["end"]) / 2 * RATE)))
    return np.array(found, np.int64).reshape(-1, 2)


def main(arguments=None):
    parser = command_line.parser(__doc__)
    command_line.add_program(parser)
    parser.add_argument("--out", required=True, help="the file to write")
    options = parser.parse_args(arguments)
    table = recordings.load_all(options.data, options.cache)
    examples = Examples(table, int(1.5 * RATE), seed=1)
    hard = mined(examples, options.beckon, options.model)
    with replacing(options.out) as part:
        np.savez(part, hard=hard, rows=len(table["name"]))
    hours = table["length"][examples.rows["talk"]].sum() / RATE / 3600
    print(f"{len(hard)} proposals in {hours:.1f} h of talk, clean and in noise")


if __name__ == "__main__":
    main()
