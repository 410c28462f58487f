"""Measures the second look on clips: the program's answer fused with those of confirming networks.

    python -m Training.confirm.clips --data DIR --cache DIR --beckon BINARY --model DIR NETWORKS…
    python -m Training.confirm.clips … --strangers [--part tune] [--published FILE] FILE,SHARE[,OWN]…

NETWORKS are files of weights.py, joined by `+` where several confirm together: the mean of their log-posteriors, each over three shifts of the
clip. Words and everything else are fused with the program's answer, silence is the program's alone. The program's weight is chosen on the
tuning half, figures are of the reporting half.

With `--strangers` the clips are those of evaluate/strangers.py, clean and degraded. Each network has a SHARE of the log-posteriors, of one shift as
it ships, and the program the rest; of its weights OWN are its own and the rest the published ones.
"""

import os

import numpy as np
import torch

from Training.confirm import fusion
from Training.confirm.proposals import scaled
from Training.confirm.weights import Stored, mixed, read
from Training.data import command_line, new_speakers, recordings, suspects, upper_band, validation_sets
from Training.data.audio import RATE
from Training.data.vocabulary import COMMANDS
from Training.evaluate import no_words, validate
from Training.evaluate.held_out import HeldOut
from Training.evaluate.strangers import Strangers
from Training.model import metrics

# Shifts of a clip, in samples, and the program's weights that are tried.
SHIFTS = (-RATE // 10, 0, RATE // 10)
SHARES = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 1.0)
UNKNOWN, SILENCE = len(COMMANDS), len(COMMANDS) + 1


def shifted(waves, samples):
    """Waveforms [n, samples] later, silence before them."""
    moved = np.roll(waves, samples, axis=1)
    moved[:, : max(0, samples)] = 0
    moved[:, len(moved[0]) + min(0, samples) :] = 0
    return moved


def confirmed(network, samples, waves, shifts=SHIFTS):
    """Mean log-posteriors [n, 11] of a network for clips, with silence around them up to the samples of its window."""
    outside = samples - waves.shape[1]
    padded = np.pad(scaled(waves), ((0, 0), (outside // 2, outside - outside // 2)))
    return np.mean([fusion.answers(network, shifted(padded, by)) for by in shifts], axis=0)


def with_program(logs, scores, share):
    """Posteriors [n, 12] of `confirmed` answers and the program's scores [n, 12], which have this share."""
    silence = scores[:, SILENCE:]
    program = np.log(np.maximum(scores[:, :SILENCE], 1e-9))
    rest = fusion.fused((logs, program - np.logaddexp.reduce(program, axis=1, keepdims=True)), (1 - share, share))
    return np.concatenate([rest * (1 - silence), silence], axis=1)


class Sets:
    """The clips of a half by what they show, with their truth, and the program's scores."""

    def __init__(self, table, options, part):
        rows, waves, truth = validation_sets.clip_rows(table, part)
        kept = ~suspects.among(table["name"][rows]) if part == "tune" else np.full(len(rows), True)
        speakers = validate.speakers_of(table, rows)[kept]
        waves, truth = waves[kept], truth[kept]
        names, pictured = new_speakers.pictured(options.data, options.cache, part)
        words = [COMMANDS.index(word) if word in COMMANDS else UNKNOWN for word in (name.split("/")[0] for name in names)]
        negatives = [validation_sets.other_words(table, part, "clip")[1], validation_sets.other_words(table, part, "word")[1]]
        negatives.append(validation_sets.new_words(table, part)[1])
        sounds = no_words.windows(table, HeldOut(table, part))
        silent = {name: sounds[name][::4] for name in sounds}
        blocks = [waves, pictured, *negatives, *silent.values()]
        labels = [truth, np.array(words, np.int64), *(np.full(len(block), UNKNOWN) for block in blocks[2:])]
        self.waves, self.truth = np.concatenate(blocks).astype(np.float32), np.concatenate(labels)
        ends = np.cumsum([0] + [len(block) for block in blocks])
        block = lambda number: np.arange(ends[number], ends[number + 1])
        new = new_speakers.among(speakers)
        self.of = {
            "all": block(0),
            "words": block(0)[truth < UNKNOWN],
            "words, both versions": block(0)[(truth < UNKNOWN) & ~new],
            "words, new speakers": block(0)[(truth < UNKNOWN) & new],
            "words, pictures": block(1)[labels[1] < UNKNOWN],
            "other words": block(2),
            "other words, pictures": block(1)[labels[1] == UNKNOWN],
            "other collections": block(3),
            "cut from speech": block(4),
            "silence": block(0)[truth == SILENCE],
        }
        self.wordless = {f"{name}: taken": block(5 + number) for number, name in enumerate(silent)}
        self.scores = validate.scored(options.beckon, options.model, self.waves, confirm=False)

    def figures(self, posteriors):
        """Per cent right of each set, the calibration error of all clips, and per cent of seconds without a word that are taken for one."""
        answer = posteriors.argmax(axis=1)
        found = {name: 100 * (answer[rows] == self.truth[rows]).mean() for name, rows in self.of.items() if len(rows)}
        found["calibration error"] = metrics.calibration_error(posteriors[self.of["all"]], self.truth[self.of["all"]])
        return found | {name: 100 * (answer[rows] < UNKNOWN).mean() for name, rows in self.wordless.items()}


def quality(figures):
    """What the program's weight is chosen by: words by new speakers, recorded and pictured, and by the others, and other words."""
    chosen = ("words, both versions", "words, new speakers", "words, pictures", "other words", "other words, pictures")
    return np.mean([figures[name] for name in chosen if name in figures])


def parts_of(entry):
    """`FILE,SHARE[,OWN]` joined by `+` → [(file, its own part of the weights, share)]."""
    parts = [part.split(",") for part in entry.split("+")]
    return [(path, float(own[0]) if own else 1.0, float(share)) for path, share, *own in parts]


def together(entry, answers, scores):
    """Posteriors [n, 12] of the networks of an entry by `parts_of`, from their `answers` by file and part, and of the program's scores."""
    weighed = [(share, answers[path, own]) for path, own, share in parts_of(entry)]
    total = sum(share for share, _ in weighed)
    return with_program(sum(share * logs for share, logs in weighed) / total, scores, 1 - total)


def strangers(table, options):
    """Prints the figures of networks with given shares on the clips of strangers."""
    half = Strangers(table, options.data, options.cache, options.part, upper_band.learned(table))
    scores = validate.scored(options.beckon, options.model, half.waves, confirm=False)
    columns, answers = {"the program": half.figures(scores)}, {}
    for path, own, _ in (part for entry in options.networks for part in parts_of(entry)):
        if (path, own) not in answers:
            stored = read(path)
            weights = mixed(stored.weights, read(options.published).weights, own) if own < 1 else stored.weights
            network = Stored(weights, stored.kind, stored.seconds).network()
            answers[path, own] = confirmed(network, int(stored.seconds * RATE), half.waves, (0,))
    for entry in options.networks:
        columns["+".join(os.path.basename(part) for part in entry.split("+"))] = half.figures(together(entry, answers, scores))
    print(f"| {options.part}, % | clips | " + " | ".join(columns) + " |\n|---|---|" + "---|" * len(columns))
    for row in next(iter(columns.values())):
        count = len(half.of[row]) if row in half.of else ""
        print(f"| {row} | {count} | " + " | ".join(f"{figures[row]:.2f}" for figures in columns.values()) + " |")


def main(arguments=None):
    parser = command_line.parser(__doc__)
    command_line.add_program(parser)
    parser.add_argument("networks", nargs="+")
    parser.add_argument("--strangers", action="store_true", help="clips by strangers, clean and degraded, with given shares")
    parser.add_argument("--published", help="the published network, for a part of a network's own weights")
    command_line.add_part(parser)
    options = parser.parse_args(arguments)
    torch.set_num_threads(1)
    table = recordings.load_all(options.data, options.cache)
    if options.strangers:
        if not options.published and any(own < 1 for entry in options.networks for _, own, _ in parts_of(entry)):
            parser.error("a part of a network's own weights needs --published for the rest")
        strangers(table, options)
        return
    tune, report = (Sets(table, options, part) for part in ("tune", "report"))
    columns = {"the program as it is": report.figures(report.scores)}
    answers = {}
    for path in dict.fromkeys("+".join(options.networks).split("+")):
        stored = read(path)
        answers[path] = [confirmed(stored.network(), int(stored.seconds * RATE), half.waves) for half in (tune, report)]
    for entry in options.networks:
        logs = [np.mean([answers[path][half] for path in entry.split("+")], axis=0) for half in (0, 1)]
        tuned = {share: quality(tune.figures(with_program(logs[0], tune.scores, share))) for share in SHARES}
        best = max(tuned, key=tuned.get)
        name = "+".join(os.path.basename(path).split(".")[0] for path in entry.split("+"))
        columns[f"{name}, {best:g} of the program"] = report.figures(with_program(logs[1], report.scores, best))
    print("| reporting half, % | clips | " + " | ".join(columns) + " |\n|---|---|" + "---|" * len(columns))
    for row in next(iter(columns.values())):
        cells = [f"{figures[row]:.4f}" if row == "calibration error" else f"{figures[row]:.1f}" for figures in columns.values()]
        count = len((report.of | report.wordless).get(row, report.of["all"]))
        print(f"| {row} | {count} | " + " | ".join(cells) + " |")


if __name__ == "__main__":
    main()
