"""Trains the layers of the embedding for taught words.

    python -m Training.embedding.train --model MODEL --out CHECKPOINT EXAMPLES…

Five losses: `pairs`, a supervised contrastive loss with a margin over all pairs of a batch, pulls takes of one word together and
apart from other words and from running speech; `word` pulls them to the vector of their word's phonemes and away from those of other
words of the batch and of the dictionary, and from speech; `relation` and `teacher` make similar what a general speech embedding finds
similar, `words` what a network for wake words does. Each second of running speech is a word of its own. An interrupted training
continues after the last whole epoch.
"""

import math
import os
from pathlib import Path

import numpy as np
import torch
import torch.nn.functional as F

from Training.data import command_line
from Training.data.seeding import generator as seeded
from Training.data.synthesize import DICTIONARY
from Training.data.vocabulary import HELD_OUT, JUDGES
from Training.embedding.network import DIMENSIONS, WIDTHS, WordEmbedding
from Training.embedding.pronunciation import PhonemeEncoder, Pronunciations
from Training.export import model_weights
from Training.model import checkpoint
from Training.model.train import set_rate

# Words of a batch, takes of each, and seconds of running speech.
CLASSES, TAKES, SPEECH = 48, 3, 70
# Words of the dictionary in a batch that nobody says, and how many words of the dictionary these are of.
UNSAID, LISTED = 112, 20000
# Batches of an epoch.
STEPS = 400
WORD_SCALE = 2.0
MARGIN, SCALE, TEMPERATURE, SPEECH_WEIGHT = 0.15, 20.0, 0.06, 10.0
# Epochs, peak learning rate, share of the channels that are dropped, and the weights of the losses. The first stage separates words, the
# second follows the teachers more, and the others go on without learning the examples by heart.
FOLLOWING = {"pairs": 1.0, "word": 0.7, "relation": 12.0, "teacher": 8.0, "words": 12.0}
STAGES = (
    (6, 1.5e-3, 0.0, {"pairs": 1.0, "word": 1.0, "relation": 3.0, "teacher": 2.0, "words": 3.0}),
    (20, 8e-4, 0.0, FOLLOWING),
    (60, 8e-4, 0.1, FOLLOWING),
    (40, 8e-4, 0.1, FOLLOWING),
)
# Minimum number of examples of a word, over all sets; each has two views.
LEAST = 1
# A word is drawn in proportion to this power of its number of examples, since the few recorded words have many.
POWER = 0.5


class Examples:
    """The rendered sets together: two views of each example, a class (−1 for running speech), the teacher's answer."""

    def __init__(self, paths, without=()):
        sets = [np.load(path) for path in paths]
        names = sorted({name for part in sets for name in part["names"]})
        numbers = {name: number for number, name in enumerate(names)}
        self.columns = [part["columns"] for part in sets]
        self.starts = np.cumsum([0] + [len(part["classes"]) for part in sets])
        classes = []
        for part in sets:
            # The last entry is that of class −1.
            own = np.array([numbers[name] for name in part["names"]] + [-1])
            classes.append(own[part["classes"]])
        classes = np.concatenate(classes)
        counts = np.bincount(classes[classes >= 0], minlength=len(names))
        chosen = np.flatnonzero((counts >= LEAST) & ~np.isin(names, list(without)))
        self.members = [np.flatnonzero(classes == number) for number in chosen]
        self.names = [names[number] for number in chosen]
        self.speech = np.flatnonzero(classes < 0)
        teacher = np.concatenate([part["teacher"] for part in sets]).astype(np.float32)
        # Sets of older versions hold words without sound, whose answers are NaN.
        self.has_teacher = torch.from_numpy(np.isfinite(teacher[:, 0]))
        teacher = torch.from_numpy(np.nan_to_num(teacher - np.nanmean(teacher, 0)))
        self.teacher = F.normalize(teacher, dim=1)
        self.word_teacher = np.nan_to_num(np.concatenate([part["word_teacher"] for part in sets]))

    def batch(self, generator):
        """Rows [n], the classes of those that are words, which come first, and columns [n, columns, channels]."""
        counts = np.array([len(rows) for rows in self.members], float) ** POWER
        words = generator.choice(
            len(self.members), min(CLASSES, len(self.members)), replace=False, p=counts / counts.sum()
        )
        takes = [generator.choice(self.members[w], TAKES, replace=len(self.members[w]) < TAKES) for w in words]
        speech = generator.choice(self.speech, min(SPEECH, len(self.speech)), replace=False)
        rows = np.concatenate(takes + [np.repeat(speech, 2)])
        views = generator.integers(0, 2, len(rows))
        views[len(rows) - 2 * len(speech) :] = np.tile([0, 1], len(speech))
        out = np.empty((len(rows), *self.columns[0].shape[1:]), np.float32)
        for number, columns in enumerate(self.columns):
            here = (rows >= self.starts[number]) & (rows < self.starts[number + 1])
            out[here] = columns[(rows[here] - self.starts[number]) * 2 + views[here]]
        return rows, torch.from_numpy(np.repeat(words, TAKES)), torch.from_numpy(out)


class Dictionary:
    """The pronunciations of the words of the examples, and of words that nobody says."""

    def __init__(self, names, generator, without):
        with open(DICTIONARY) as file:
            listed = {word for word in file.read().split() if word.isalpha() and word.islower() and len(word) > 2}
        listed = generator.permutation(sorted(listed - {*names, *without, *HELD_OUT, *JUDGES}))[:LISTED]
        self.spoken, self.said = len(names), Pronunciations([*names, *listed])

    def batch(self, words, generator):
        """Symbols and lengths of the different `words`, and of random words that sound like none of them."""
        others = self.spoken + generator.choice(len(self.said.said) - self.spoken, UNSAID, replace=False)
        heard = {self.said.said[word] for word in words}
        rows = np.concatenate([words, [row for row in others if self.said.said[row] not in heard]]).astype(int)
        return self.said.symbols[rows], self.said.lengths[rows]


def losses(hidden, z, written, network, examples, rows, words):
    """The losses by name. `z` [n, dimensions] are unit vectors, words before speech; `written` [words, dimensions] the vectors of the
    batch's words in their order, then those of others, by how they are pronounced; `words` [n] are rows of them."""
    similarity, count = z @ z.T, len(words)
    teacher, has_teacher = examples.teacher[rows], examples.has_teacher[rows]
    relation = ((similarity - teacher @ teacher.T)[has_teacher][:, has_teacher] ** 2).mean()
    of_words = F.normalize(torch.from_numpy(examples.word_teacher[rows].astype(np.float32)), dim=1)
    # Of different words only: takes of one word are less alike to this teacher (0.29 in the mean) than they shall be here.
    number = torch.cat([words, torch.from_numpy(-1 - rows[count:])])
    differ = (number[:, None] != number[None]) & has_teacher[:, None] & has_teacher[None]
    alike = ((similarity - WORD_SCALE * of_words @ of_words.T)[differ] ** 2).mean()
    predicted = F.normalize(network.teacher(hidden), dim=1)
    follow = (1 - (predicted * teacher).sum(1))[has_teacher].mean()

    own = F.normalize(written, dim=1)
    near = z[:count] @ own.T
    is_own = F.one_hot(words, len(own)).float()
    against = SCALE * own[words] @ z[count:].T + float(np.log(SPEECH_WEIGHT))
    spoken = F.cross_entropy(torch.cat([SCALE * (near - MARGIN * is_own), against], 1), words)
    # For each of the batch's words, its takes among all that is said.
    different = int(words.max()) + 1
    said = SCALE * torch.cat([near[:, :different].T, own[:different] @ z[count:].T], 1)
    takes = F.pad(is_own[:, :different].T, (0, len(rows) - count))
    log_takes = said - torch.logsumexp(said, 1, keepdim=True)
    word = spoken - (log_takes * takes).sum(1).div(takes.sum(1)).mean() * 0.5

    identity = torch.eye(len(rows))
    same = (number[:, None] == number[None]).float() - identity
    scores = (similarity - MARGIN * same) / TEMPERATURE - 1e9 * identity
    log_probabilities = scores - torch.logsumexp(scores, 1, keepdim=True)
    pairs = -((log_probabilities * same).sum(1) / same.sum(1).clamp(min=1)).mean()
    return {"pairs": pairs, "word": word, "relation": relation, "teacher": follow, "words": alike}


def stage(epoch):
    """The stage of an epoch: the epochs of it that are done, and its numbers."""
    for epochs, *numbers in STAGES:
        if epoch < epochs:
            return epoch, epochs, *numbers
        epoch -= epochs
    raise ValueError(epoch)


def train_epoch(epoch, steps, network, encoder, dictionary, optimizer, examples):
    """Trains one epoch; returns the mean of each loss by name."""
    generator, sums = seeded("embedding epoch", epoch), {}
    done_epochs, epochs, peak, dropped, weights = stage(epoch)
    for step in range(steps):
        done = done_epochs * steps + step
        set_rate(optimizer, peak * min(1.0, (done + 1) / 100) * 0.5 * (1 + math.cos(math.pi * done / (epochs * steps))))
        rows, words, columns = examples.batch(generator)
        hidden, z = network(F.dropout1d(columns.transpose(1, 2), dropped).transpose(1, 2))
        different, places = np.unique(words, return_inverse=True)
        written = encoder(*dictionary.batch(different, generator))
        parts = losses(hidden, F.normalize(z, dim=1), written, network, examples, rows, torch.from_numpy(places))
        optimizer.zero_grad()
        sum(weights[name] * value for name, value in parts.items()).backward()
        optimizer.step()
        for name, value in parts.items():
            sums[name] = sums.get(name, 0.0) + value.item() / steps
    return sums


def phonemes_path(out):
    """Where the phoneme encoder is written that was trained with a checkpoint."""
    return str(Path(out).with_suffix(".phonemes.pt"))


def main(arguments=None):
    parser = command_line.parser(__doc__, data=False)
    parser.add_argument("--model", required=True, help="the model folder to start from")
    parser.add_argument("--out", required=True, help="checkpoint to write, for export.py; beside it that of the phoneme encoder, for text.py")
    parser.add_argument("--dimensions", type=int, default=DIMENSIONS)
    parser.add_argument("--widths", type=int, nargs=3, default=list(WIDTHS), help="channels of the blocks and of the head")
    parser.add_argument(
        "--epochs",
        type=int,
        default=sum(epochs for epochs, *_ in STAGES),
        help="last epoch; fewer end the last stage early",
    )
    parser.add_argument("--steps", type=int, default=STEPS, help="batches of an epoch")
    parser.add_argument("--without", nargs="*", default=[], help="words to leave out, for measuring words that were never trained on")
    parser.add_argument("examples", nargs="+", help="files that embedding/render.py wrote")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    examples = Examples(options.examples, options.without)
    weights = model_weights.load(Path(options.model))
    network = WordEmbedding(weights, options.dimensions, options.widths)
    dictionary = Dictionary(examples.names, seeded("embedding epoch", 0), options.without)
    encoder = PhonemeEncoder(dictionary.said.count, options.dimensions)
    optimizer = torch.optim.AdamW([*network.parameters(), *encoder.parameters()], weight_decay=1e-4)
    first, part = 0, options.out + ".training"
    if os.path.exists(part):
        state = checkpoint.load(part)
        first = state["epoch"]
        network.load_state_dict(state["network"])
        encoder.load_state_dict(state["encoder"])
        optimizer.load_state_dict(state["optimizer"])
    for epoch in range(first, options.epochs):
        means = train_epoch(epoch, options.steps, network, encoder, dictionary, optimizer, examples)
        print(f"epoch {epoch + 1}", "  ".join(f"{name} {value:.3f}" for name, value in means.items()), flush=True)
        state = {"epoch": epoch + 1, "network": network.state_dict(), "encoder": encoder.state_dict()}
        checkpoint.save(part, state | {"symbols": dictionary.said.known, "optimizer": optimizer.state_dict()})
    checkpoint.save(options.out, network.state_dict())
    checkpoint.save(phonemes_path(options.out), {"symbols": dictionary.said.known, "encoder": encoder.state_dict()})


if __name__ == "__main__":
    main()
