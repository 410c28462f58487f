"""Measures models on the clips of held-out speakers through the program itself.

    python -m Training.evaluate.validate --data DIR --cache DIR --beckon BINARY --model MODEL… [--part tune]

The clips of data/validation_sets.py are written as WAV files and scored by `beckon classify --clips --json`, so the result is
the accuracy of the program, not of PyTorch. Figures have 95 % intervals over speakers, and are given with and without the clips
of data/suspects.tsv, whose label is doubtful. Speakers whom only the dataset's second version has are strangers to every network that
was trained on the first: their words, recorded or made of pictures, have a table of their own. Of seconds without a word, the share that is
taken for one is given.
"""

import tempfile

import numpy as np

from Training.data import command_line, new_speakers, recordings, sources, suspects, validation_sets
from Training.data.vocabulary import COMMANDS, SILENCE, UNKNOWN
from Training.evaluate import intervals, no_words, program
from Training.evaluate.held_out import HeldOut
from Training.model import metrics

LABELS = COMMANDS + [UNKNOWN, SILENCE]


def scored(beckon, model, waves, confirm=True):
    """Posteriors [n, labels] of the program for waveforms [n, 16000]; without `confirm`, of its streaming network alone."""
    with tempfile.TemporaryDirectory() as folder:
        return program.posteriors(beckon, model, program.write_clips(folder, waves), LABELS, confirm=confirm)


def measure(table, beckon, model, part="report"):
    """Accuracies in per cent (all, words, unknown, silence), the calibration error `ece`, and the number of `clips`."""
    waves, truth = validation_sets.clips(table, part)
    posteriors = scored(beckon, model, waves)
    result = {key: float(value) for key, value in metrics.accuracy(posteriors, truth).items()}
    return result | {"ece": float(metrics.calibration_error(posteriors, truth)), "clips": len(waves)}


def rows_of(posteriors, truth, speakers):
    """Name, number of clips and figure with its interval, of all clips, words, unknown, silence, and the calibration error."""
    right = posteriors.argmax(axis=1) == truth
    unknown = len(COMMANDS)
    sets = {
        "all": truth >= 0,
        "words": truth < unknown,
        "other words, 10 % of the clips": truth == unknown,
        "silence, 10 % of the clips": truth == unknown + 1,
    }
    for name, chosen in sets.items():
        if chosen.any():
            drawn = intervals.weights(speakers[chosen])
            yield name, chosen.sum(), intervals.text(100 * right[chosen].mean(), intervals.share(right[chosen], drawn))
    errors = intervals.calibration_error(posteriors, truth, intervals.weights(speakers))
    yield "calibration error", len(truth), intervals.text(metrics.calibration_error(posteriors, truth), errors, 4)


def by_strangers(posteriors, truth, speakers, pictured):
    """Name, number of clips and share of right answers with its interval: of words by speakers whom both versions of the dataset have, and
    by those whom only the second has. `pictured` holds posteriors, truth and speakers of what is made of pictures."""
    words, new = truth < len(COMMANDS), new_speakers.among(speakers)
    sets = {
        "words, speakers of both versions": (words & ~new, posteriors, truth, speakers),
        "words, speakers of the second version alone, recorded": (words & new, posteriors, truth, speakers),
        "words, the same speakers, from pictures": (pictured[1] < len(COMMANDS), *pictured),
        "other words, the same speakers, from pictures": (pictured[1] == len(COMMANDS), *pictured),
    }
    for name, (chosen, answers, labels, who) in sets.items():
        if chosen.any():
            right = answers[chosen].argmax(axis=1) == labels[chosen]
            yield name, chosen.sum(), intervals.text(100 * right.mean(), intervals.share(right, intervals.weights(who[chosen])))


def of_pictures(beckon, model, names, waves):
    """Posteriors, truth and speakers of clips [n, 16000] made of pictures, for their names [n]."""
    words = [name.split("/")[0] for name in names]
    truth = np.array([COMMANDS.index(word) if word in COMMANDS else len(COMMANDS) for word in words], np.int64)
    speakers = np.array([sources.speaker(name) for name in names], dtype=str)
    return scored(beckon, model, waves) if len(waves) else np.zeros((0, len(LABELS))), truth, speakers


def report(table, beckon, model, part, pictured=((), ())):
    """Yields the lines of one model's table; `pictured` are names and waveforms of clips made of pictures."""
    rows, waves, truth = validation_sets.clip_rows(table, part)
    posteriors = scored(beckon, model, waves)
    speakers = speakers_of(table, rows)
    certain = ~suspects.among(table["name"][rows])
    yield f"{model}, part `{part}`: {len(set(speakers[truth <= len(COMMANDS)]))} speakers\n"
    yield f"| | clips | all clips | clips | without {(~certain).sum()} suspects |\n|---|---|---|---|---|"
    every = list(rows_of(posteriors, truth, speakers))
    for (name, count, figure), (_, fewer, certainly) in zip(
        every, rows_of(posteriors[certain], truth[certain], speakers[certain])
    ):
        yield f"| {name} | {count} | {figure} | {fewer} | {certainly} |"
    for name, (others, waves) in {
        "every clip of another word": validation_sets.other_words(table, part, "clip"),
        "other words of other collections": validation_sets.other_words(table, part, "word"),
        "words that no training recording has, cut out of running speech": validation_sets.new_words(table, part),
    }.items():
        if len(others):
            unknown = scored(beckon, model, waves).argmax(axis=1) == len(COMMANDS)
            yield row_of_others(name, unknown, speakers_of(table, others), ~suspects.among(table["name"][others]))
    yield "\n| by whom | clips | right, % |\n|---|---|---|"
    for cells in by_strangers(posteriors, truth, speakers, of_pictures(beckon, model, *pictured)):
        yield "| " + " | ".join(map(str, cells)) + " |"
    yield "\n| seconds without a word | windows | taken for a word, % | … with 0.8 or more |\n|---|---|---|---|"
    for name, waves in no_words.windows(table, HeldOut(table, part)).items():
        posteriors = scored(beckon, model, waves)
        taken = 100 * (posteriors.argmax(axis=1) < len(COMMANDS)).mean()
        yield f"| {name} | {len(waves)} | {taken:.1f} | {metrics.false_accepts(posteriors, 0.8):.1f} |"


def row_of_others(name, unknown, speakers, certain):
    """A line of the table: the share of other words [n] that are `unknown`, of all of them and of those that are `certain`."""
    cells = []
    for chosen in (np.full(len(unknown), True), certain):
        figure = intervals.share(unknown[chosen], intervals.weights(speakers[chosen]))
        cells += [str(chosen.sum()), intervals.text(100 * unknown[chosen].mean(), figure)]
    return f"| {name} | " + " | ".join(cells) + " |"


def speakers_of(table, rows):
    """The speakers of some recordings, [n]."""
    return np.array([sources.speaker(name) for name in table["name"][rows]])


def main(arguments=None):
    parser = command_line.parser(__doc__)
    parser.add_argument("--beckon", required=True, help="the built program")
    command_line.add_part(parser)
    parser.add_argument("--model", required=True, nargs="+", help="the model folders to measure")
    options = parser.parse_args(arguments)
    table = recordings.load_all(options.data, options.cache)
    pictured = new_speakers.pictured(options.data, options.cache, options.part)
    for model in options.model:
        for text in report(table, options.beckon, model, options.part, pictured):
            print(text, flush=True)
        print(flush=True)


if __name__ == "__main__":
    main()
