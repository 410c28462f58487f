"""Measures a model on the validation clips through the program itself: `python validate.py --data DIR --beckon BINARY`.

The clips of validation.py are written as WAV files and classified by `beckon classify --clips --json`; what is printed is
so the accuracy of the shipped program, not of PyTorch.
"""

import argparse
import json
import os
import subprocess
import tempfile

import numpy as np
import soundfile

import recordings
import validation
from examples import COMMANDS, SILENCE, UNKNOWN


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder of recordings, as for train.py")
    parser.add_argument("--runs", default=os.path.join(os.path.dirname(__file__), "runs"))
    parser.add_argument("--beckon", required=True, help="the program to measure")
    parser.add_argument("--model", required=True, help="the model folder to measure")
    options = parser.parse_args()
    table = recordings.load_all([options.data], options.runs)
    waves, truth = validation.clips(table)
    labels = COMMANDS + [UNKNOWN, SILENCE]
    with tempfile.TemporaryDirectory() as folder:
        paths = []
        for number, wave in enumerate(waves):
            paths.append(os.path.join(folder, f"{number}.wav"))
            soundfile.write(paths[-1], wave, recordings.RATE, subtype="FLOAT")
        run = subprocess.run(
            [options.beckon, "classify", "--clips", "--json", "--model", options.model, "-"],
            input="\n".join(paths),
            capture_output=True,
            text=True,
            check=True,
        )
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    posteriors = np.array([[line["scores"][label] for label in labels] for line in lines])
    result = validation.accuracy(posteriors, truth)
    print(
        f"{len(waves)} clips: "
        + ", ".join(f"{key} {value:.2f} %" for key, value in result.items())
        + f", calibration error {validation.calibration_error(posteriors, truth):.4f}"
    )


if __name__ == "__main__":
    main()
