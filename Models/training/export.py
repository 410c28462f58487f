"""Writes trained networks as one model folder: model.json, model.safetensors, reference.safetensors and its card.

    python export.py --data DIR --runs RUNS --out Models/commands CHECKPOINT…

The weights of several checkpoints are averaged, which needs that they began with the same one. What is shipped is fitted on
the validation sets: the shifts of the unknown logits, the temperature, the thresholds.
"""

import argparse
import datetime
import json
from pathlib import Path

import numpy as np
import torch

import activity
import bank
import frontend
import ranges
import reference
import teaching
import validation
from examples import COMMANDS, HELD_OUT
from scores import Sets, shifts


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


def fit_shifts(accuracy):
    """How much to take off the logits of single other words, and off that of all the rest.

    A pass holds far more of what is no command than the clips of the task do, and so the network leans towards unknown. The
    shifts are those with the best `accuracy(words, other)`, the least of such.
    """
    grid = [(words / 2, other / 2) for words in range(7) for other in range(9)]
    return max(grid, key=lambda pair: (accuracy(*pair), -sum(pair)))


def fit_temperature(score, truth):
    """The temperature with the least negative log-likelihood; score(t) gives posteriors at that temperature."""

    def cost(t):
        return -np.log(score(t)[np.arange(len(truth)), truth] + 1e-9).mean()

    grid = np.exp(np.linspace(np.log(0.3), np.log(3), 60))
    return float(round(min(grid, key=cost), 3))


def thresholds(clips, truth, negatives, commands, allowed=0.001):
    """For each word the least threshold in 0.6 … 0.95 at which at most the allowed share of windows that do not hold it
    (other clips, running speech, parts of words, sounds) reaches it. All posteriors as in a stream."""
    chosen = {}
    for index, word in enumerate(commands):
        scores = np.concatenate([clips[truth != index, index]] + [n[:, index] for n in negatives])
        grid = np.arange(0.6, 0.951, 0.01)
        chosen[word] = float(round(next((t for t in grid if (scores >= t).mean() <= allowed), grid[-1]), 2))
    return chosen


def write(folder, name, history, model, examples, sets):
    """Calibrates on the validation sets and writes the folder; `history` says in the card how the network came about."""
    model.eval()
    folder.mkdir(parents=True, exist_ok=True)
    output_labels, commands = examples.output_labels(), list(examples.commands)
    logits = sets.logits(model)

    shift, temperature = shifts(examples, 1, 1), 1.0
    for _ in range(3):  # each depends on the other
        temperature = fit_temperature(lambda t: sets.posteriors(logits[0], output_labels, t, shift), sets.truth)
        clips = lambda *pair: sets.posteriors(logits[0], output_labels, temperature, shifts(examples, *pair))
        right = lambda *pair: validation.accuracy(clips(*pair), sets.truth, commands)
        pair = fit_shifts(lambda *pair: right(*pair)["all"] + right(*pair)["words"])
        shift = shifts(examples, *pair)
    report = sets.figures(logits, output_labels, temperature, shift)
    stream = lambda part: sets.posteriors(part, output_labels, temperature)
    chosen = thresholds(stream(logits[0]), sets.truth, [stream(part) for part in logits[1].values()], commands)
    voice, report["activity"] = activity.train(model, examples)
    description_layers, weights = layers(model)
    voice_layers, voice_weights = activity.layers(voice, "block1")
    weights |= voice_weights
    description = {
        "format": "beckon-model",
        "version": 1,
        "name": name,
        "labels": sets.labels,
        "sampleRate": 16000,
        "windowSamples": 16000,
        "hopSamples": 1600,
        "streaming": True,
        "frontEnd": frontend.description(),
        "layers": description_layers + voice_layers,
        "output": "logits",
        "embedding": "embedding",
        "activity": "activity",
        "outputLabels": output_labels,
        "temperature": temperature,
        "clipShifts": [float(value) for value in shift],
        "thresholds": chosen,
    }
    weights = {name: np.ascontiguousarray(value, np.float32) for name, value in weights.items()}
    text = json.dumps(description, indent=1)
    (folder / "model.json").write_text(text + "\n")
    reference.save_tensors(folder / "model.safetensors", weights)
    check = write_reference(folder, description, weights, model)
    parameters = sum(value.size for value in weights.values())
    (folder / "README.md").write_text(card(name, history, examples, report, temperature, pair, parameters))
    print(
        f"{folder}: unknown shifted by {pair}, temperature {temperature}, exported network within {check:.1e} of the trained one"
    )
    print("  ".join(f"{key} {value:.3f}" for key, value in report.items()))


def write_reference(folder, description, weights, model):
    """100 random inputs and what PyTorch answers; returns the worst difference from the network as it was trained."""
    waves, gains = reference.make_waves(np.random.default_rng(100), 100)
    samples = torch.from_numpy((waves.astype(np.float64) - 128) / 128 * gains.astype(np.float64)[:, None])
    made = reference.outcomes(description, weights, samples)
    features, logits = made["input"].transpose(1, 2).numpy(), made["logits"][:, :, 0].numpy()
    reference.save_tensors(
        folder / "reference.safetensors",
        {
            "waveforms": waves,
            "gains": gains,
            "logits": logits.astype(np.float32),
            "features": features[:4].astype(np.float32),
            "activity": made["activity"][:, 0].numpy().astype(np.float32),
        },
    )
    with torch.no_grad():
        trained = model(torch.from_numpy(features.astype(np.float32))).numpy()
    return float(np.abs(trained - logits).max())


def card(name, history, examples, report, temperature, pair, parameters):
    names = {
        "all": "all clips, 12 classes, %",
        "words": "the command words, %",
        "unknown": "unknown (other words, 10 % of the clips), %",
        "silence": "silence (background recordings, 10 % of the clips), %",
        "ece": f"expected calibration error, 15 bins, temperature {temperature}",
        "running@0.8": "windows of running speech that reach 0.8 for a word, %",
        "tails@0.8": "last 25–55 % of a command word alone, that reach 0.8 for a word, %",
        "sounds@0.8": "environmental sounds that reach 0.8 for a word, %",
        "unheard@0.8": f"words never trained on ({', '.join(HELD_OUT)}) that reach 0.8 for a word, %",
        "activity": "steps of 25 ms of words, speech and noise of which the voice-activity output is right, %",
        "auroc": "commands against these words, by the largest command posterior: AUROC",
    }
    digits = lambda key: 4 if key in ("ece", "auroc") else 2
    figures = "\n".join(f"| {text} | {report[key]:.{digits(key)}f} |" for key, text in names.items() if key in report)
    return f"""# Model card: {name}

Command words — {", ".join(examples.commands)} — beside `_unknown_` (other speech) and `_silence_`. One second of
16 kHz audio in, one posterior a label out, every 100 ms. A temporal CNN of valid convolutions on log-mel columns;
{parameters:,} parameters. The layers stand in `model.json`; `Models/FORMAT.md` explains it.

Made on {datetime.date.today().isoformat()} as `Models/training/README.md` describes. {history} The figures below are printed by
`make export`. Clips are heard four times, as `beckon classify --clips` hears them, with {pair[0]:g} taken off the logits of
single other words and {pair[1]:g} off that of all other speech: among clips most are commands, in a stream hardly anything is, and there the network answers as it was trained.

## Measured on validation speakers, none of whom was trained on

| | |
|---|---|
{figures}

## Data and licences

Speech Commands v0.01 (Pete Warden, Google; CC BY 4.0), training partition, for the words and their background noise;
pictures of log-mel features of v0.02 clips, likewise; ESC-10 environmental sounds (K. J. Piczak; CC BY 3.0); utterances of
LibriSpeech (CC BY 4.0); spoken coffee orders and other wake words from the Picovoice benchmarks (Apache-2.0); short recordings
from Honk (MIT); words spoken by espeak-ng and flite, some near the commands, some from everyday speech ("front", "rear",
"center" among them); words and sentences read by the voices of hibari-tts and of Kokoro (Apache-2.0). The shifts, the temperature and the thresholds were fitted on the validation partition. The testing
partition was not used.

## Limits

Mostly adult speakers of North American English at arm's length from a microphone. Children, strong accents and far
microphones are thinly covered. An unusual word that sounds like a command may be taken for it; running speech does so now
and then. Not for anything where a wrong or a missed word harms.
"""


def averaged(paths, outputs):
    """The network whose weights are the mean of those of several checkpoints."""
    networks = [teaching.load(path, len(outputs)) for path in paths]
    states = [network.state_dict() for network in networks]
    mean = {key: sum(state[key].double() for state in states) / len(states) for key in states[0]}
    networks[0].load_state_dict({key: value.to(states[0][key].dtype) for key, value in mean.items()})
    return networks[0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, action="append", help="folder of recordings; may be repeated")
    parser.add_argument("--runs", required=True, help="folder of the recordings' cache")
    parser.add_argument("--words", default=" ".join(COMMANDS), help="the words that shall fire")
    parser.add_argument("--out", required=True, help="model folder to write")
    parser.add_argument("--history", default="", help="how the network came about: sentences for the card")
    parser.add_argument("checkpoints", nargs="+", help="checkpoints of train.py")
    options = parser.parse_args()
    torch.set_num_threads(1)
    table, examples = bank.load_examples(options.data, options.runs, options.words.split())
    model = averaged(options.checkpoints, examples.outputs)
    folder = Path(options.out)
    write(folder, folder.resolve().name, options.history, model, examples, Sets(table, examples.commands))
    ranges.write(folder, table)


if __name__ == "__main__":
    main()
