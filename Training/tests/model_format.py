"""Checks a model folder against Models/FORMAT.md, from its files alone."""

import json

from Training.export import model_weights


OPS = {"conv1d", "dense", "add", "crop", "mean", "flatten"}


def check(folder):
    """Raises an AssertionError that names the fault; returns model.json and the weights."""
    model = json.loads((folder / "model.json").read_text())
    weights = model_weights.load(folder)
    assert (model["format"], model["version"]) == ("beckon-model", 1)
    assert (model["sampleRate"], model["windowSamples"], model["hopSamples"]) == (16000, 16000, 1600)
    assert model["labels"][-2:] == ["_unknown_", "_silence_"], model["labels"]
    assert set(model["outputLabels"]) <= set(model["labels"])
    assert model["temperature"] > 0
    assert set(model["thresholds"]) <= set(model["labels"][:-2])
    assert all(0 < value < 1 for value in model["thresholds"].values()), model["thresholds"]
    assert model.get("clipTemperature", 1) > 0
    if "clipContrast" in model:
        contrast = model["clipContrast"]
        assert 0 <= contrast["from"] < contrast["to"] and contrast["lead"] >= 0
        assert model["outputLabels"][contrast["over"]] == "_unknown_"
    if "clipShifts" in model:
        assert len(model["clipShifts"]) == len(model["outputLabels"])
    shapes = check_layers(model, weights)
    assert shapes[model["output"]][:2] == (len(model["outputLabels"]), 1), shapes[model["output"]]
    parts = model["embedding"] if isinstance(model["embedding"], list) else [model["embedding"]]
    assert all(shapes[name][1] == 1 for name in parts), parts
    assert shapes[model["activity"]][0] == 1, shapes[model["activity"]]
    assert set(model["ranges"]) <= set(shapes) and all(value > 0 for value in model["ranges"].values())
    return model, weights


def check_layers(model, weights):
    """Channels, columns and new columns per hop of every layer and of the input."""
    front = model["frontEnd"]
    columns = (model["windowSamples"] - front["frameSamples"]) // front["hopSamples"] + 1
    shapes = {"input": (front["bands"], columns, model["hopSamples"] // front["hopSamples"])}
    used = set()
    for layer in model["layers"]:
        name, op = layer["name"], layer["op"]
        assert op in OPS, op
        assert name not in shapes, f"two layers are named {name}"
        sources = layer["inputs"] if op == "add" else [layer["input"]]
        assert all(source in shapes for source in sources), f"{name} reads a layer that does not come before it"
        channels, columns, new = shapes[sources[0]]
        if op in ("conv1d", "dense"):
            kernel, stride = layer.get("kernel", 1), layer.get("stride", 1)
            span = layer.get("dilation", 1) * (kernel - 1) + 1
            assert layer["in"] == channels, f"{name} reads {channels} channels"
            groups = layer["in"] // layer.get("groups", 1)
            expected = (layer["out"], kernel, groups) if op == "conv1d" else (layer["out"], groups)
            assert weights[name + ".weight"].shape == expected, f"{name}.weight is {weights[name + '.weight'].shape}"
            assert weights[name + ".bias"].shape == (layer["out"],), name
            used |= {name + ".weight", name + ".bias"}
            assert new % stride == 0 and (columns - span) % stride == 0, f"{name} cannot stream"
            shapes[name] = (layer["out"], (columns - span) // stride + 1, new // stride)
        elif op == "add":
            assert shapes[sources[0]] == shapes[sources[1]], f"{name} adds {[shapes[s] for s in sources]}"
            shapes[name] = shapes[sources[0]]
        elif op == "crop":
            shapes[name] = (channels, columns - layer["start"] - layer["end"], new)
        elif op == "mean":
            shapes[name] = (channels, columns - layer["columns"] + 1, new)
        else:
            raise AssertionError(f"{name}: {op} cannot stream")
    assert used == set(weights), f"tensors that no layer reads: {set(weights) - used}"
    return shapes
