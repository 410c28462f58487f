"""Fits the temperature of exported models again, on the clips of the tuning half whose labels are certain.

    python -m Training.export.recalibrate --data DIR --cache DIR MODEL…

The clip shifts stay: at another temperature the best ones differ by a clip. The thresholds depend on the temperature:
`make -C Training thresholds` comes next.
"""

import json
from pathlib import Path

import safetensors.numpy
import torch

from Training.data import command_line, files, recordings
from Training.data.vocabulary import COMMANDS
from Training.export import reference
from Training.model import calibration, scoring


class Exported:
    """The network of a model folder, called as the one in training: logits [n, outputs] of features [n, columns, bands]."""

    def __init__(self, folder):
        self.description = json.loads((folder / "model.json").read_text())
        self.output = self.description["output"]
        names = [layer["name"] for layer in self.description["layers"]]
        self.layers = self.description["layers"][: names.index(self.output) + 1]
        self.weights = safetensors.numpy.load_file(folder / "model.safetensors")

    def eval(self):
        """Has no other mode."""

    def __call__(self, features):
        return reference.outputs_from(self.layers, self.weights, features.double())[self.output][:, :, 0]


def recalibrate(folder, sets, reported):
    """Writes the temperature into model.json; returns it and the figures of `reported` with it."""
    network = Exported(folder)
    description, labels, shift = network.description, network.description["outputLabels"], network.description["clipShifts"]
    logits, of_reported = (scoring.shifted_logits(network, part.clips) for part in (sets, reported))
    temperature = calibration.fit_temperature(lambda t: sets.posteriors(logits, labels, t, shift), sets.truth)
    description["temperature"] = temperature
    files.write_json(folder / "model.json", description)
    return temperature, reported.figures((of_reported, {}), labels, temperature, shift)


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("models", nargs="+", type=Path, help="model folders")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    table = recordings.load_all(options.data, options.cache)
    sets, reported = (scoring.ValidationSets(table, part, COMMANDS) for part in ("tune", "report"))
    for folder in options.models:
        temperature, figures = recalibrate(folder, sets, reported)
        print(f"{folder}: temperature {temperature}; reporting half: {scoring.line(figures)}")


if __name__ == "__main__":
    main()
