"""Measures a model on the validation clips through the program itself: `python validate.py --data DIR --beckon BINARY`.

The clips of validation.py are written as WAV files and classified by `beckon classify --clips --json`; what is printed is
so the accuracy of the shipped program, not of PyTorch.
"""

import argparse
import os
import tempfile

import program
import recordings
import validation
from examples import COMMANDS, SILENCE, UNKNOWN


def measure(table, beckon, model):
    """Accuracies in per cent (all, words, unknown, silence), the calibration error `ece`, and how many clips."""
    waves, truth = validation.clips(table)
    with tempfile.TemporaryDirectory() as folder:
        paths = program.write_clips(folder, waves)
        posteriors = program.posteriors(beckon, model, paths, COMMANDS + [UNKNOWN, SILENCE])
    result = {key: float(value) for key, value in validation.accuracy(posteriors, truth).items()}
    return result | {"ece": float(validation.calibration_error(posteriors, truth)), "clips": len(waves)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder of recordings, as for train.py")
    parser.add_argument("--runs", default=os.path.join(os.path.dirname(__file__), "runs"))
    parser.add_argument("--beckon", required=True, help="the program to measure")
    parser.add_argument("--model", required=True, nargs="+", help="the model folders to measure")
    options = parser.parse_args()
    table = recordings.load_all([options.data], options.runs)
    for model in options.model:
        result = measure(table, options.beckon, model)
        shares = ", ".join(f"{key} {result[key]:.2f} %" for key in ("all", "words", "unknown", "silence"))
        print(f"{model}: {result['clips']} clips, {shares}, calibration error {result['ece']:.4f}", flush=True)


if __name__ == "__main__":
    main()
