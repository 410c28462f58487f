"""The layers of the tutorial's network: six convolutions that halve the waveform, then three dense layers."""

from Training.model.layers import conv1d, dense

CHANNELS = (1, 2, 4, 8, 16, 32, 64)


def layers():
    """As model.json describes them."""
    sources = ["input"] + [f"conv{i}" for i in range(1, 7)]
    convolutions = [
        conv1d(f"conv{i + 1}", sources[i], (CHANNELS[i], CHANNELS[i + 1]), 4, relu=True, stride=2) for i in range(6)
    ]
    return convolutions + [
        {"op": "flatten", "name": "flat", "input": "conv6"},
        dense("dense1", "flat", (15872, 300), relu=True),
        dense("dense2", "dense1", (300, 150), relu=True),
        dense("logits", "dense2", (150, 12)),
    ]
