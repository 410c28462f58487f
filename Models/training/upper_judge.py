"""Measures an embedding on recorded words by people it was not trained on, as words are taught: by five takes of others.

    python upper_judge.py --data DIR --runs RUNS --model MODEL FOLDER|CHECKPOINT…

The open-set protocol: a word is learnt from five takes of different speakers; how many of the other speakers' takes are nearer to
their mean than all but 5 % (1 %) of the clips of the other words, and the area under the curve. *recorded*: Speech Commands'
words by the validation speakers. *new*: the words that no model is trained on (examples.HELD_OUT), by everybody, some of whom
were trained on saying other words. *one voice*:
recorded words from four takes of one speaker, more of the same speaker's at so many false accepts as 1 % of the other words' clips.
"""

import argparse
from pathlib import Path

import numpy as np
import safetensors.numpy
import torch

import frontend
import mixing
import recordings
from examples import HELD_OUT, WINDOW
from upper import Upper, unit
from upper_examples import first_block
from validation import area

DRAWS, TAKES, VOICE_TAKES = 10, 5, 4
# Clips of a word at least.
LEAST = 9
# Samples of quiet between a word's end and the window's.
AFTER = 2000


def network(path, base):
    """From what upper_train.py wrote, or from a model folder."""
    if path.suffix == ".pt":
        return Upper.restored(torch.load(path, weights_only=True), base).eval()
    return Upper.of(safetensors.numpy.load_file(path / "model.safetensors")).eval()


class Clips:
    """Clips of words, up to the first block's columns; `speaker` is what stands before `_nohash_`, else the file's name."""

    def __init__(self, table, base, generator):
        label, rows = table["label"], []
        of_word = np.isin(table["kind"], ["clip", "word"]) & (label != "honk_random")
        for word in sorted(set(label[of_word])):
            at_hand = of_word & (label == word) & ((table["part"] == "validation") | np.isin(label, HELD_OUT))
            found = np.flatnonzero(at_hand)
            if len(found) >= LEAST:
                rows += list(found)
        self.words = label[rows]
        self.speakers = np.array([name.split("/")[-1].split("_nohash_")[0] for name in table["name"][rows]])
        columns = []
        for begin in range(0, len(rows), 256):
            waves = np.stack([self.window(table, row, generator) for row in rows[begin : begin + 256]])
            columns.append(first_block(base, frontend.normalised(frontend.mel_energies(waves))))
        self.columns = np.concatenate(columns)

    @staticmethod
    def window(table, row, generator):
        wave = np.zeros(WINDOW, np.float32)
        first, last = float(table["from"][row]), float(table["to"][row])
        offset = last - WINDOW + AFTER
        length = table["length"][row]
        mixing.place(table["audio"], wave, table["start"][row], length, offset, 1.0, max(0.0, first - 800), last + 1600)
        return wave + generator.normal(0, 3e-4, WINDOW).astype(np.float32)

    def embedded(self, made_by):
        with torch.no_grad():
            parts = [
                made_by(torch.from_numpy(part.astype(np.float32)))[1]
                for part in np.split(self.columns, range(512, len(self.columns), 512))
            ]
        return unit(torch.cat(parts).numpy())


def by_others(clips, vectors, words):
    """Per cent heard at 5 and at 1 % of the others, and the area, means over words and draws."""
    generator, found = np.random.default_rng(3), []
    for word in words:
        own, others = np.flatnonzero(clips.words == word), vectors[clips.words != word]
        for _ in range(DRAWS):
            takes = generator.choice(own, TAKES, replace=False)
            rest = own[~np.isin(clips.speakers[own], clips.speakers[takes])]
            centre = unit(vectors[takes].mean(0))
            wanted, unwanted = vectors[rest] @ centre, others @ centre
            shares = [100 * np.mean(wanted >= np.quantile(unwanted, 1 - limit)) for limit in (0.05, 0.01)]
            found.append((*shares, area(wanted, unwanted)))
    return np.mean(found, axis=0)


def by_one(clips, vectors):
    """Per cent of a speaker's further takes heard at 1 % of the other words' clips, and how many there were."""
    generator, heard = np.random.default_rng(5), []
    for word, speaker in sorted(set(zip(clips.words, clips.speakers))):
        own = generator.permutation(np.flatnonzero((clips.words == word) & (clips.speakers == speaker)))
        if len(own) <= VOICE_TAKES:
            continue
        centre = unit(vectors[own[:VOICE_TAKES]].mean(0))
        threshold = np.quantile(vectors[clips.words != word] @ centre, 0.99)
        heard += list(vectors[own[VOICE_TAKES:]] @ centre >= threshold)
    return 100 * np.mean(heard) if heard else np.nan, len(heard)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", required=True, help="folder of recordings, as for train.py")
    parser.add_argument("--runs", required=True, help="folder of the recordings' cache")
    parser.add_argument("--model", required=True, help="the model folder whose first block a checkpoint stands on")
    parser.add_argument("judged", nargs="+", type=Path, help="model folders, or what upper_train.py wrote")
    options = parser.parse_args()
    torch.set_num_threads(1)
    base = safetensors.numpy.load_file(Path(options.model) / "model.safetensors")
    clips = Clips(recordings.load_all([options.data], options.runs), base, np.random.default_rng(7))
    new = [word for word in HELD_OUT if word in clips.words]
    recorded = [
        word for word in sorted(set(clips.words)) if word not in HELD_OUT and (clips.words == word).sum() > 2 * TAKES
    ]
    print(f"{len(clips.words)} clips of {len(set(clips.words))} words; new: {', '.join(new)}")
    for path in options.judged:
        vectors = clips.embedded(network(path, base))
        for name, words in (("recorded", recorded), ("new", new)):
            five, one, under = by_others(clips, vectors, words)
            print(f"{path}: {name}: {five:.1f} % at 5 %, {one:.1f} % at 1 %, AUROC {under:.3f}")
        share, count = by_one(clips, vectors)
        print(f"{path}: one voice: {share:.1f} % of {count} at 1 %")


if __name__ == "__main__":
    main()
