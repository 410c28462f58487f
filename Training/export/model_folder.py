"""Writes trained networks as one model folder: model.json, model.safetensors, reference.safetensors and its card.

    python -m Training.export.model_folder --data DIR --cache DIR --out MODEL CHECKPOINT…

The weights of several checkpoints are averaged, which works if all started from the same one. Clip shifts, temperature and
thresholds are fitted on the tuning half of the validation speakers, and the card reports the other half.
"""

import dataclasses
from pathlib import Path

import numpy as np
import torch

from Training.augment import render
from Training.data import command_line, files, log_mel, validation_sets
from Training.data.audio import HOP, RATE, WINDOW
from Training.data.seeding import generator as seeded
from Training.evaluate import no_words
from Training.evaluate.held_out import HeldOut
from Training.export import card, model_weights, ranges, reference
from Training.model import calibration, voice_activity
from Training.model.network import load_checkpoint
from Training.model.scoring import LEAD, ValidationSets, clip_prior, shifted_logits

# Inputs in reference.safetensors, and those of them whose features are stored.
INPUTS, FEATURES = 40, 4


def averaged(paths, outputs):
    """The network whose weights are the mean of those of several checkpoints."""
    networks = [load_checkpoint(path, len(outputs)) for path in paths]
    states = [network.state_dict() for network in networks]
    mean = {key: sum(state[key].double() for state in states) / len(states) for key in states[0]}
    networks[0].load_state_dict({key: value.to(states[0][key].dtype) for key, value in mean.items()})
    return networks[0]


def description(name, labels, streaming, front_end, layers, **rest):
    """A model.json; `rest` is added after what every model has."""
    return {
        "format": "beckon-model",
        "version": 1,
        "name": name,
        "labels": labels,
        "sampleRate": RATE,
        "windowSamples": WINDOW,
        "hopSamples": HOP,
        "streaming": streaming,
        "frontEnd": front_end,
        "layers": layers,
        "output": "logits",
    } | rest


def activity_of(model, weights, examples, earlier):
    """The voice-activity output: that of the model folder `earlier`, where its first block is the same, else a new one."""
    activity = None if earlier is None else voice_activity.of_model(model_weights.load(earlier), weights)
    return voice_activity.train(model, examples) if activity is None else activity


@dataclasses.dataclass
class Judges:
    """What a network is calibrated on, of part `tune`, and what its figures are of, of part `report`.

    `wordless` are waveforms [n, 16000] without a word, `others` of other words, both of part `tune`.
    """

    tune: ValidationSets
    report: ValidationSets
    wordless: np.ndarray
    others: np.ndarray


def judges_of(table, commands):
    """The Judges among the recordings of a table, for these commands."""
    tune, report = (ValidationSets(table, part, commands) for part in ("tune", "report"))
    wordless = no_words.babble_and_music(table, HeldOut(table, "tune", commands))
    return Judges(tune, report, wordless, validation_sets.all_other_words(table, "tune"))


def calibrated(model, examples, judges, temperature=None):
    """The numbers of `model.json` that are fitted, by their names there; the pair of clip shifts; and the figures of part `report`.

    `temperature` is that of streams, in place of a fitted one, which would move every threshold.
    """
    output_labels = examples.output_labels()
    prior_of = lambda words, other: clip_prior(examples, words, other)
    logits = judges.tune.logits(model)
    of_wordless, of_others = shifted_logits(model, judges.wordless), shifted_logits(model, judges.others)
    pair, of_clips, fitted = calibration.calibrate(judges.tune, logits, of_wordless, of_others, output_labels, prior_of)
    temperature, prior = temperature or fitted, prior_of(*pair)
    figures = judges.report.figures(judges.report.logits(model), output_labels, (of_clips, temperature), prior)
    in_stream = lambda part: judges.tune.posteriors(part, output_labels, temperature)
    negatives = [in_stream(part) for part in logits[1].values()]
    thresholds = calibration.fit_thresholds(in_stream(logits[0]), judges.tune.truth, negatives, list(examples.commands))
    least, most = log_mel.CLIP_CONTRAST
    numbers = {
        "temperature": temperature,
        "clipTemperature": of_clips,
        "clipShifts": [float(value) for value in prior.shift],
        "clipContrast": {"from": least, "to": most, "over": prior.over, "lead": LEAD},
        "thresholds": thresholds,
    }
    return numbers, pair, figures


def write(folder, history, model, examples, judges, earlier=None, temperature=None):
    """Calibrates the network and writes its folder.

    `history` is a sentence or more for the card; `earlier` is the folder of the model before, whose gate should not change without need.
    """
    model.eval()
    folder.mkdir(parents=True, exist_ok=True)
    name, output_labels = folder.resolve().name, examples.output_labels()
    numbers, pair, figures = calibrated(model, examples, judges, temperature)
    layers, weights = model.described()
    activity = activity_of(model, weights, examples, earlier)
    figures["activity"] = voice_activity.accuracy(activity, model, examples)
    activity_layers, activity_weights = activity.described("block1")
    weights |= activity_weights
    outputs = {"embedding": "embedding", "activity": "activity", "outputLabels": output_labels}
    model_json = description(
        name, judges.tune.labels, True, log_mel.description(), layers + activity_layers, **outputs, **numbers
    )
    weights = {tensor: np.ascontiguousarray(value, np.float32) for tensor, value in weights.items()}
    weights = model_weights.in_bytes(model_json["layers"], weights)
    files.write_json(folder / "model.json", model_json)
    model_weights.save(folder, weights)
    difference = write_reference(folder, model_json, weights, model)
    temperatures = numbers["clipTemperature"], numbers["temperature"]
    parameters = sum(value.size for name, value in weights.items() if not name.endswith(".step"))
    text = card.commands_card(name, history, list(examples.commands), figures, temperatures, pair, parameters)
    (folder / "README.md").write_text(text)
    print(
        f"{folder}: unknown shifted by {pair}, temperatures {temperatures} of clips and of streams, exported network within {difference:.1e} of the "
        "trained one"
    )
    print("  ".join(f"{key} {value:.3f}" for key, value in figures.items()))


def write_reference(folder, model_json, weights, model):
    """Writes random inputs and PyTorch's answers; returns the largest difference from the network as it was trained."""
    waves, gains = reference.make_inputs(seeded("reference inputs"), INPUTS)
    samples = torch.from_numpy(reference.as_samples(waves, gains))
    outputs = reference.layer_outputs(model_json, weights, samples)
    features, logits = outputs["input"].transpose(1, 2).numpy(), outputs["logits"][:, :, 0].numpy()
    reference.save_tensors(
        folder / "reference.safetensors",
        {
            "waveforms": waves,
            "gains": gains,
            "logits": logits.astype(np.float32),
            "features": features[:FEATURES].astype(np.float32),
            "activity": outputs["activity"][:, 0].numpy().astype(np.float32),
        },
    )
    with torch.no_grad():
        trained = model(torch.from_numpy(features.astype(np.float32))).numpy()
    return float(np.abs(trained - logits).max())


def main(arguments=None):
    parser = command_line.parser(__doc__)
    command_line.add_words(parser)
    parser.add_argument("--out", required=True, help="model folder to write")
    parser.add_argument("--history", default="", help="how the network was trained: sentences for the card")
    parser.add_argument("--earlier", type=Path, help="model folder whose voice-activity output and int8 ranges stay, where the layers are the same")
    parser.add_argument("--temperature", type=float, help="temperature of streams, in place of the fitted one")
    parser.add_argument("checkpoints", nargs="+", help="checkpoints of model/train.py")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    table, examples = render.load_examples(options.data, options.cache, options.words)
    model = averaged(options.checkpoints, examples.outputs)
    folder = Path(options.out)
    write(folder, options.history, model, examples, judges_of(table, examples.commands), options.earlier, options.temperature)
    ranges.write(folder, table, earlier=options.earlier)


if __name__ == "__main__":
    main()
