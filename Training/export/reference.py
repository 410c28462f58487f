"""PyTorch's answers, in double precision, for a model as Models/FORMAT.md describes it; the engine's tests compare with them."""

import json

import numpy as np
import torch
import torch.nn.functional as F

from Training.data.audio import RATE, WINDOW
from Training.data.log_mel import mel_filters


def save_tensors(path, tensors):
    """Writes a safetensors file; `tensors` maps names to arrays of int8, uint8, int16, float16 or float32."""
    types = {"int8": "I8", "uint8": "U8", "int16": "I16", "float16": "F16", "float32": "F32"}
    header, data = {}, b""
    for name, array in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": types[str(array.dtype)],
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def log_mel(waves, front):
    """Features [n, columns, bands] of waveforms [n, samples], a float64 tensor, as Models/FORMAT.md defines them."""
    frames = waves.unfold(1, front["frameSamples"], front["hopSamples"])
    window = torch.hann_window(front["frameSamples"], periodic=True, dtype=torch.float64)
    power = torch.fft.rfft(frames * window, n=front["fftSize"]).abs() ** 2
    filters = torch.from_numpy(mel_filters(front))
    return ((power @ filters.T + front["floor"]).log() - front["mean"]) / front["deviation"]


def layer_outputs(model, weights, waves):
    """Every layer's output for waveforms [n, samples], and the front end's as "input": [n, channels, columns] each."""
    front = model["frontEnd"]
    columns = log_mel(waves, front) if front["kind"] == "log-mel" else waves[:, :, None] * front["scale"]
    outputs = {"input": columns.transpose(1, 2)}  # channels before columns, as in PyTorch
    for layer in model["layers"]:
        name, op = layer["name"], layer["op"]
        x = outputs[layer["inputs"][0] if op == "add" else layer["input"]]
        if op in ("conv1d", "dense"):
            weight = torch.from_numpy(weights[name + ".weight"].astype(np.float64))
            weight = weight.transpose(1, 2) if op == "conv1d" else weight[:, :, None]
            bias = torch.from_numpy(weights[name + ".bias"].astype(np.float64))
            x = F.conv1d(x, weight, bias, layer.get("stride", 1), 0, layer.get("dilation", 1), layer.get("groups", 1))
        elif op == "add":
            x = x + outputs[layer["inputs"][1]]
        elif op == "crop":
            x = x[:, :, layer["start"] : x.shape[2] - layer["end"]]
        elif op == "mean":
            x = F.avg_pool1d(x, layer["columns"], stride=1)
        elif op == "flatten":
            x = x.transpose(1, 2).flatten(1)[:, :, None]
        outputs[name] = torch.relu(x) if layer.get("activation") == "relu" else x
    return outputs


def features_and_logits(model, weights, waves):
    """Features [n, columns, channels] and logits [n, outputs] of waveforms [n, samples], as NumPy arrays."""
    outputs = layer_outputs(model, weights, waves)
    return outputs["input"].transpose(1, 2).numpy(), outputs[model["output"]][:, :, 0].numpy()


def make_inputs(generator, count, samples=WINDOW):
    """Gliding tones in noise as bytes [count, samples] and gains [count]; the last one is digital silence."""
    time = np.arange(samples) / RATE
    waves = []
    for index in range(count - 1):
        low, high = generator.uniform(100, 3500, 2)
        tone = np.sin(2 * np.pi * (low * time + (high - low) / 2 * time**2)) * (np.sin(np.pi * time) ** 2)
        noise = generator.standard_normal(samples) * 10 ** generator.uniform(-2.5, -0.7)
        wave = tone * generator.uniform(0.1, 1) + noise
        waves.append(np.round(wave / np.abs(wave).max() * 127 + 128).clip(0, 255))
    waves.append(np.full(samples, 128))
    gains = np.append(10 ** generator.uniform(-2, 0, count - 1), 1)
    return np.array(waves).astype(np.uint8), gains.astype(np.float32)


def as_samples(waves, gains):
    """Stored bytes [n, samples] and gains [n] → waveforms [n, samples], float64: (u8 − 128) / 128 · gain."""
    return (waves.astype(np.float64) - 128) / 128 * gains.astype(np.float64)[:, None]
