"""Asks the built program for its scores of one-second clips, so that what is measured is what is shipped."""

import json
import os
import subprocess
import sys

import numpy as np
import soundfile

import recordings


def write_clips(folder, waves, rate=recordings.RATE, subtype="FLOAT"):
    """Writes waves as numbered WAV files and returns their paths."""
    os.makedirs(folder, exist_ok=True)
    paths = [os.path.join(folder, f"{number}.wav") for number in range(len(waves))]
    for path, wave in zip(paths, waves):
        soundfile.write(path, wave, rate, subtype=subtype)
    return paths


def posteriors(beckon, model, paths, labels, precision=None):
    """The scores [n, labels] of `beckon classify --clips` for the files at `paths`; `precision` None is the program's choice."""
    command = [beckon, "classify", "--clips", "--json", "--model", str(model), "-"]
    environment = os.environ | ({"BECKON_PRECISION": precision} if precision else {})
    try:
        run = subprocess.run(command, input="\n".join(paths), capture_output=True, text=True, env=environment)
    except OSError as error:
        sys.exit(f"{beckon}: {error.strerror}; `make build` makes the program")
    if run.returncode != 0:
        sys.exit(run.stderr.strip() or f"{beckon} ended with status {run.returncode}")
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    if [line["file"] for line in lines] != list(paths):
        sys.exit(f"{beckon} answered for {len(lines)} of {len(paths)} clips, or in another order")
    return np.array([[line["scores"][label] for label in labels] for line in lines])
