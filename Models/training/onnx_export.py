"""Writes a model folder as ONNX and checks it: `python onnx_export.py MODEL OUT.onnx`.

`OUT.onnx` takes waveforms [n, 16000] in [−1, 1]; for a log-mel model, `OUT.features.onnx` beside it takes that front end's
output [n, columns, bands]. Both answer with `posteriors` [n, labels] of a stream's window, in the order of the metadata entry
`labels`, with `clip_posteriors`, a look at a clip, of which the program averages three, and with the network's `logits`. The graph is built from model.json and model.safetensors alone, as Models/FORMAT.md defines them:
what stands there is what runs here, without PyTorch or Swift in between.

Nothing is written unless onnxruntime's logits of the waveforms in reference.safetensors lie within 1e-4 of those stored
there, and the mean of its looks within 1e-4 of what the built program says of the same waveforms.
"""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import safetensors.numpy
import torch
from onnx import TensorProto, helper

import program
import reference
from onnx_graph import Graph, layer, log_mel, waveform
from scores import TURNS

OPSET, IR = 17, 8
TOLERANCE = 1e-4


def leading(layers, output):
    """The layers that lead to the output: those of the activity or of the embedding alone are left out."""
    wanted, kept = {output}, []
    for description in reversed(layers):
        if description["name"] in wanted:
            wanted.update(description.get("inputs", [description.get("input")]))
            kept.insert(0, description)
    return kept


def build(model, weights, from_features):
    """The whole graph; its input is the front end's output if `from_features`, the waveform otherwise."""
    graph, front = Graph(), model["frontEnd"]
    if from_features:
        columns = (model["windowSamples"] - front["frameSamples"]) // front["hopSamples"] + 1
        shape, source = ["n", columns, front["bands"]], "features"
        first = graph.add("Transpose", [source], "front.features", perm=[0, 2, 1])
    else:
        shape, source = ["n", model["windowSamples"]], "waveform"
        mel = front["kind"] == "log-mel"
        first = log_mel(graph, source, front, model["sampleRate"]) if mel else waveform(graph, source, front)
    outcomes = {"input": first}
    for description in leading(model["layers"], model["output"]):
        inputs = description["inputs"] if description["op"] == "add" else [description["input"]]
        outcomes[description["name"]] = layer(graph, description, [outcomes[i] for i in inputs], weights)
    labels, outputs = model["labels"], model["outputLabels"]
    last = [outcomes[model["output"]], graph.constant("logits.axis", [2], np.int64)]
    logits = graph.add("Squeeze", last, "logits")
    grouping = graph.constant("grouping", [[float(output == label) for label in labels] for output in outputs])
    temperature = graph.constant("temperature", model["temperature"])
    shift = model.get("clipShifts", [0.0] * len(outputs))
    shifted = graph.add("Sub", [logits, graph.constant("clip.shift", shift)], "clip.logits")
    for given, name in ((logits, "posteriors"), (shifted, "clip_posteriors")):
        x = graph.add("Div", [given, temperature], f"{name}.calibrated")
        x = graph.add("Softmax", [x], f"{name}.probabilities", axis=1)
        graph.add("MatMul", [x, grouping], name)
    answers = [(name, ["n", len(labels)]) for name in ("posteriors", "clip_posteriors")] + [
        ("logits", ["n", len(outputs)])
    ]
    proto = helper.make_graph(
        graph.nodes,
        model["name"],
        [helper.make_tensor_value_info(source, TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, size) for name, size in answers],
        graph.constants,
    )
    whole = helper.make_model(proto, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    whole.producer_name = "beckon"
    helper.set_model_props(whole, {"labels": json.dumps(labels), "sampleRate": str(model["sampleRate"])})
    onnx.checker.check_model(whole, full_check=True)
    return whole


def answers(proto, inputs):
    """onnxruntime's posteriors of clips and logits, one input at a time, as a detector would ask."""
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(proto.SerializeToString(), settings, ["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    runs = [session.run(["clip_posteriors", "logits"], {name: row[None]}) for row in inputs]
    return [np.concatenate(part) for part in zip(*runs)]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "model", type=Path, help="model folder with model.json, model.safetensors, reference.safetensors"
    )
    parser.add_argument("out", type=Path, help="ONNX file to write")
    built = Path(__file__).resolve().parents[2] / ".build/release/beckon"
    parser.add_argument("--beckon", default=built, help="the program to compare with (default: the release build)")
    options = parser.parse_args()
    try:
        model = json.loads((options.model / "model.json").read_text())
        weights = safetensors.numpy.load_file(options.model / "model.safetensors")
        stored = safetensors.numpy.load_file(options.model / "reference.safetensors")
        waves = (stored["waveforms"].astype(np.float64) - 128) / 128 * stored["gains"].astype(np.float64)[:, None]
    except OSError as error:
        sys.exit(f"{error.filename or options.model}: {error.strerror or error}")
    except KeyError as error:
        sys.exit(f"{options.model / 'reference.safetensors'}: holds no {error}")
    with tempfile.TemporaryDirectory() as folder:
        paths = program.write_clips(folder, waves.astype(np.float32))
        heard = program.posteriors(options.beckon, options.model, paths, model["labels"], precision="float")

    forms = [(options.out, False, waves)]
    if model["frontEnd"]["kind"] == "log-mel":
        forms.append((options.out.with_suffix(".features.onnx"), True, waves))
    protos, differences = [], []
    for path, from_features, inputs in forms:
        protos.append(build(model, weights, from_features))
        looks = []
        for turn in (0, *TURNS):  # as it is stored, and as the program hears a clip
            turned = np.roll(inputs, -turn, axis=1)
            if from_features:
                turned = reference.log_mel(torch.from_numpy(turned), model["frontEnd"]).numpy()
            looks.append(answers(protos[-1], turned.astype(np.float32)))
        posteriors, logits = np.mean([look[0] for look in looks[1:]], axis=0), looks[0][1]
        differences += [np.abs(logits - stored["logits"]).max(), np.abs(posteriors - heard).max()]
        print(
            f"{path}: {len(waves)} waveforms, largest difference {differences[-2]:.1e} in a stored logit (of up to "
            f"{np.abs(stored['logits']).max():.1f}), {differences[-1]:.1e} in a posterior of the program (of four decimals)"
        )
    worst = np.max(differences)
    if not worst <= TOLERANCE:  # not a number fails too
        sys.exit(f"nothing written: the largest difference, {worst:.1e}, is above {TOLERANCE:.0e}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for (path, _, _), proto in zip(forms, protos):
        part = path.with_name(path.name + ".part")
        part.write_bytes(proto.SerializeToString())
        os.replace(part, path)


if __name__ == "__main__":
    main()
