"""Measures an embedding on recorded words by people it was not trained on, enrolled with five takes of others.

    python -m Training.embedding.open_set --data DIR --cache DIR --model MODEL FOLDER|CHECKPOINT…

Open-set protocol: a word is the mean of five takes by different speakers; printed is how many of the other speakers' takes are
nearer to it than all but 5 % (1 %) of the clips of other words, and the AUROC. *recorded*: the words of Speech Commands by the
validation speakers. *new*: words that no model is trained on (vocabulary.HELD_OUT), by all speakers, some of whom say other
words in the training data. *one voice*: recorded words from four takes of one speaker, further takes of the same speaker at 1 %
of the other words' clips.
"""

import json
from pathlib import Path

import numpy as np
import torch

from Training.augment import waveform
from Training.data import command_line, log_mel, recordings, sources
from Training.data.audio import WINDOW
from Training.data.seeding import generator as seeded
from Training.data.vocabulary import HELD_OUT, UNSORTED
from Training.embedding.network import WordEmbedding, first_block, joined, names, unit
from Training.export import model_weights
from Training.model.metrics import auroc

# Random choices of takes per word, takes of a word, and takes of one voice.
DRAWS, TAKES, VOICE_TAKES = 10, 5, 4
# Minimum number of clips of a word.
LEAST = 9
# Samples between a word's end and the window's.
AFTER = 2000


def load(path, base):
    """A function from features [n, 79, 40] to embeddings [n, d], of a checkpoint of embedding/train.py on a model's weights `base`, or
    of a model folder."""

    def embedded(network, columns):
        with torch.no_grad():
            return network.eval()(torch.from_numpy(columns.astype(np.float32)))[1].numpy()

    if path.suffix == ".pt":
        trained = WordEmbedding.from_checkpoint(torch.load(path, weights_only=True), base)
        return lambda features: embedded(trained, first_block(base, features))
    weights = model_weights.load(path)
    parts = [(name, WordEmbedding.from_model(weights, name)) for name in names(json.loads((path / "model.json").read_text()))]
    return lambda features: joined([embedded(part, first_block(weights, features, name)) for name, part in parts])


class Clips:
    """Clips of words as features, with their words and speakers."""

    def __init__(self, table, part, generator):
        label, rows = table["label"], []
        is_word = np.isin(table["kind"], ["clip", "word"]) & (label != UNSORTED)
        for word in sorted(set(label[is_word])):
            usable = is_word & (label == word) & ((table["part"] == part) | np.isin(label, HELD_OUT))
            found = np.flatnonzero(usable)
            if len(found) >= LEAST:
                rows += list(found)
        self.words = label[rows]
        self.speakers = np.array([sources.speaker(name) for name in table["name"][rows]])
        features = []
        for begin in range(0, len(rows), 256):
            waves = np.stack([self.window(table, row, generator) for row in rows[begin : begin + 256]])
            features.append(log_mel.features(waves))
        self.features = np.concatenate(features)

    @staticmethod
    def window(table, row, generator):
        """The window [16000] that ends 125 ms after a clip's word."""
        wave = np.zeros(WINDOW, np.float32)
        first, last = float(table["from"][row]), float(table["to"][row])
        offset, low = last - WINDOW + AFTER, max(0.0, first - 800)
        waveform.place(table["audio"], wave, table["start"][row], table["length"][row], offset, 1.0, low, last + 1600)
        return wave + generator.normal(0, 3e-4, WINDOW).astype(np.float32)

    def embedded(self, network):
        """Unit vectors [clips, d]."""
        return unit(np.concatenate([network(part) for part in np.split(self.features, range(512, len(self.features), 512))]))


def by_others(clips, vectors, words):
    """Per cent recognized at 5 and at 1 % of the other words' clips, and the AUROC: means over words and draws."""
    generator, found = seeded("open-set takes"), []
    for word in words:
        own, others = np.flatnonzero(clips.words == word), vectors[clips.words != word]
        for _ in range(DRAWS):
            takes = generator.choice(own, TAKES, replace=False)
            rest = own[~np.isin(clips.speakers[own], clips.speakers[takes])]
            if len(rest) == 0:
                continue
            center = unit(vectors[takes].mean(0))
            positive, negative = vectors[rest] @ center, others @ center
            shares = [100 * np.mean(positive >= np.quantile(negative, 1 - limit)) for limit in (0.05, 0.01)]
            found.append((*shares, auroc(positive, negative)))
    return np.mean(found, axis=0)


def by_one(clips, vectors):
    """Per cent of a speaker's further takes recognized at 1 % of the other words' clips, and their number."""
    generator, found = seeded("own-voice takes"), []
    for word, speaker in sorted(set(zip(clips.words, clips.speakers))):
        own = generator.permutation(np.flatnonzero((clips.words == word) & (clips.speakers == speaker)))
        if len(own) <= VOICE_TAKES:
            continue
        center = unit(vectors[own[:VOICE_TAKES]].mean(0))
        threshold = np.quantile(vectors[clips.words != word] @ center, 0.99)
        found += list(vectors[own[VOICE_TAKES:]] @ center >= threshold)
    return 100 * np.mean(found) if found else np.nan, len(found)


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--model", required=True, help="the model folder whose first block a checkpoint builds on")
    command_line.add_part(parser)
    parser.add_argument("measured", nargs="+", type=Path, help="model folders, or checkpoints of embedding/train.py")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    base = model_weights.load(Path(options.model))
    clips = Clips(recordings.load_all(options.data, options.cache), options.part, seeded("open-set clips"))
    new = [word for word in HELD_OUT if word in clips.words]
    recorded = [
        word for word in sorted(set(clips.words)) if word not in HELD_OUT and (clips.words == word).sum() > 2 * TAKES
    ]
    print(f"part {options.part}: {len(clips.words)} clips of {len(set(clips.words))} words; new: {', '.join(new)}")
    for path in options.measured:
        vectors = clips.embedded(load(path, base))
        for name, words in (("recorded", recorded), ("new", new)):
            if not words:
                continue
            five, one, area = by_others(clips, vectors, words)
            print(f"{path}: {name}: {five:.1f} % at 5 %, {one:.1f} % at 1 %, AUROC {area:.3f}")
        share, count = by_one(clips, vectors)
        print(f"{path}: one voice: {share:.1f} % of {count} at 1 %")


if __name__ == "__main__":
    main()
