"""The voice-activity output: whether somebody speaks in the newest 75 ms, computed from the network's first block.

The classes depend on a whole second and remember a word for most of it; a column of the first block depends on 0.3 s, and
there is one every 25 ms. Two small layers on five of these columns are trained after the network, which stays unchanged.
"""

import numpy as np
import torch
from torch import nn

from Training.data import log_mel
from Training.data.audio import WINDOW
from Training.data.seeding import generator as seeded
from Training.model import checkpoint
from Training.model.layers import Collector

# Samples between two columns, columns that an output depends on, samples that it depends on, and outputs in a window.
STEP, KERNEL = 400, 5
SPAN = 4800 + (KERNEL - 1) * STEP
COLUMNS = (WINDOW - SPAN) // STEP + 1
# Steps that an output is about.
NEWEST = 3
# Decibels under the loudest step of an utterance down to which a step counts as speech.
DEPTH = 20
# Batches to train with and their size, and examples to measure with.
BATCHES, BATCH, MEASURED = 400, 64, 1000


class VoiceActivity(nn.Module):
    """[n, columns + 4, channels] of the first block → logits [n, columns]."""

    def __init__(self, channels, hidden=32):
        super().__init__()
        self.hidden, self.out = nn.Conv1d(channels, hidden, KERNEL), nn.Conv1d(hidden, 1, 1)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x.transpose(1, 2))))[:, 0]

    def described(self, source):
        """The output as model.json's layers, and its weights by tensor name."""
        made = Collector()
        hidden = made.conv1d("activity.hidden", source, self.hidden.weight, self.hidden.bias, 1, True)
        made.conv1d("activity", hidden, self.out.weight, self.out.bias, 1, False)
        return made.layers, made.weights


def of_model(tensors, weights):
    """The output that a model has, by its tensors; None if its stem or first block are not those of a network with these weights."""
    below = [name for name in weights if name.startswith(("stem.", "block1."))]
    if not all(name in tensors and checkpoint.same(tensors[name], weights[name]) for name in below):
        return None
    model = VoiceActivity(weights["block1.second.bias"].size)
    for part, name in ((model.hidden, "activity.hidden"), (model.out, "activity")):
        part.weight.data = torch.from_numpy(tensors[f"{name}.weight"].transpose(0, 2, 1).copy())
        part.bias.data = torch.from_numpy(tensors[f"{name}.bias"].copy())
    return model


def speech_columns(wave):
    """For each column, whether there is speech in its newest 75 ms, [columns] bool.

    Decided by level, from the waveform [16000] before noise is added.
    """
    energy = (wave.astype(np.float64) ** 2).reshape(-1, STEP).mean(axis=1)
    decibels = 10 * np.log10(energy + 1e-12)
    limit = max(decibels.max() - DEPTH, min(np.percentile(decibels, 10) + 8, decibels.max() - 8))
    steps = (decibels > limit) & (decibels > -75)
    return np.array([steps[c + SPAN // STEP - NEWEST : c + SPAN // STEP].any() for c in range(COLUMNS)])


def render(examples, count, generator):
    """Windows [count, 16000] of words, running speech and noise, and where there is speech, [count, columns] bool."""
    waves, active = np.zeros((count, WINDOW), np.float32), np.zeros((count, COLUMNS), bool)
    for wave, row in zip(waves, active):
        draw = generator.random()
        if draw < 0.25:
            examples.surroundings.only_noise(wave, generator)
            continue
        if draw < 0.6:
            extent = examples.word(wave, generator.choice(examples.words), generator)[1]
        else:
            extent = examples.running_speech(wave, examples.speech_row(generator), generator)[1]
        row[:] = speech_columns(wave)
        examples.surroundings.surround(wave, extent, generator)
    return waves, active


@torch.no_grad()
def first_block(network, waves):
    """The first block's columns [n, columns, channels] of waveforms [n, 16000]."""
    network.eval()
    return network.first_block(torch.from_numpy(log_mel.features(waves)))


def train(network, examples, seed=1):
    """Trains the output."""
    torch.manual_seed(seed)
    generator = seeded("voice activity", seed=seed)
    model = VoiceActivity(network.blocks[0].second.conv.out_channels)
    optimizer = torch.optim.Adam(model.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, BATCHES)
    for _ in range(BATCHES):
        waves, active = render(examples, BATCH, generator)
        loss = nn.functional.binary_cross_entropy_with_logits(
            model(first_block(network, waves)), torch.from_numpy(active.astype(np.float32))
        )
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
    return model


def accuracy(model, network, examples):
    """The per cent of columns of new examples in which the output is right."""
    waves, active = render(examples, MEASURED, seeded("voice activity, measured", seed=1))
    with torch.no_grad():
        return 100 * float(((model(first_block(network, waves)) > 0).numpy() == active).mean())
