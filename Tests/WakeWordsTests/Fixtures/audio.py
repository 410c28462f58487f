"""Audio that the tests of wake words make again: samples of 16 bits at 16 kHz."""

import numpy as np
import soundfile


def synthesised():
    """20 parts of 250 ms: noise, saw teeth, bursts, clipping, silence and constants. Integers only, so that the test makes the same."""
    samples, state, phase = [], 1, 0
    for index in range(80000):
        part = index // 4000
        kind, level = part % 5, part // 5 + 1
        state = (state * 1664525 + 1013904223) & 0xFFFFFFFF
        noise = (state >> 16) - 32768
        phase = (phase + 300 + 97 * part + index % 4000 // 4) & 0xFFFF
        saw = phase - 32768
        if kind == 0:
            sample = noise >> 3 * level
        elif kind == 1:
            sample = saw >> 2 * level
        elif kind == 2:
            sample = saw if index % 1000 < 500 else noise >> 10
        elif kind == 3:
            sample = min(max(2 * level * saw, -32768), 32767)
        else:
            sample = [0, -32768, 1, noise][level - 1]
        samples.append(sample)
    return np.array(samples, np.int16)


def voice():
    """Every third sample of two recordings at 48 kHz."""
    parts = [soundfile.read(f"/usr/share/sounds/alsa/{name}.wav", dtype="int16")[0] for name in ["Front_Left", "Side_Right"]]
    return np.concatenate(parts)[::3]
