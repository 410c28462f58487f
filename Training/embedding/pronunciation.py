"""Vectors of words by how they are pronounced, for training alone: they tell the embedding which words are alike.

A vector for each word of the training says nothing of other words. Vectors that a small network makes of phonemes are alike where
phonemes are, so an embedding that is drawn to them puts words that it never heard between those that it knows.
"""

import re
import subprocess

import torch

VOICE = "en-us"
# Symbols of a text at most; the rest is cut off.
LONGEST = 20
# Values of a symbol and of its place, and channels between.
SYMBOL, PLACE, CHANNELS = 48, 16, 128


def phonemes(texts):
    """The phonemes of texts, as espeak-ng reads them, as lists of symbols without stress; "|" is between words."""
    lines = [re.sub(r"[^A-Za-z' ]", " ", text) for text in texts]
    said = "".join(f"{line}.\n\n" for line in lines)
    command = ["espeak-ng", "-q", "-x", "--sep=_", "-v", VOICE, "--stdin"]
    found = subprocess.run(command, input=said, capture_output=True, text=True, check=True).stdout.split("\n")[:-1]
    if len(found) != len(texts):
        if len(texts) == 1:
            raise ValueError(f"espeak-ng reads '{texts[0]}' in {len(found)} parts")
        middle = len(texts) // 2
        return phonemes(texts[:middle]) + phonemes(texts[middle:])
    plain = [re.sub(r"[',%=]", "", line.strip()).replace(" ", "_|_") for line in found]
    return [[symbol for symbol in line.split("_") if symbol] for line in plain]


class Pronunciations:
    """The phonemes of texts as numbers: `symbols` [n, LONGEST], 0 after the end, and `lengths` [n]."""

    def __init__(self, texts, known=None):
        """`known` are the symbols of an encoder; without them, all of these texts. Others are left out."""
        self.said = ["_".join(symbols[:LONGEST]) for symbols in phonemes(texts)]
        self.known = known or sorted({symbol for said in self.said for symbol in said.split("_")})
        number = {symbol: number + 1 for number, symbol in enumerate(self.known)}
        self.count = len(self.known) + 1
        self.symbols = torch.zeros(len(texts), LONGEST, dtype=torch.long)
        for row, said in enumerate(self.said):
            numbers = [number[symbol] for symbol in said.split("_") if symbol in number]
            self.symbols[row, : len(numbers)] = torch.tensor(numbers)
        self.lengths = (self.symbols > 0).sum(1).clamp(min=1)


class PhonemeEncoder(torch.nn.Module):
    """Symbols [n, LONGEST] and lengths [n] → vectors [n, dimensions]."""

    def __init__(self, symbols, dimensions):
        super().__init__()
        self.symbol = torch.nn.Embedding(symbols, SYMBOL, padding_idx=0)
        # Places from the beginning and from the end.
        self.first, self.last = torch.nn.Embedding(LONGEST, PLACE), torch.nn.Embedding(LONGEST, PLACE)
        self.lower = torch.nn.Conv1d(SYMBOL + 2 * PLACE, CHANNELS, 3, padding=1)
        self.upper = torch.nn.Conv1d(CHANNELS, CHANNELS, 3, padding=1)
        self.out = torch.nn.Linear(2 * CHANNELS, dimensions)

    def forward(self, symbols, lengths):
        place = torch.arange(LONGEST)[None]
        within = (place < lengths[:, None]).float()
        to_end = (lengths[:, None] - 1 - place).clamp(min=0)
        x = torch.cat([self.symbol(symbols), self.first(place).expand(len(symbols), -1, -1), self.last(to_end)], 2)
        x = (x * within[..., None]).transpose(1, 2)
        x = torch.relu(self.lower(x)) * within[:, None]
        x = torch.relu(self.upper(x)) * within[:, None]
        mean, most = x.sum(2) / lengths[:, None], x.amax(2)
        return self.out(torch.cat([mean, most], 1))
