"""The voice-activity output: whether somebody speaks in the newest 75 ms, from the network's first block.

The classes look at a whole second and remember a word for most of it; the first block's columns look at 0.3 s, one every
25 ms. Two small layers on five of them are trained after the network, which stays as it is.
"""

import numpy as np
import torch
from torch import nn

import frontend
from mixing import WINDOW

STEP, KERNEL = 400, 5
SEEN = 4800 + (KERNEL - 1) * STEP
COLUMNS = (WINDOW - SEEN) // STEP + 1
NEWEST = 3
# So many decibels under a word's or a phrase's loudest step, it still counts as said.
DEPTH = 20


class Activity(nn.Module):
    """[n, columns + 4, channels] of the first block → logits [n, columns]."""

    def __init__(self, channels, hidden=32):
        super().__init__()
        self.hidden, self.out = nn.Conv1d(channels, hidden, KERNEL), nn.Conv1d(hidden, 1, 1)

    def forward(self, x):
        return self.out(torch.relu(self.hidden(x.transpose(1, 2))))[:, 0]


def spoken(wave):
    """For each column, whether somebody speaks in the newest 75 ms that it looks at: what was rendered before noise came to it,
    by level. [columns] bool"""
    energy = (wave.astype(np.float64) ** 2).reshape(-1, STEP).mean(axis=1)
    decibels = 10 * np.log10(energy + 1e-12)
    limit = max(decibels.max() - DEPTH, min(np.percentile(decibels, 10) + 8, decibels.max() - 8))
    steps = (decibels > limit) & (decibels > -75)
    return np.array([steps[c + SEEN // STEP - NEWEST : c + SEEN // STEP].any() for c in range(COLUMNS)])


def rendered(examples, count, generator):
    """Windows of words, running speech and noise, and where in them somebody speaks."""
    waves, active = np.zeros((count, WINDOW), np.float32), np.zeros((count, COLUMNS), bool)
    for wave, row in zip(waves, active):
        draw = generator.random()
        if draw < 0.25:
            examples.only_noise(wave, generator)
            continue
        if draw < 0.6:
            extent = examples.word(wave, generator.choice(examples.words), generator)[1]
        else:
            extent = examples.running(wave, generator)[1]
        row[:] = spoken(wave)
        examples.surround(wave, extent, generator)
    return waves, active


@torch.no_grad()
def block(network, waves):
    """The first block's columns [n, columns, channels]."""
    network.eval()
    features = torch.from_numpy(frontend.normalised(frontend.mel_energies(waves)))
    return network.blocks[0](torch.relu(network.stem(features)))


def train(network, examples, batches=400, size=64, seed=1):
    """Trains the output; returns it and the per cent of columns in which it is right, on windows it was not trained on."""
    torch.manual_seed(seed)
    generator = np.random.default_rng([seed, 6])
    model = Activity(network.blocks[0].second.conv.out_channels)
    optimiser = torch.optim.Adam(model.parameters(), 3e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, batches)
    for _ in range(batches):
        waves, active = rendered(examples, size, generator)
        loss = nn.functional.binary_cross_entropy_with_logits(
            model(block(network, waves)), torch.from_numpy(active.astype(np.float32))
        )
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
        schedule.step()
    waves, active = rendered(examples, 1000, generator)
    with torch.no_grad():
        right = (model(block(network, waves)) > 0).numpy() == active
    return model, 100 * float(right.mean())


def layers(model, source):
    """The output as model.json's layers and their weights."""
    out, weights, last = [], {}, source
    for name, part, relu in (("activity.hidden", model.hidden, "relu"), ("activity", model.out, "none")):
        weights[name + ".weight"] = part.weight.detach().numpy().transpose(0, 2, 1).copy()
        weights[name + ".bias"] = part.bias.detach().numpy()
        shape = {"in": part.in_channels, "out": part.out_channels, "kernel": part.kernel_size[0], "stride": 1}
        out.append({"op": "conv1d", "name": name, "input": last, **shape, "activation": relu})
        last = name
    return out, weights
