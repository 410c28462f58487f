"""What PyTorch answers, in double precision, for a model as Models/FORMAT.md describes it; the engine's tests compare
themselves with it."""

import json

import numpy as np
import torch
import torch.nn.functional as F


def save_tensors(path, tensors):
    """Writes a safetensors file; `tensors` maps names to arrays of uint8, float16 or float32."""
    names = {"uint8": "U8", "float16": "F16", "float32": "F32"}
    header, data = {}, b""
    for name, array in tensors.items():
        raw = np.ascontiguousarray(array).tobytes()
        header[name] = {
            "dtype": names[str(array.dtype)],
            "shape": list(array.shape),
            "data_offsets": [len(data), len(data) + len(raw)],
        }
        data += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    path.write_bytes(len(text).to_bytes(8, "little") + text + data)


def mel_filters(front, rate=16000):
    """Triangles of height 1, [bands, bins], evenly spaced on the HTK mel scale."""
    mel = lambda hertz: 2595 * np.log10(1 + hertz / 700)
    points = np.linspace(mel(front["lowHertz"]), mel(front["highHertz"]), front["bands"] + 2)
    edges = 700 * (10 ** (points / 2595) - 1)
    bins = np.arange(front["fftSize"] // 2 + 1) * rate / front["fftSize"]
    rising = (bins - edges[:-2, None]) / (edges[1:-1] - edges[:-2])[:, None]
    falling = (edges[2:, None] - bins) / (edges[2:] - edges[1:-1])[:, None]
    return np.maximum(0, np.minimum(rising, falling))


def log_mel(waves, front):
    """Features [n, columns, bands] as Models/FORMAT.md defines them, in double precision."""
    frames = waves.unfold(1, front["frameSamples"], front["hopSamples"])
    window = torch.hann_window(front["frameSamples"], periodic=True, dtype=torch.float64)
    power = torch.fft.rfft(frames * window, n=front["fftSize"]).abs() ** 2
    filters = torch.from_numpy(mel_filters(front))
    return ((power @ filters.T + front["floor"]).log() - front["mean"]) / front["deviation"]


def outcomes(model, weights, waves):
    """What every layer makes of waveforms [n, samples], and the front end as "input": [n, channels, columns] each."""
    front = model["frontEnd"]
    columns = log_mel(waves, front) if front["kind"] == "log-mel" else waves[:, :, None] * front["scale"]
    made = {"input": columns.transpose(1, 2)}  # channels before columns, as PyTorch has them
    for layer in model["layers"]:
        name, op = layer["name"], layer["op"]
        x = made[layer["inputs"][0] if op == "add" else layer["input"]]
        if op in ("conv1d", "dense"):
            weight = torch.from_numpy(weights[name + ".weight"].astype(np.float64))
            weight = weight.transpose(1, 2) if op == "conv1d" else weight[:, :, None]
            bias = torch.from_numpy(weights[name + ".bias"].astype(np.float64))
            x = F.conv1d(x, weight, bias, layer.get("stride", 1), 0, layer.get("dilation", 1), layer.get("groups", 1))
        elif op == "add":
            x = x + made[layer["inputs"][1]]
        elif op == "crop":
            x = x[:, :, layer["start"] : x.shape[2] - layer["end"]]
        elif op == "mean":
            x = F.avg_pool1d(x, layer["columns"], stride=1)
        elif op == "flatten":
            x = x.transpose(1, 2).flatten(1)[:, :, None]
        made[name] = torch.relu(x) if layer.get("activation") == "relu" else x
    return made


def run(model, weights, waves):
    """Features and logits of waveforms [n, samples], all layers in PyTorch."""
    made = outcomes(model, weights, waves)
    return made["input"].transpose(1, 2).numpy(), made[model["output"]][:, :, 0].numpy()


def make_waves(rng, count):
    """Tones that glide through noise, as bytes and gains; the last one is digital silence."""
    time = np.arange(16000) / 16000
    waves = []
    for index in range(count - 1):
        low, high = rng.uniform(100, 3500, 2)
        tone = np.sin(2 * np.pi * (low * time + (high - low) / 2 * time**2)) * (np.sin(np.pi * time) ** 2)
        noise = rng.standard_normal(16000) * 10 ** rng.uniform(-2.5, -0.7)
        wave = tone * rng.uniform(0.1, 1) + noise
        waves.append(np.round(wave / np.abs(wave).max() * 127 + 128).clip(0, 255))
    waves.append(np.full(16000, 128))
    gains = np.append(10 ** rng.uniform(-2, 0, count - 1), 1)
    return np.array(waves).astype(np.uint8), gains.astype(np.float32)
