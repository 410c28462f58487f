"""A model folder's network, from the front end's columns to logits and activity logits, as ONNX, PyTorch and TensorFlow.

Each has the layout that is fastest in its runtime, channels before columns or after. The weights of a dense layer behind a
`flatten` are reordered accordingly, so that nothing is transposed at run time.
"""

import json

import numpy as np
import safetensors.numpy


class Network:
    """The description in model.json, and its weights as arrays."""

    def __init__(self, description, weights, columns, channels):
        self.description, self.weights, self.columns, self.channels = description, weights, columns, channels
        self.layers = description["layers"]
        self.outputs = [description[key] for key in ("output", "activity") if key in description]
        self.logits = len(description["outputLabels"])

    @classmethod
    def load(cls, folder):
        description = json.loads((folder / "model.json").read_text())
        weights = safetensors.numpy.load_file(folder / "model.safetensors")
        front = description["frontEnd"]
        if front["kind"] == "log-mel":
            columns = (description["windowSamples"] - front["frameSamples"]) // front["hopSamples"] + 1
            return cls(description, weights, columns, front["bands"])
        return cls(description, weights, description["windowSamples"], 1)

    @classmethod
    def empty(cls):
        """A network of one multiplication, to measure a runtime's overhead per call."""
        layer = {"op": "conv1d", "name": "only", "input": "input", "in": 1, "out": 1, "kernel": 1}
        weights = {"only.weight": np.ones((1, 1, 1), np.float32), "only.bias": np.zeros(1, np.float32)}
        return cls({"name": "empty", "layers": [layer], "output": "only", "outputLabels": ["one"]}, weights, 1, 1)

    def inputs(self, layer):
        return layer["inputs"] if layer["op"] == "add" else [layer["input"]]

    def convolution(self, layer):
        """Weight [out, in / groups, kernel] and bias."""
        weight, bias = self._stored(layer)
        return weight.transpose(0, 2, 1), bias

    def dense(self, layer, channels_first):
        """Weight [out, in] and bias of a layer over one column."""
        weight, bias = self._stored(layer)
        source = self._named(layer["input"])
        if channels_first and source["op"] == "flatten":
            channels = self._named(source["input"])["out"]
            weight = weight.reshape(len(weight), -1, channels).transpose(0, 2, 1).reshape(weight.shape)
        return np.ascontiguousarray(weight), bias

    def _stored(self, layer):
        return tuple(self.weights[f"{layer['name']}.{part}"].astype(np.float32) for part in ("weight", "bias"))

    def _named(self, name):
        return next(layer for layer in self.layers if layer["name"] == name)


def rectified(layer):
    return layer.get("activation") == "relu"


def shape(layer):
    """Stride, dilation and groups of a convolution."""
    return tuple(layer.get(key, 1) for key in ("stride", "dilation", "groups"))


def to_onnx(network):
    """Input `input` [1, channels, columns], one output for each of the network's; made by Training/export/onnx_graph.py."""
    import onnx
    from onnx import TensorProto, helper

    from Training.export import onnx_graph

    graph, made = onnx_graph.Graph(), {"input": "input"}
    for layer in network.layers:
        name, sources = layer["name"], [made[source] for source in network.inputs(layer)]
        if layer["op"] == "flatten":
            made[name] = graph.add("Flatten", sources, name, axis=1)
        elif layer["op"] == "dense":
            weight, bias = network.dense(layer, channels_first=True)
            flat = graph.add("Flatten", sources, f"{name}.flat", axis=1)
            constants = [graph.constant(f"{name}.weight", weight), graph.constant(f"{name}.bias", bias)]
            product = f"{name}.linear" if rectified(layer) else name
            made[name] = graph.add("Gemm", [flat, *constants], product, transB=1)
            if rectified(layer):
                made[name] = graph.add("Relu", [product], name)
        else:
            made[name] = onnx_graph.layer(graph, layer, sources, network.weights)
    given = helper.make_tensor_value_info("input", TensorProto.FLOAT, [1, network.channels, network.columns])
    answers = [helper.make_tensor_value_info(made[name], TensorProto.FLOAT, None) for name in network.outputs]
    proto = helper.make_graph(graph.nodes, network.description["name"], [given], answers, graph.constants)
    opset = helper.make_opsetid("", 17)
    model = onnx.shape_inference.infer_shapes(helper.make_model(proto, opset_imports=[opset], ir_version=8))
    onnx.checker.check_model(model, full_check=True)
    return model


def to_torch(network):
    """A module from [1, channels, columns] to a tuple of outputs."""
    import torch
    from torch import nn

    class Module(nn.Module):
        def __init__(self):
            super().__init__()
            self.steps = nn.ModuleDict({key(layer): step(layer) for layer in network.layers})

        def forward(self, x):
            made = {"input": x}
            for layer in network.layers:
                sources = [made[name] for name in network.inputs(layer)]
                op = layer["op"]
                if op == "add":
                    made[layer["name"]] = sources[0] + sources[1]
                elif op == "crop":
                    made[layer["name"]] = sources[0][:, :, layer["start"] : -layer["end"] or None]
                elif op in ("flatten", "dense"):
                    made[layer["name"]] = self.steps[key(layer)](sources[0].flatten(1))
                else:
                    made[layer["name"]] = self.steps[key(layer)](sources[0])
                if rectified(layer):
                    made[layer["name"]] = torch.relu(made[layer["name"]])
            return tuple(made[name] for name in network.outputs)

    def key(layer):
        return layer["name"].replace(".", "_")

    def filled(module, weight, bias):
        module.weight.data, module.bias.data = (torch.from_numpy(np.ascontiguousarray(x)) for x in (weight, bias))
        return module

    def step(layer):
        if layer["op"] == "conv1d":
            stride, dilation, groups = shape(layer)
            module = nn.Conv1d(layer["in"], layer["out"], layer["kernel"], stride, 0, dilation, groups)
            return filled(module, *network.convolution(layer))
        if layer["op"] == "dense":
            return filled(nn.Linear(layer["in"], layer["out"]), *network.dense(layer, channels_first=True))
        return nn.AvgPool1d(layer["columns"], 1) if layer["op"] == "mean" else nn.Identity()

    return Module().eval()


def to_tensorflow(network, along):
    """A function of [1, 1, columns, channels], or of [1, columns, 1, channels] if the columns are `along` axis 1."""
    import tensorflow as tf

    def sized(one, count):
        """A size along the columns, and one across."""
        return [count, one] if along == 1 else [one, count]

    def run(layer, x):
        op = layer["op"]
        if op == "conv1d":
            stride, dilation, _ = shape(layer)
            weight, bias = network.convolution(layer)
            kernel = weight.transpose(2, 1, 0).reshape(*sized(1, layer["kernel"]), *weight.T.shape[1:])
            return tf.nn.conv2d(x[0], kernel, sized(1, stride), "VALID", dilations=sized(1, dilation)) + bias
        if op == "dense":
            weight, bias = network.dense(layer, channels_first=False)
            return tf.matmul(tf.reshape(x[0], [1, -1]), weight, transpose_b=True) + bias
        if op == "add":
            return x[0] + x[1]
        if op == "crop":
            end = x[0].shape[along] - layer["end"]
            return x[0][:, layer["start"] : end] if along == 1 else x[0][:, :, layer["start"] : end]
        if op == "mean":
            return tf.nn.avg_pool2d(x[0], sized(1, layer["columns"]), 1, "VALID")
        return tf.reshape(x[0], [1, -1])

    @tf.function(input_signature=[tf.TensorSpec([1, *sized(1, network.columns), network.channels])])
    def whole(x):
        made = {"input": x}
        for layer in network.layers:
            y = run(layer, [made[name] for name in network.inputs(layer)])
            made[layer["name"]] = tf.nn.relu(y) if rectified(layer) else y
        return {f"output{place}": made[name] for place, name in enumerate(network.outputs)}

    return whole
