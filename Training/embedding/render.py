"""Renders the examples of the embedding's training: every word and much running speech, two views each.

    python -m Training.embedding.render --data DIR --cache DIR --teacher FILE --word-teacher FILE --model MODEL --out FILE
        [--seed N] [--same-place]

The model's first block does not change, so its columns are stored. The first view of a recording is as it is when a word is
enrolled, alone and well recorded; the second as it is in use, earlier or later in the window, among other speech, in noise. The
answers of two teachers in ONNX to the first view are stored too: a general speech embedding, and a network for wake words.
"""

import json
import re
from pathlib import Path

import numpy as np
import torch

from Training.augment import render, spectral, waveform
from Training.augment.speech_teacher import opened
from Training.data import command_line, log_mel
from Training.data.audio import RATE, WINDOW
from Training.data.seeding import generator as seeded
from Training.data.sources import spoken_word
from Training.data.vocabulary import HELD_OUT, JUDGES, MANY_WORDS, SYNTHETIC
from Training.embedding.network import TEACHER, WORD_TEACHER, first_block, unit
from Training.export import model_weights

# Examples of running speech, of one second each.
SPEECH = 12000
# Most examples of a word, so that the few words with thousands of clips leave time for others, and the shortest word that is cut
# out of a sentence, in seconds: of a shorter one little is left.
MOST, SHORTEST_CUT = 250, 0.15
# Share of the synthetic recordings that a set has, so that sets differ.
SYNTHETIC_SHARE = 0.6
# The teacher's window is the last 12,400 samples of the second.
TEACHER_START = WINDOW - 12400
BATCH = 64
# Range of vocal tract length perturbation.
WIDEST = 0.12
# Share of pairs of views, and of single ones, with the bands of a telephone alone.
TELEPHONE = 0.1


class Renderer:
    """Draws two views of a recording; with `same_place` both in the same position and surroundings."""

    def __init__(self, table, examples, generator, same_place):
        self.table, self.examples, self.generator, self.same_place = table, examples, generator, same_place

    def place(self, row, view, speed, begin):
        """One view [16000], the extent of its word in samples, and whether the word is alone."""
        table, g = self.table, self.generator
        start, length, wave = table["start"][row], float(table["length"][row]), np.zeros(WINDOW, np.float32)
        if table["kind"][row] == "speech":
            offset = begin if self.same_place else max(0.0, begin + g.uniform(-1300, 1300))
            waveform.place(table["audio"], wave, start, length, offset, speed, 0.0, length)
            return wave, (0, WINDOW), False
        first, last = float(table["from"][row]), float(table["to"][row])
        least, most = (-0.05, 0.35) if self.same_place else ((0.03, 0.22), (-0.06, 0.3))[view]
        end = WINDOW - g.uniform(least, most) * WINDOW
        offset, margin = last - end * speed, g.uniform(300, 1600)
        alone = (view == 0 and not self.same_place) or g.random() < 0.75
        low, high = (max(0.0, first - margin), min(length, last + margin)) if alone else (0.0, length)
        waveform.place(table["audio"], wave, start, length, offset, speed, low, high)
        return wave, (int(max(0, (first - offset) / speed)), int(max(400, min(WINDOW, end)))), alone

    def views(self, row):
        """Two views of a recording as mel energies [79, 40] each, and the first one's waveform [16000] for the teachers."""
        g, energies = self.generator, []
        speed, begin = g.uniform(0.93, 1.07), g.uniform(0, max(1.0, self.table["length"][row] - 19000.0))
        for view in range(2):
            wave, extent, alone = self.place(row, view, speed * g.uniform(0.95, 1.05), begin)
            if view == 0:
                level = waveform.level(wave, *extent) + 1e-6
                for_teacher = wave * (0.05 / level) + g.normal(0, 2e-4, WINDOW).astype(np.float32)
            if alone and (view == 1 or self.same_place) and g.random() < (0.35 if self.same_place else 0.6):
                self.examples.add_context(wave, extent, g)
            self.examples.surroundings.surround(wave, extent, g)
            energies.append(log_mel.mel_energies(wave[None])[0])
        return energies, for_teacher

    def augmented(self, energies):
        """Energies [2 n, 79, 40] → features with VTLP and microphone responses; each view of an example is another voice."""
        energies, g = np.stack(energies).astype(np.float32), self.generator
        vtlp = spectral.vtlp(len(energies), g, WIDEST)
        warped = np.einsum("ntb,nbc->ntc", energies, vtlp) * spectral.microphone_response(len(energies), g)[:, None, :]
        return log_mel.normalized(warped * self.telephone(len(energies))[:, None, :])

    def telephone(self, count):
        """Energy gains [count, bands]: most are 1; as many pairs of views as TELEPHONE, and as many single ones, are by telephone."""
        g, corner = self.generator, log_mel.corner_hertz(log_mel.description())[1:-1]
        outside, gains = (corner < 300) | (corner > 3400), np.ones((count, len(corner)), np.float32)
        by_telephone = np.repeat(g.random(count // 2) < TELEPHONE, 2) | (g.random(count) < TELEPHONE)
        gains[np.ix_(by_telephone, outside)] = 10 ** -g.uniform(2, 6)
        return gains


class WordTeacher:
    """A network for wake words in ONNX: log filter-bank energies of 1.5 s → [2048]."""

    # Samples of its window, and the shape of its input.
    SAMPLES, FRAMES, BANDS = 24000, 149, 64
    SIZE = WORD_TEACHER

    def __init__(self, path):
        self.session = opened(path)
        self.input = self.session.get_inputs()[0].name
        self.filters = self.filter_bank()

    @classmethod
    def filter_bank(cls):
        """Triangles between 64 points on the mel scale, on the bins of an FFT of 512, [257, bands]."""
        mel = np.linspace(0, 2595 * np.log10(1 + 8000 / 700), cls.BANDS + 2)
        bins = np.floor(513 * 700 * (10 ** (mel / 2595) - 1) / 16000)
        filters = np.zeros((257, cls.BANDS))
        for band, (low, middle, high) in enumerate(zip(bins, bins[1:], bins[2:])):
            rising, falling = np.arange(int(low), int(middle)), np.arange(int(middle), int(high))
            filters[rising, band] = (rising - low) / (middle - low)
            filters[falling, band] = (high - falling) / (high - middle)
        return filters

    def features(self, wave):
        """A waveform [24000] → log energies [149, 64]: windows of 25 ms every 10 ms without a taper."""
        frames = np.lib.stride_tricks.sliding_window_view(np.pad(wave, (0, 80)), 400)[::160][: self.FRAMES]
        power = np.abs(np.fft.rfft(frames, 512)) ** 2 / 512
        energies = power @ self.filters
        return np.log(np.where(energies == 0, np.finfo(float).eps, energies)).astype(np.float32)

    def __call__(self, waves):
        """Waveforms [n, 16000] → unit vectors [n, 2048]; a quarter of a second of silence is put at both ends."""
        found = []
        for wave in waves:
            padded = np.pad(wave, (self.SAMPLES - len(wave)) // 2)
            found.append(self.session.run(None, {self.input: self.features(padded)[None, None]})[0][0])
        return unit(np.array(found, np.float32).reshape(len(waves), self.SIZE))


class Teacher:
    """A general speech embedding in ONNX: the end of each waveform [n, 16000] → [n, 96]."""

    SIZE = TEACHER

    def __init__(self, path):
        self.session = opened(path)
        self.input = self.session.get_inputs()[0].name

    def __call__(self, waves):
        return self.session.run(None, {self.input: np.stack(waves)[:, TEACHER_START:]})[0][:, 0, 0]


def choose(table, generator, seconds, most, synthetic):
    """Rows of recordings in random order, `seconds` of them running speech; at most `most` of a word, and a share `synthetic` of the
    synthetic ones."""
    left_out = (*HELD_OUT, *JUDGES)
    train = table["part"] == "training"
    is_word = np.isin(table["kind"], ["clip", "word"]) & ~np.isin(table["label"], [name for name in MANY_WORDS if name != SYNTHETIC])
    is_word |= (table["kind"] == "cut") & (table["to"] - table["from"] >= SHORTEST_CUT * RATE)
    is_word &= (table["label"] != SYNTHETIC) | (generator.random(len(is_word)) < synthetic)
    word = lambda row: spoken_word(table["name"][row], table["label"][row])
    words = at_most(most, [row for row in np.flatnonzero(train & is_word) if word(row) not in left_out], word, generator)
    speech = np.flatnonzero(train & (table["kind"] == "speech"))
    share = table["length"][speech] / table["length"][speech].sum()
    return generator.permutation(np.concatenate([words, generator.choice(speech, seconds, p=share)]))


def at_most(most, rows, name, generator):
    """A random choice of the rows, with at most `most` of each name."""
    kept, counts = [], {}
    for row in generator.permutation(rows):
        counts[name(row)] = counts.get(name(row), 0) + 1
        if counts[name(row)] <= most:
            kept.append(row)
    return np.array(kept, int)


def render_all(renderer, teachers, weights, rows):
    """Columns of the first block [2 n, columns, channels] and each teacher's answers [n, 96] and [n, 2048], for rows of recordings [n]."""
    columns, answers = [], [[] for _ in teachers]
    for begin in range(0, len(rows), BATCH):
        energies, for_teachers = [], []
        for row in rows[begin : begin + BATCH]:
            views, wave = renderer.views(row)
            energies += views
            for_teachers.append(wave)
        columns.append(first_block(weights, renderer.augmented(energies)))
        for found, teacher in zip(answers, teachers):
            found.append(teacher(for_teachers).astype(np.float16))
        if begin % (100 * BATCH) == 0:
            print(f"{begin} of {len(rows)}", flush=True)
    return np.concatenate(columns), [np.concatenate(found) for found in answers]


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--teacher", required=True, help="the speech embedding, an ONNX file")
    parser.add_argument("--word-teacher", required=True, help="the network for wake words, an ONNX file")
    parser.add_argument("--most", type=int, default=MOST, help="most examples of a word")
    parser.add_argument("--model", required=True, help="the model folder whose first block is used")
    parser.add_argument("--out", required=True, help="the file to write")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--same-place", action="store_true", help="both views in the same position and surroundings")
    parser.add_argument("--speech", type=int, default=SPEECH, help="number of examples of running speech")
    parser.add_argument("--synthetic-share", type=float, default=SYNTHETIC_SHARE, help="share of the synthetic recordings")
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    teachers = Teacher(options.teacher), WordTeacher(options.word_teacher)
    weights = model_weights.load(Path(options.model))
    commands = json.loads((Path(options.model) / "model.json").read_text())["labels"][:-2]
    table, examples = render.load_examples(options.data, options.cache, commands)
    generator = seeded("embedding examples", seed=options.seed)
    renderer = Renderer(table, examples, generator, options.same_place)
    rows = choose(table, generator, options.speech, options.most, options.synthetic_share)
    is_speech = table["kind"] == "speech"
    # The class of each, by name; None for running speech.
    names = [None if is_speech[row] else spoken_word(table["name"][row], table["label"][row]) for row in rows]
    words = sorted({name for name in names if name is not None})
    numbers = {name: number for number, name in enumerate(words)} | {None: -1}

    columns, (general, of_words) = render_all(renderer, teachers, weights, rows)
    np.savez(
        options.out,
        columns=columns,
        teacher=general,
        word_teacher=of_words,
        classes=np.array([numbers[name] for name in names]),
        names=np.array(words),
        history=json.dumps(vars(options)),
    )


if __name__ == "__main__":
    main()
