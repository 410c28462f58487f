"""Writes a trained network as a model folder: model.json, model.safetensors, reference.safetensors and its card."""

import datetime
import json
from pathlib import Path

import numpy as np
import torch

import frontend
import reference
import validation
from examples import SILENCE, SYNTHETIC_FROM, UNKNOWN


def layers(model):
    """The network as model.json's layers, and its weights by tensor name."""
    out, weights = [], {}

    def conv(name, source, part, relu):
        kernel, bias = (t.detach().numpy() for t in part.folded())
        weights[name + ".weight"], weights[name + ".bias"] = kernel.transpose(0, 2, 1).copy(), bias
        out.append(
            {
                "op": "conv1d",
                "name": name,
                "input": source,
                "in": kernel.shape[1],
                "out": kernel.shape[0],
                "kernel": kernel.shape[2],
                "stride": part.conv.stride[0],
                "activation": "relu" if relu else "none",
            }
        )
        return name

    last = conv("stem", "input", model.stem, True)
    for number, block in enumerate(model.blocks, 1):
        name = f"block{number}"
        first = conv(f"{name}.first", last, block.first, True)
        second = conv(f"{name}.second", first, block.second, False)
        out.append({"op": "crop", "name": f"{name}.crop", "input": last, "start": block.crop, "end": block.crop})
        skip = conv(f"{name}.skip", f"{name}.crop", block.skip, False)
        out.append({"op": "add", "name": name, "inputs": [second, skip], "activation": "relu"})
        last = name
    head = conv("head", last, model.head, True)
    out.append({"op": "mean", "name": "embedding", "input": head, "columns": 2})
    dense = model.logits
    weights["logits.weight"], weights["logits.bias"] = (t.detach().numpy() for t in (dense.weight, dense.bias))
    out.append(
        {"op": "dense", "name": "logits", "input": "embedding", "in": dense.in_features, "out": dense.out_features}
    )
    return out, weights


def fit_shift(probabilities, truth, output_labels, labels, allowed=1.0):
    """How much to take off the logits of all unknown outputs.

    A pass holds far more of what is no command than the world of commands does, and so the network leans towards
    unknown. The shift is the largest that costs at most `allowed` points of the unknown clips' accuracy.
    """
    unknown = np.array([label == UNKNOWN for label in output_labels])

    def accuracy(shift):
        shifted = probabilities * np.where(unknown, np.exp(-shift), 1)
        return validation.accuracy(validation.grouped(shifted, output_labels, labels), truth)["unknown"]

    least = accuracy(0) - allowed
    return max(shift for shift in np.arange(0, 3.01, 0.25) if accuracy(shift) >= least)


def fit_temperature(score, truth):
    """The temperature with the least negative log-likelihood; score(t) gives posteriors at that temperature."""

    def cost(t):
        return -np.log(score(t)[np.arange(len(truth)), truth] + 1e-9).mean()

    grid = np.exp(np.linspace(np.log(0.3), np.log(3), 60))
    return float(round(min(grid, key=cost), 3))


def thresholds(clips, truth, negatives, commands, allowed=0.001):
    """For each word the least threshold in 0.75 … 0.9 at which at most the allowed share of windows that do not hold it
    (other clips, running speech, parts of words, sounds) reaches it, and the word's recall on clips there."""
    chosen, recall = {}, {}
    for index, word in enumerate(commands):
        scores = np.concatenate([clips[truth != index, index]] + [n[:, index] for n in negatives])
        grid = np.arange(0.75, 0.901, 0.01)
        chosen[word] = float(round(next((t for t in grid if (scores >= t).mean() <= allowed), grid[-1]), 2))
        recall[word] = float((clips[truth == index, index] >= chosen[word]).mean())
    return chosen, recall


def write(options, model, examples, sets, mean, deviation):
    """Calibrates on the validation sets and writes the folder `options.out`."""
    from train import probabilities

    model.eval()
    folder = Path(options.out)
    folder.mkdir(parents=True, exist_ok=True)
    output_labels, commands = examples.output_labels(), list(examples.commands)
    labels = commands + [UNKNOWN, SILENCE]

    def score(waves, t):
        return validation.grouped(probabilities(model, waves, mean, deviation, t), output_labels, labels)

    shift = fit_shift(probabilities(model, sets.clips, mean, deviation), sets.truth, output_labels, labels)
    with torch.no_grad():
        model.logits.bias -= shift * torch.tensor([float(label == UNKNOWN) for label in output_labels])
    temperature = fit_temperature(lambda t: score(sets.clips, t), sets.truth)
    clips = score(sets.clips, temperature)
    negatives = [score(waves, temperature) for waves in sets.negatives.values()]
    chosen, recall = thresholds(clips, sets.truth, negatives, commands)
    description_layers, weights = layers(model)
    description = {
        "format": "beckon-model",
        "version": 1,
        "name": options.name,
        "labels": labels,
        "sampleRate": 16000,
        "windowSamples": 16000,
        "hopSamples": 1600,
        "streaming": True,
        "frontEnd": frontend.description(mean, deviation),
        "layers": description_layers,
        "output": "logits",
        "embedding": "embedding",
        "outputLabels": output_labels,
        "temperature": temperature,
        "thresholds": chosen,
    }
    weights = {name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}
    text = json.dumps(description, indent=1)
    (folder / "model.json").write_text(text + "\n")
    reference.save_tensors(folder / "model.safetensors", weights)
    check = write_reference(folder, description, weights, model)
    report = sets.report(model, mean, deviation, output_labels, temperature)
    parameters = sum(value.size for value in weights.values())
    (folder / "README.md").write_text(card(options, examples, report, recall, chosen, temperature, shift, parameters))
    print(
        f"{folder}: unknown shifted by {shift}, temperature {temperature}, exported network within {check:.1e} of the trained one"
    )
    print("  ".join(f"{key} {value:.3f}" for key, value in report.items()))


def write_reference(folder, description, weights, model):
    """100 random inputs and what PyTorch answers; returns the worst difference from the network as it was trained."""
    waves, gains = reference.make_waves(np.random.default_rng(100), 100)
    samples = torch.from_numpy((waves.astype(np.float64) - 128) / 128 * gains.astype(np.float64)[:, None])
    features, logits = reference.run(description, weights, samples)
    reference.save_tensors(
        folder / "reference.safetensors",
        {
            "waveforms": waves,
            "gains": gains,
            "logits": logits.astype(np.float32),
            "features": features[:4].astype(np.float32),
        },
    )
    with torch.no_grad():
        trained = model(torch.from_numpy(features.astype(np.float32)).transpose(1, 2)).numpy()
    return float(np.abs(trained - logits).max())


def card(options, examples, report, recall, chosen, temperature, shift, parameters):
    words = "\n".join(f"| {word} | {chosen[word]:.2f} | {100 * recall[word]:.1f} |" for word in chosen)
    return f"""# Model card: {options.name}

Ten English command words — {", ".join(examples.commands)} — beside `_unknown_` (other speech) and `_silence_`. One second of
16 kHz audio in, one posterior a label out, every 100 ms. A temporal CNN of valid convolutions on log-mel columns;
{parameters:,} parameters. The layers stand in `model.json`; `Models/FORMAT.md` explains it.

Trained on {datetime.date.today().isoformat()} by

    make model DATA=<folder of recordings>

with {options.passes} passes, batch {options.batch}, seed {options.seed}: synthetic words join after pass {SYNTHETIC_FROM}.
Afterwards {shift} was taken off the logits of all unknown outputs. The figures below are printed by the same command
at its end.

## Measured on validation speakers, none of whom was trained on

| | |
|---|---|
| 12 classes, all clips | {report["all"]:.2f} % |
| the ten words | {report["words"]:.2f} % |
| unknown (other words, 10 % of the clips) | {report["unknown"]:.2f} % |
| silence (background recordings, 10 % of the clips) | {report["silence"]:.2f} % |
| expected calibration error, 15 bins, temperature {temperature} | {report["ece"]:.4f} |
| windows of running speech that reach 0.8 for a word | {report["running@0.8"]:.2f} % |
| last 25–55 % of a command word alone, that reach 0.8 for a word | {report["tails@0.8"]:.2f} % |
| environmental sounds that reach 0.8 for a word | {report["sounds@0.8"]:.2f} % |

Default thresholds: for each word the least one in 0.75 … 0.90 at which at most 0.1 % of windows without that word reach it;
beside it the share of the word's validation clips that do.

| word | threshold | clips at or above it, % |
|---|---|---|
{words}

## Data and licences

Speech Commands v0.01 (Pete Warden, Google; CC BY 4.0), training partition, for the words and their background noise;
ESC-10 environmental sounds (K. J. Piczak; CC BY 3.0); utterances of LibriSpeech (CC BY 4.0); spoken coffee orders and other
wake words from the Picovoice benchmarks (Apache-2.0); short recordings from Honk (MIT); words spoken by espeak-ng and flite,
some near the commands, some from everyday speech ("front", "rear", "center" among them). The shift, the temperature and the
thresholds were fitted on the validation partition. The testing partition was not used.

## Limits

Mostly adult speakers of North American English at arm's length from a microphone. Children, strong accents and far
microphones are thinly covered. Only seven other words were there in numbers, so an unusual word that sounds like a
command may be taken for it; running speech does so now and then. Not for anything where a wrong or a missed word harms.
"""
