"""Trains the text encoder: from a word's letters to the vector that its embedding has where people say it.

    python -m Training.embedding.text --model MODEL CHECKPOINT [CHECKPOINT]

The phoneme encoders that were trained with the parts of the embedding (`pronunciation.py`, beside each CHECKPOINT) answer for any text
that espeak-ng can read. A network that reads letters learns these answers over a whole dictionary, so that the program needs no
synthesizer when a word is enrolled. Its tensors are written into MODEL's background.safetensors, as Models/FORMAT.md says.
"""

from pathlib import Path

import numpy as np
import safetensors.numpy
import torch
import torch.nn.functional as F

from Training.data import command_line
from Training.data.seeding import generator as seeded
from Training.data.vocabulary import HELD_OUT, JUDGES
from Training.embedding.pronunciation import PhonemeEncoder, Pronunciations
from Training.embedding.train import phonemes_path
from Training.export import reference
from Training.model import checkpoint
from Training.model.train import set_rate

DICTIONARY = "/usr/share/dict/american-english"
# Letters at most, channels, and the kernel of the convolutions.
LONGEST, CHANNELS, KERNEL = 24, 128, 5
# Pairs of words, and the share of them that are written as one word.
PAIRS, JOINED = 60000, 0.4
STEPS, BATCH, RATE = 12000, 160, 2e-3
# One text in so many is not trained on but tells how well the others are learned.
TESTED = 50
LAYERS = ("first", "second", "third")


def symbols(text):
    """The letters of a text as numbers: a … z are 1 … 26, what lies between words 27; all else is left out."""
    words = "".join(c if "a" <= c <= "z" else " " if c in " _-" else "" for c in text.lower()).split()
    return [27 if c == " " else ord(c) - 96 for c in " ".join(words)][:LONGEST]


class TextEncoder(torch.nn.Module):
    """Symbols [n, LONGEST], 0 after the end → vectors [n, dimensions]."""

    def __init__(self, dimensions):
        super().__init__()
        self.letter = torch.nn.Embedding(28, CHANNELS, padding_idx=0)
        self.begin, self.end = torch.nn.Embedding(LONGEST, CHANNELS), torch.nn.Embedding(LONGEST, CHANNELS)
        for place in (self.begin, self.end):
            torch.nn.init.normal_(place.weight, std=0.3)
        for name in LAYERS:
            self.add_module(name, torch.nn.Conv1d(CHANNELS, CHANNELS, KERNEL, padding=KERNEL // 2))
        self.out = torch.nn.Linear(2 * CHANNELS, dimensions)

    def forward(self, symbols):
        within = (symbols > 0).float()
        lengths = within.sum(1, keepdim=True).clamp(min=1)
        place = torch.arange(symbols.shape[1])[None]
        to_end = (lengths.long() - 1 - place).clamp(min=0)
        x = self.letter(symbols) + self.begin(place) + self.end(to_end)
        x = (x * within[..., None]).transpose(1, 2)
        for name in LAYERS:
            x = torch.relu(self.get_submodule(name)(x)) * within[:, None] + (0 if name == LAYERS[0] else x)
        return self.out(torch.cat([x.sum(2) / lengths, x.amax(2)], 1))


def texts(pairs, generator):
    """Words of the dictionary and so many pairs of them: how each is written, and how it is read."""
    with open(DICTIONARY) as file:
        listed = {word.lower() for word in file.read().split() if word.isalpha() and word.isascii() and len(word) > 2}
    words = sorted(listed - {*HELD_OUT, *JUDGES})
    short = [word for word in words if len(word) < 9]
    read = [" ".join(pair) for pair in generator.choice(short, (pairs, 2))]
    written = [pair.replace(" ", "") if generator.random() < JOINED else pair for pair in read]
    return words + written, words + read


def answers(paths, read):
    """Unit vectors [n, d]: the phoneme encoders' answers to texts."""
    states = [checkpoint.load(phonemes_path(path)) for path in paths]
    said = Pronunciations(read, states[0]["symbols"])
    found = []
    for state in states:
        encoder = PhonemeEncoder(said.count, len(state["encoder"]["out.bias"]))
        encoder.load_state_dict(state["encoder"])
        with torch.no_grad():
            parts = [encoder(s, n) for s, n in zip(said.symbols.split(1024), said.lengths.split(1024))]
        found.append(F.normalize(torch.cat(parts), dim=1))
    return F.normalize(torch.cat(found, 1), dim=1)


def train(encoder, letters, target, steps, generator):
    """Trains the encoder; prints the mean cosine over texts that it did not learn."""
    tested = torch.arange(len(letters)) % TESTED == 0
    learned = torch.nonzero(~tested)[:, 0].numpy()
    optimizer = torch.optim.AdamW(encoder.parameters(), weight_decay=1e-4)
    for step in range(steps):
        set_rate(optimizer, RATE * min(1.0, (step + 1) / 100) * 0.5 * (1 + np.cos(np.pi * step / steps)))
        rows = torch.from_numpy(generator.choice(learned, BATCH))
        loss = (1 - F.cosine_similarity(encoder(letters[rows]), target[rows])).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (step + 1) % 1000 == 0 or step + 1 == steps:
            with torch.no_grad():
                cosine = F.cosine_similarity(encoder(letters[tested]), target[tested])
            print(f"step {step + 1}: loss {loss.item():.3f}, cosine of new texts {cosine.mean():.3f}", flush=True)


def tensors(encoder):
    """The tensors by name, a convolution's kernel as [kernel, in, out]."""
    made = {}
    for name, value in encoder.state_dict().items():
        made[f"text.{name}"] = (value.permute(2, 1, 0) if value.dim() == 3 else value).numpy().astype(np.float16)
    return made


def main(arguments=None):
    parser = command_line.parser(__doc__, data=False)
    parser.add_argument("--model", required=True, type=Path, help="the model folder to change")
    parser.add_argument("parts", nargs="+", help="checkpoints of the embedding's parts, in their order")
    parser.add_argument("--pairs", type=int, default=PAIRS, help="pairs of words")
    parser.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    torch.manual_seed(0)
    generator = seeded("text encoder")
    written, read = texts(options.pairs, generator)
    target = answers(options.parts, read)
    letters = torch.zeros(len(written), LONGEST, dtype=torch.long)
    for row, text in enumerate(written):
        numbers = symbols(text)
        letters[row, : len(numbers)] = torch.tensor(numbers)
    encoder = TextEncoder(target.shape[1])
    train(encoder, letters, target, options.steps, generator)
    path = options.model / "background.safetensors"
    kept = {name: value for name, value in safetensors.numpy.load_file(path).items() if not name.startswith("text.")}
    reference.save_tensors(path, kept | tensors(encoder))


if __name__ == "__main__":
    main()
