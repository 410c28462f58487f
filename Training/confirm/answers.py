"""Writes what a published network answers to every clip as recorded, for `model/train.py --answers` to learn from.

    python -m Training.confirm.answers --data DIR --cache DIR --published FILE --out FILE

The network is qbc6, the best of the published ones, alone. For doubtful labels several must agree: `evaluate/suspects.py`. The file has
`names` [n], `words35` [35] and `words` [n, 35], and the commands with all other words as one: `labels` [11] and `posteriors` [n, 11].
"""

import numpy as np
import torch

from Training.confirm.fusion import BATCH, over_commands
from Training.confirm.networks import WORDS35
from Training.confirm.weights import read
from Training.data import command_line, recordings
from Training.data.audio import WINDOW
from Training.data.files import replacing
from Training.data.vocabulary import COMMANDS, UNKNOWN


@torch.no_grad()
def answered(network, table, rows):
    """Log-posteriors [n, 35] of a network that tells WORDS35 apart, for the clips in these rows [n] of the table."""
    logs = []
    for begin in range(0, len(rows), BATCH):
        waves = np.stack([recordings.samples(table, row, 0, WINDOW) for row in rows[begin : begin + BATCH]])
        logs.append(torch.log_softmax(network(torch.from_numpy(waves)).double(), dim=1).numpy())
    return np.concatenate(logs)


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--published", required=True, help="the published network, a file of weights.py")
    parser.add_argument("--out", required=True, help="the file to write, .npz")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    table = recordings.load_all(options.data, options.cache)
    network, rows = read(options.published).network(), np.flatnonzero(table["kind"] == "clip")
    if sorted(network.labels) != sorted(WORDS35):
        parser.error(f"{options.published}: tells other words apart than the 35 of Speech Commands; give a published network")
    logs = answered(network, table, rows)
    kept = {"names": table["name"][rows], "words35": np.array(network.labels), "words": np.exp(logs).astype(np.float32)}
    kept |= {"labels": np.array([*COMMANDS, UNKNOWN]), "posteriors": np.exp(over_commands(logs, network.labels)).astype(np.float32)}
    with replacing(options.out) as part:
        np.savez(part, **kept)
    print(f"{options.out}: answers to {len(rows)} clips")


if __name__ == "__main__":
    main()
