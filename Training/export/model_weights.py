"""The weights of a model folder, model.safetensors, as Models/FORMAT.md describes it: some layers are stored in 8 bits.

In memory all weights are floats. A layer that has a tensor `.step` is stored as integers, times the step of each output.
"""

import numpy as np
import safetensors.numpy

from Training.export.reference import save_tensors

FILE = "model.safetensors"
# Inputs of a group, and the sum of weights of a lane of eight of them: with it products with inputs of up to 127 fit 16 bits even where
# rounding adds half to each.
GROUP = 16
LANE_SUM = np.float32(32767 // 127 - GROUP // 4)
# Layers of fewer weights stay as they are.
LEAST = 4096


def load(folder, file=FILE):
    """The tensors of a model folder by name, layers of 8 bits as floats."""
    tensors = safetensors.numpy.load_file(folder / file)
    for name, step in list(tensors.items()):
        if name.endswith(".step"):
            weight = name.removesuffix("step") + "weight"
            tensors[weight] = tensors[weight].astype(np.float32) * by_output(step, tensors[weight])
    return tensors


def save(folder, tensors):
    """Writes tensors as `load` returns them."""
    stored = dict(tensors)
    for name, step in tensors.items():
        if name.endswith(".step"):
            weight = name.removesuffix("step") + "weight"
            stored[weight] = integers(tensors[weight], step)
    save_tensors(folder / FILE, stored)


def in_bytes(layers, tensors):
    """The tensors with large layers rounded to 8 bits, as the engine would round them for its own arithmetic."""
    made = dict(tensors)
    for layer in layers:
        weight, step = layer["name"] + ".weight", layer["name"] + ".step"
        if layer["op"] not in ("conv1d", "dense") or layer["in"] % 4 or layer.get("groups", 1) > 1:
            continue
        if tensors[weight].size >= LEAST and tensors[weight].dtype == np.float32 or step in tensors:
            made[step] = tensors.get(step, steps(tensors[weight], layer.get("dilation", 1) == 1))
            made[weight] = integers(tensors[weight], made[step]).astype(np.float32) * by_output(made[step], tensors[weight])
    return made


def by_output(step, weight):
    return step.reshape([-1] + [1] * (weight.ndim - 1))


def integers(weight, step):
    return np.rint(weight.astype(np.float32) / by_output(step, weight)).astype(np.int8)


def steps(weight, is_contiguous):
    """The step [out] of each output of weights [out, …, in]: the smallest with which each fits 8 bits and sums of lanes fit 16."""
    run = weight[0].size if is_contiguous else weight.shape[-1]
    rows = weight.astype(np.float32).reshape(len(weight), -1, run)
    rows = np.pad(rows, ((0, 0), (0, 0), (0, -rows.shape[2] % GROUP)))
    four = rows.reshape(*rows.shape[:2], -1, GROUP // 4, 4)
    largest = np.zeros(len(weight), np.float32)
    for signed in (four, -four):
        sums = np.zeros((*four.shape[:3], 4), np.float32)
        for place in range(GROUP // 4):
            sums += np.maximum(signed[:, :, :, place], 0)
        lanes = np.maximum(sums[..., 0] + sums[..., 1], sums[..., 2] + sums[..., 3])
        largest = np.maximum(largest, lanes.reshape(len(weight), -1).max(1))
    greatest = np.abs(weight).reshape(len(weight), -1).max(1).astype(np.float32)
    return np.maximum(np.maximum(greatest / np.float32(127), largest / LANE_SUM), np.float32(1e-30))
