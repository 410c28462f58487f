"""Measures models on the clips of held-out speakers through the program itself.

    python -m Training.evaluate.validate --data DIR --cache DIR --beckon BINARY --model MODEL…

The clips of data/validation_sets.py are written as WAV files and scored by `beckon classify --clips --json`, so the result is
the accuracy of the program, not of PyTorch.
"""

import tempfile

from Training.data import command_line, recordings, validation_sets
from Training.data.vocabulary import COMMANDS, SILENCE, UNKNOWN
from Training.evaluate import program
from Training.model import metrics


def measure(table, beckon, model, part="report"):
    """Accuracies in per cent (all, words, unknown, silence), the calibration error `ece`, and the number of `clips`."""
    waves, truth = validation_sets.clips(table, part)
    with tempfile.TemporaryDirectory() as folder:
        paths = program.write_clips(folder, waves)
        posteriors = program.posteriors(beckon, model, paths, COMMANDS + [UNKNOWN, SILENCE])
    result = {key: float(value) for key, value in metrics.accuracy(posteriors, truth).items()}
    return result | {"ece": float(metrics.calibration_error(posteriors, truth)), "clips": len(waves)}


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--beckon", required=True, help="the built program")
    command_line.add_part(parser)
    parser.add_argument("--model", required=True, nargs="+", help="the model folders to measure")
    options = parser.parse_args(arguments)
    table = recordings.load_all(options.data, options.cache)
    for model in options.model:
        result = measure(table, options.beckon, model, options.part)
        shares = ", ".join(f"{key} {result[key]:.2f} %" for key in ("all", "words", "unknown", "silence"))
        print(f"{model}, part {options.part}: {result['clips']} clips, {shares}, calibration error {result['ece']:.4f}", flush=True)


if __name__ == "__main__":
    main()
