"""Writes a model folder as ONNX and checks it.

    python -m Training.export.onnx_model --beckon BINARY MODEL OUT.onnx

`OUT.onnx` takes waveforms [n, 16000] in [−1, 1]; for a log-mel model, `OUT.features.onnx` takes that front end's output
[n, columns, bands]. Both have three outputs: `posteriors` [n, labels] of a stream's window, in the order of the metadata entry
`labels`; `clip_posteriors` [n, labels] of one time shift of a clip, of which the program averages four; and the network's
`logits` [n, outputs]. The graph is built from model.json and model.safetensors alone, as Models/FORMAT.md defines them.

Nothing is written unless onnxruntime's logits of the waveforms in reference.safetensors are within 1e-4 of the stored ones, and
the mean posterior over the time shifts within 1e-4 of the program's.
"""

import json
import sys
import tempfile
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import safetensors.numpy
import torch
from onnx import TensorProto, helper

from Training.data import command_line
from Training.data.files import replacing
from Training.data.vocabulary import SILENCE, UNKNOWN
from Training.evaluate import program
from Training.export import model_weights, reference
from Training.export.onnx_graph import Graph, background, lacking, layer, log_mel, waveform
from Training.model.scoring import TIME_SHIFTS

OPSET, IR = 17, 8
TOLERANCE = 1e-4


def layers_before(layers, output):
    """The layers that `output` depends on, without those of the activity or the embedding alone."""
    wanted, kept = {output}, []
    for description in reversed(layers):
        if description["name"] in wanted:
            wanted.update(description.get("inputs", [description.get("input")]))
            kept.insert(0, description)
    return kept


def columns_of(model):
    """Columns of a log-mel model's window."""
    return (model["windowSamples"] - model["frontEnd"]["frameSamples"]) // model["frontEnd"]["hopSamples"] + 1


def build(model, weights, from_features):
    """The whole graph; its input is the front end's output if `from_features`, else the waveform."""
    graph, front = Graph(), model["frontEnd"]
    if from_features:
        shape, source = ["n", columns_of(model), front["bands"]], "features"
        first = graph.add("Transpose", [source], "front.features", perm=[0, 2, 1])
    else:
        shape, source = ["n", model["windowSamples"]], "waveform"
        is_mel = front["kind"] == "log-mel"
        first = log_mel(graph, source, front, model["sampleRate"]) if is_mel else waveform(graph, source, front)
    outputs = {"input": first}
    for description in layers_before(model["layers"], model["output"]):
        inputs = description["inputs"] if description["op"] == "add" else [description["input"]]
        outputs[description["name"]] = layer(graph, description, [outputs[i] for i in inputs], weights)
    labels, output_labels = model["labels"], model["outputLabels"]
    last = [outputs[model["output"]], graph.constant("logits.axis", [2], np.int64)]
    logits = graph.add("Squeeze", last, "logits")
    grouping = graph.constant("grouping", [[float(output == label) for label in labels] for output in output_labels])
    temperature = graph.constant("temperature", model["temperature"])
    of_clips = graph.constant("clip.temperature", model.get("clipTemperature", model["temperature"]))
    shifts = model.get("clipShifts", [0.0] * len(output_labels))
    shift = graph.constant("clip.shift", shifts)
    if "clipContrast" in model:
        words = [label not in (UNKNOWN, SILENCE) for label in output_labels]
        absent = background(graph, first, front, model["clipContrast"], columns_of(model))
        lacks = graph.add("Mul", [absent, lacking(graph, logits, words, model["clipContrast"])], "clip.lacking")
        shift = graph.add("Add", [shift, graph.add("Mul", [lacks, graph.constant("clip.words", words)], "clip.of_words")], "clip.applied")
    shifted = graph.add("Sub", [logits, shift], "clip.logits")
    for given, divisor, name in ((logits, temperature, "posteriors"), (shifted, of_clips, "clip_posteriors")):
        x = graph.add("Div", [given, divisor], f"{name}.calibrated")
        x = graph.add("Softmax", [x], f"{name}.probabilities", axis=1)
        graph.add("MatMul", [x, grouping], name)
    sizes = {"posteriors": len(labels), "clip_posteriors": len(labels), "logits": len(output_labels)}
    proto = helper.make_graph(
        graph.nodes,
        model["name"],
        [helper.make_tensor_value_info(source, TensorProto.FLOAT, shape)],
        [helper.make_tensor_value_info(name, TensorProto.FLOAT, ["n", size]) for name, size in sizes.items()],
        graph.constants,
    )
    whole = helper.make_model(proto, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=IR)
    whole.producer_name = "beckon"
    helper.set_model_props(whole, {"labels": json.dumps(labels), "sampleRate": str(model["sampleRate"])})
    onnx.checker.check_model(whole, full_check=True)
    return whole


def answers(proto, inputs):
    """onnxruntime's clip posteriors [n, labels] and logits [n, outputs], one input at a time as in a detector."""
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(proto.SerializeToString(), settings, ["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    runs = [session.run(["clip_posteriors", "logits"], {name: row[None]}) for row in inputs]
    return [np.concatenate(part) for part in zip(*runs)]


def load(folder):
    """model.json, the weights, the stored answers and the waveforms [n, 16000] of a model folder."""
    try:
        model = json.loads((folder / "model.json").read_text())
        weights = model_weights.load(folder)
        stored = safetensors.numpy.load_file(folder / "reference.safetensors")
        return model, weights, stored, reference.as_samples(stored["waveforms"], stored["gains"])
    except OSError as error:
        sys.exit(f"{error.filename or folder}: {error.strerror or error}")
    except KeyError as error:
        sys.exit(f"{folder / 'reference.safetensors'}: has no {error}")


def time_shifted_answers(proto, model, waves, from_features):
    """Logits of the waveforms as they are stored, and the mean clip posterior over the time shifts."""
    runs = []
    for shift in (0, *TIME_SHIFTS):
        inputs = np.roll(waves, -shift, axis=1)
        if from_features:
            inputs = reference.log_mel(torch.from_numpy(inputs), model["frontEnd"]).numpy()
        runs.append(answers(proto, inputs.astype(np.float32)))
    return runs[0][1], np.mean([posteriors for posteriors, _ in runs[1:]], axis=0)


def main(arguments=None):
    parser = command_line.parser(__doc__, data=False)
    parser.add_argument("--beckon", required=True, help="the built program, to compare with")
    parser.add_argument("model", type=Path, help="model folder with reference.safetensors")
    parser.add_argument("out", type=Path, help="ONNX file to write")
    options = parser.parse_args(arguments)
    model, weights, stored, waves = load(options.model)
    with tempfile.TemporaryDirectory() as folder:
        paths = program.write_clips(folder, waves.astype(np.float32))
        expected = program.posteriors(options.beckon, options.model, paths, model["labels"], precision="float")

    forms = [(options.out, False)]
    if model["frontEnd"]["kind"] == "log-mel":
        forms.append((options.out.with_suffix(".features.onnx"), True))
    protos, differences = [], []
    for path, from_features in forms:
        protos.append(build(model, weights, from_features))
        logits, posteriors = time_shifted_answers(protos[-1], model, waves, from_features)
        differences += [np.abs(logits - stored["logits"]).max(), np.abs(posteriors - expected).max()]
        print(
            f"{path}: {len(waves)} waveforms, largest difference {differences[-2]:.1e} in a stored logit (of up to "
            f"{np.abs(stored['logits']).max():.1f}), {differences[-1]:.1e} in a posterior of the program (of four decimals)"
        )
    worst = np.max(differences)
    if not worst <= TOLERANCE:  # also if it is not a number
        sys.exit(f"nothing written: the largest difference, {worst:.1e}, is above {TOLERANCE:.0e}")
    options.out.parent.mkdir(parents=True, exist_ok=True)
    for (path, _), proto in zip(forms, protos):
        with replacing(path) as part:
            onnx.save(proto, part)


if __name__ == "__main__":
    main()
