"""Runs the built program on WAV files, so that what is measured is what ships."""

import json
import os
import subprocess
import sys

import numpy as np
import soundfile

from Training.data.audio import RATE


def write_clips(folder, waves, rate=RATE, subtype="FLOAT"):
    """Writes waveforms as numbered WAV files and returns their paths."""
    os.makedirs(folder, exist_ok=True)
    paths = [os.path.join(folder, f"{number}.wav") for number in range(len(waves))]
    for path, wave in zip(paths, waves):
        soundfile.write(path, wave, rate, subtype=subtype)
    return paths


def run(beckon, *arguments, **settings):
    """What the program prints; ends this process with the program's message if it fails."""
    command = [str(part) for part in (beckon, *arguments)]
    try:
        ended = subprocess.run(command, capture_output=True, text=True, **settings)
    except OSError as error:
        sys.exit(f"{beckon}: {error.strerror}; `make build` builds the program")
    if ended.returncode != 0:
        sys.exit(ended.stderr.strip() or f"{beckon} exited with status {ended.returncode}")
    return ended.stdout


def posteriors(beckon, model, paths, labels, precision=None, confirm=True):
    """Scores [n, labels] of `beckon classify --clips` for the files at `paths`; `precision` None is the program's choice.

    Without `confirm` they are the streaming network's alone.
    """
    environment = os.environ | ({"BECKON_PRECISION": precision} if precision else {})
    arguments = ("classify", "--clips", "--json", "--model", model, *(() if confirm else ("--no-confirm",)), "--files-from", "-")
    lines = [json.loads(line) for line in run(beckon, *arguments, input="\n".join(paths), env=environment).splitlines()]
    if [line["file"] for line in lines] != list(paths):
        sys.exit(f"{beckon} answered for {len(lines)} of {len(paths)} clips, or in another order")
    return np.array([[line["scores"][label] for label in labels] for line in lines])
