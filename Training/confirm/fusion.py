"""The answer of several networks as one: weighted means of log-posteriors over the commands and everything else."""

import numpy as np
import torch

from Training.confirm.networks import ADDED, qbc6
from Training.confirm.weights import mixed, read
from Training.data.audio import RATE
from Training.data.vocabulary import COMMANDS

# Columns of an answer: the commands, then everything else.
OTHER = len(COMMANDS)
BATCH = 64


@torch.no_grad()
def answers(network, waves):
    """Log-posteriors [n, 11] of a network for windows [n, samples]."""
    logits = [network(torch.from_numpy(waves[i : i + BATCH])) for i in range(0, len(waves), BATCH)]
    if not logits:
        return np.zeros((0, OTHER + 1))
    return over_commands(torch.log_softmax(torch.cat(logits).double(), dim=1).numpy(), network.labels)


def over_commands(logs, labels):
    """Log-posteriors [n, labels] → those of the commands and of everything else, [n, 11]."""
    rest = [index for index, label in enumerate(labels) if label not in COMMANDS]
    columns = [logs[:, labels.index(word)] for word in COMMANDS] + [np.logaddexp.reduce(logs[:, rest], axis=1)]
    return np.stack(columns, axis=1)


def proposers(words, confidences):
    """Log-posteriors [n, 11] for what a detection tells: a word and its confidence; of the rest a tenth is for each other command."""
    rest = np.log((1 - confidences) / 10 + 1e-6)[:, None]
    logs = np.repeat(rest, OTHER + 1, axis=1)
    logs[:, OTHER] = np.log(1 - confidences + 1e-6)
    logs[np.arange(len(words)), [COMMANDS.index(word) for word in words]] = np.log(confidences)
    return logs - np.logaddexp.reduce(logs, axis=1, keepdims=True)


def fused(parts, weights):
    """Posteriors [n, 11] of several networks' log-posteriors [n, 11], by the weights of their mean."""
    mean = sum(weight * part for weight, part in zip(weights, parts))
    return np.exp(mean - np.logaddexp.reduce(mean, axis=1, keepdims=True))


def decided(posteriors):
    """The most likely command [n], by index, and its posterior [n]."""
    best = posteriors[:, :OTHER].argmax(axis=1)
    return best, posteriors[np.arange(len(best)), best]


def load_rejecter(path, published, share=1.0):
    """The fine-tuned network of a file, and the samples of its window; of what the published weights have too, `share` are its own."""
    stored = read(path)
    network = qbc6(mixed(stored.weights, published, share), ADDED)
    return network, int(stored.seconds * RATE)
