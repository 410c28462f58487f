"""Writes the model's neighbours: common words, and what their embeddings are where people say them, by the text encoder.

    python -m Training.embedding.neighbours --data DIR --model MODEL

`beckon enroll` names those that sound like a taught word. The words are the most frequent ones of the recordings' transcripts that a
dictionary has. Run it after `Training.embedding.text`; the file is neighbours.safetensors, as Models/FORMAT.md says.
"""

from collections import Counter
from pathlib import Path

import numpy as np
import safetensors.numpy
import torch
import torch.nn.functional as F

from Training.data import command_line, recordings
from Training.embedding.text import DICTIONARY, LONGEST, TextEncoder, symbols
from Training.export import reference

COUNT = 6000
# Standard deviations at which numbers are clipped to four bits.
WIDEST = 3.5


def in_four_bits(vectors):
    """Vectors [n, d] → two numbers of 1 … 15 in a byte, 8 being zero, the first in the low bits, [n, d / 2] rounded up."""
    numbers = np.clip(np.round(vectors * 7 / (WIDEST * vectors.std())), -7, 7).astype(np.int16) + 8
    numbers = np.pad(numbers, ((0, 0), (0, numbers.shape[1] % 2)), constant_values=8)
    return (numbers[:, ::2] + 16 * numbers[:, 1::2]).astype(np.uint8)


def common_words(texts, listed, count):
    """The `count` words of the texts that are most frequent among those listed, sorted."""
    said = Counter(word for text in texts for word in text.lower().split() if word in listed)
    return sorted(word for word, _ in said.most_common(count))


def encoder(tensors):
    """The text encoder of a negative set's tensors."""
    state = {}
    for name, value in tensors.items():
        if name.startswith("text."):
            value = torch.from_numpy(value.astype(np.float32))
            state[name.removeprefix("text.")] = value.permute(2, 1, 0) if value.dim() == 3 else value
    made = TextEncoder(len(state["out.bias"]))
    made.load_state_dict(state)
    return made


def vectors(network, words):
    """Unit vectors [n, dimensions]."""
    letters = torch.zeros(len(words), LONGEST, dtype=torch.long)
    for row, word in enumerate(words):
        letters[row, : len(word)] = torch.tensor(symbols(word))
    with torch.no_grad():
        return F.normalize(torch.cat([network(part) for part in letters.split(1024)]), dim=1).numpy()


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--model", required=True, type=Path, help="the model folder to change")
    parser.add_argument("--words", type=int, default=COUNT, help="number of words")
    options = parser.parse_args(arguments)
    with open(DICTIONARY) as file:
        listed = {word for word in file.read().split() if word.isalpha() and word.isascii() and word.islower() and 2 < len(word) <= LONGEST}
    texts = recordings.load_all(options.data, options.cache)["text"]
    words = common_words(texts, listed, options.words)
    network = encoder(safetensors.numpy.load_file(options.model / "background.safetensors"))
    letters = np.stack([np.frombuffer(word.encode().ljust(LONGEST, b"\0"), np.uint8) for word in words])
    made = {"words": letters, "vectors": in_four_bits(vectors(network, words))}
    reference.save_tensors(options.model / "neighbours.safetensors", made)
    print(f"{len(words)} words")


if __name__ == "__main__":
    main()
