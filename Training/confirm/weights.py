"""Files with weights of the confirming networks: as others published them, as train.py writes them, and as they are kept here."""

import dataclasses
import json

import numpy as np
import safetensors
import safetensors.numpy

from Training.confirm.matchboxnet import matchboxnet, read_published_matchboxnet
from Training.confirm.networks import ADDED, WORDS35, qbc6, read_published_qbc6
from Training.model import checkpoint

# The layers with the outputs, which fine-tuning has more of.
HEAD = ("head_conv.weight", "head_conv.bias")


@dataclasses.dataclass
class Stored:
    """Weights {name: array}, the kind of network they belong to, and the length of its window in seconds."""

    weights: dict
    kind: str = "qbc6"
    seconds: float = 1.0

    def network(self):
        """The network with these weights, in evaluation mode."""
        if self.kind == "matchboxnet":
            return matchboxnet(self.weights)
        return qbc6(self.weights, ADDED if len(self.weights[HEAD[1]]) > len(WORDS35) else ())


def read(path):
    """The Stored of a file: `.npz` or `.ckpt` as published, `.pt` a checkpoint's average, `.safetensors` as `write` wrote it."""
    if path.endswith(".npz"):
        return Stored(read_published_qbc6(path))
    if path.endswith(".ckpt"):
        return Stored(read_published_matchboxnet(path), "matchboxnet")
    if path.endswith(".pt"):
        state = checkpoint.load(path)
        return Stored({name: value.numpy() for name, value in state["average"].items()}, seconds=state["seconds"])
    with safetensors.safe_open(path, "numpy") as file:
        about = json.loads(file.metadata()["network"])
    return Stored(safetensors.numpy.load_file(path), about["kind"], about["seconds"])


def write(path, stored, kind=np.float32):
    """Writes a Stored, in half precision with `kind` float16."""
    weights = {name: np.ascontiguousarray(value, kind) for name, value in stored.weights.items()}
    about = {"kind": stored.kind, "seconds": stored.seconds}
    safetensors.numpy.save_file(weights, path, {"network": json.dumps(about)})


def mixed(weights, published, share):
    """`share` of fine-tuned weights and the rest of published ones; outputs that only the former have stay theirs."""
    result = dict(weights)
    for name, value in weights.items():
        own = np.array(value, np.float32)
        count = len(published[name]) if name in HEAD else len(own)
        own[:count] = share * own[:count] + (1 - share) * published[name]
        result[name] = own
    return result
