"""Finds the running speech that a network takes for a command, so that later epochs hold more of it.

    python -m Training.model.mine --data DIR --cache DIR --examples DIR CHECKPOINT

Plays the running speech of the training partition, as recorded and in noise at 15 dB, and writes `<examples>/mined.npz`: `row`
(of the table of recordings), `first` (sample of the window's start after the recording's), `score` (of the command), and
`rows`, the table's length, by which another table is noticed. In an hour of talk there are 36,000 windows, of which a few are
taken for a command; examples drawn at random hardly ever hold them.
"""

import os
import sys

import numpy as np
import torch

from Training.augment import render
from Training.data import command_line, log_mel
from Training.data.audio import RATE, WINDOW, unit_rms
from Training.data.files import replacing
from Training.data.recordings import samples
from Training.data.seeding import generator as seeded
from Training.model import checkpoint
from Training.model.network import load_checkpoint, stream_logits

# RMS of the speech, and signal-to-noise ratios in dB; None is not noise.
LEVEL, RATIOS = 0.05, (None, 15)
# A window is kept where a command has this score, at most one in so many hops.
LEAST_SCORE, APART = 0.03, 3
HOP = RATE // 10


def peaks(scores):
    """The hops of the highest scores [hops], each at least APART hops from the others, that reach LEAST_SCORE."""
    found, free = [], np.ones(len(scores), bool)
    for hop in np.argsort(-scores):
        if scores[hop] < LEAST_SCORE:
            break
        if free[hop]:
            found.append(hop)
            free[max(0, hop - APART + 1) : hop + APART] = False
    return found


def mine(network, examples, rows, generator):
    """(row, first sample, score) of every window of these recordings that is taken for a command."""
    commands = len(examples.commands)
    for row in rows:
        # A second of silence before and after: windows in which somebody begins or ends to talk.
        speech = np.pad(LEVEL * unit_rms(samples(examples.table, row)), WINDOW)
        for ratio in RATIOS:
            wave = speech
            if ratio is not None:
                noise = np.concatenate([examples.surroundings.ambience(generator)[0] for _ in range(len(speech) // WINDOW + 1)])[: len(speech)]
                wave = speech + noise * np.float32(LEVEL * 10 ** (-ratio / 20))
            logits = stream_logits(network, log_mel.stream_features(wave.astype(np.float32)))
            scores = torch.softmax(logits, dim=1)[:, :commands].amax(dim=1).numpy()
            yield from ((row, hop * HOP - WINDOW, scores[hop]) for hop in peaks(scores))


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--examples", required=True, help="folder to write to, that of the rendered epochs")
    parser.add_argument("checkpoint")
    command_line.add_words(parser)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    examples = render.load_examples(options.data, options.cache, options.words)[1]
    network = load_checkpoint(options.checkpoint, len(checkpoint.load(options.checkpoint)["outputs"]))
    found = list(mine(network, examples, examples.speech, seeded("mining", seed=0)))
    if not found:
        sys.exit("no window is taken for a command")
    rows, first, scores = (np.array(column) for column in zip(*found))
    os.makedirs(options.examples, exist_ok=True)
    with replacing(render.mined_path(options.examples)) as part:
        np.savez(part, row=rows, first=first, score=scores.astype(np.float32), rows=len(examples.table["name"]))
    hours = examples.table["length"][examples.speech].sum() / RATE / 3600 * len(RATIOS)
    print(f"{len(rows)} windows in {hours:.1f} h, {(scores >= 0.5).sum()} of them with a score of 0.5 or more")


if __name__ == "__main__":
    main()
