"""What trained networks say of a rendered pass, for another network to learn from (distillation)."""

import os

import numpy as np
import torch

import bank
import frontend
from network import Spotter


def load(path, outputs):
    """The averaged network of a checkpoint of train.py."""
    state = torch.load(path, weights_only=True)
    network = Spotter(outputs, state["channels"], state["head"])
    network.load_state_dict(state["average"])
    return network.eval()


@torch.no_grad()
def logits_of(network, features):
    """Logits [n, outputs] of features [n, 79, 40], in evaluation."""
    network.eval()
    return torch.cat([network(torch.from_numpy(features[i : i + 256])) for i in range(0, len(features), 256)])


class Teachers:
    """The mean posterior of several networks."""

    def __init__(self, paths, outputs, folder):
        self.networks = [load(path, outputs) for path in paths]
        self.key = "-".join(os.path.splitext(os.path.basename(path))[0] for path in paths)
        self.folder = folder

    def __call__(self, number):
        """[n, outputs] float16 for the rendered pass `number`; worked out once and kept beside it."""
        path = os.path.join(self.folder, f"taught-{self.key}-{number:02}.npy")
        if not os.path.exists(path):
            with np.load(bank.path(self.folder, number)) as stored:
                logs, parts = stored["logs"], []
            for i in range(0, len(logs), 4096):
                features = frontend.normalised(np.exp(logs[i : i + 4096].astype(np.float32)))
                posteriors = [torch.softmax(logits_of(network, features), dim=1) for network in self.networks]
                parts.append((sum(posteriors) / len(posteriors)).numpy().astype(np.float16))
            np.save(path, np.concatenate(parts))
        return np.load(path)
