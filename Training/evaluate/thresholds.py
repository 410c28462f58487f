"""Chooses the words' thresholds for each sensitivity on streams of the tuning half, and measures them on the reporting half.

    python -m Training.evaluate.thresholds --beckon BINARY --model MODEL --tune DIR --report DIR [--write]

DIR are folders of streams.py. A threshold is the lowest with at most so many false accepts an hour (RATES) of the tuning half's people who
talk in sentences, and of all its talk, clean and in noise at 20 and 10 dB. A few people decide how many there are, so that the halves may
differ several times. Single names and numbers, and readers who pause after each word, are no sentences: a word said alone is what a command is.
Streams are needed because such rates are below what any set of clips can resolve. With --write the thresholds and what was
measured at them are written into model.json, and the tables into the model's card.
"""

import json
import os

import numpy as np

from Training.data import command_line, files, split
from Training.evaluate import intervals, stream_counts

# False accepts an hour of each sensitivity, of sentences and of all recorded talk. Inside talk a little more is allowed. They were set by
# hand while the reporting half's rates were known; figures of other speakers are needed to confirm them.
RATES = {
    "command": {"strict": (0.2, 0.6), "balanced": (1.0, 3.0), "eager": (3.0, 6.0)},
    "spot": {"strict": (0.4, 0.8), "balanced": (2.0, 4.0), "eager": (5.0, 8.0)},
}
DEFAULT = ("balanced", "command")
WORDS, TALK, READ = "words-noise-10", "talk-", "talk-read"
# Sources of single names, letters and numbers.
SINGLE = tuple(TALK + source for source in (*split.SPELLING, "wuw2"))
# Words a second below which a file holds readers who pause after each word.
SLOW = 1.0
# Range of a threshold, and the threshold above which the tail of false accepts is modelled.
RANGE, TAIL = (0.4, 0.9999), 0.5
# False accepts that are credited beside those counted.
PRIOR = 0.5


def logit(probability):
    return np.log(probability / (1 - probability))


def expected(false_accepts, thresholds):
    """Expected false accepts [thresholds], from those counted [thresholds] at ascending thresholds.

    Above TAIL false accepts fall exponentially with the logit of the threshold; the expectation is the larger of this model and
    the count, so that the luck of a threshold just above the last false accept is not believed.
    """
    first = int(np.searchsorted(thresholds, TAIL))
    x = logit(thresholds[first:])
    above = false_accepts[first:].astype(float)
    area = ((above[:-1] + above[1:]) / 2 * np.diff(x)).sum()
    slope = above[0] / area if area > 0 else 1.0
    model = (above[0] + PRIOR) * np.exp(-slope * (x - x[0]))
    return np.concatenate([false_accepts[:first] + PRIOR, np.maximum(above, model)])


def choose(talks, budgets):
    """The index of the lowest threshold at which each of `talks` is expected to have at most its budget of false accepts an hour."""
    thresholds = talks[0].thresholds
    within = (thresholds >= RANGE[0]) & (thresholds <= RANGE[1])
    for talk, budget in zip(talks, budgets):
        within &= expected(talk.false_accepts.sum(axis=(0, 1)), thresholds) <= budget * talk.hours
    return int(within.argmax()) if within.any() else int(np.flatnonzero(thresholds <= RANGE[1])[-1])


def choose_all(talks_by_mode):
    """The thresholds' indices [words] of each sensitivity by mode, from the counts of sentences and of all talk by mode."""
    return {
        mode: {name: np.full(len(talks[0].words), choose(talks, rates)) for name, rates in RATES[mode].items()}
        for mode, talks in talks_by_mode.items()
    }


def recorded_talk(counts):
    """The counts of all recorded talk by set."""
    return {name: part for name, part in counts.items() if name.startswith(TALK) and not name.startswith(READ)}


def sentences(counts):
    """The counts of people who talk in sentences."""
    sets = (part for name, part in recorded_talk(counts).items() if not name.startswith(SINGLE))
    return stream_counts.joined(part.of_files(~(part.pace < SLOW)) for part in sets)


def rate_text(counts, chosen):
    """False accepts an hour with their interval."""
    low, high = stream_counts.false_accept_interval(counts, chosen)
    return f"{stream_counts.false_accepts(counts, chosen)[0]:.2f} ({low:.2f}–{high:.2f})/h"


def table(counts, chosen):
    """Lines of Markdown: each set's recall or false accepts at each sensitivity's thresholds, with 95 % intervals."""
    yield "| recordings | min | words | " + " | ".join(chosen) + " |"
    yield "|---|---|---|" + "---|" * len(chosen)
    talk = recorded_talk(counts)
    recorded = {"sentences": sentences(counts), "all recorded talk": stream_counts.joined(talk.values())}
    for ending in ("clean", "noise-20", "noise-10"):
        own = {name: part for name, part in talk.items() if name.endswith(ending)}
        recorded[f"sentences, {ending}"] = sentences(own)
    for name, part in (recorded | counts).items():
        said = int(part.said.sum())
        if name.startswith("words"):
            cells = [intervals.text(*stream_counts.recall(part, indices)) + " %" for indices in chosen.values()]
        else:
            cells = [rate_text(part, indices) for indices in chosen.values()]
        yield f"| {name} | {part.seconds.sum() / 60:.0f} | {said or '–'} | " + " | ".join(cells) + " |"


def measured(counts, chosen):
    """What model.json says of a sensitivity: recall of words at 10 dB, false accepts among sentences, intervals, hours."""
    talk = sentences(counts)
    recall, recalls = stream_counts.recall(counts[WORDS], chosen)
    rate, _ = stream_counts.false_accepts(talk, chosen)
    digits = lambda values: [round(float(value), 4) for value in values]
    return {
        "falseAcceptsPerHour": round(float(rate), 4),
        "falseAcceptsPerHourInterval": digits(stream_counts.false_accept_interval(talk, chosen)),
        "recall": round(float(recall) / 100, 4),
        "recallInterval": digits(np.array(intervals.interval(recalls)) / 100),
        "hours": round(float(talk.hours), 2),
    }


def collect(beckon, model, folder, part):
    """Counts by mode and set of the streams of a part; of `tune` only what `choose_all` needs."""
    if stream_counts.part_of(folder) != part:
        raise SystemExit(f"{folder}: holds streams of part {stream_counts.part_of(folder)}, not {part}")
    names = stream_counts.sets_in(folder)
    if part == "tune":
        names = [name for name in names if name.startswith(TALK) and not name.startswith(READ)]
    sets = {name: stream_counts.measure(beckon, model, folder, name) for name in names}
    return {mode: {name: found[mode] for name, found in sets.items()} for mode in stream_counts.MODES}


def write(model, sensitivities, lines):
    """Writes the thresholds into model.json and the tables into the card."""
    path = os.path.join(model, "model.json")
    with open(path) as file:
        description = json.load(file)
    name, mode = DEFAULT
    # The fused confidence of a model with confirming networks has thresholds of its own.
    target = description.get("confirm", description)
    target["thresholds"] = sensitivities[name][mode]["thresholds"]
    target["sensitivities"] = sensitivities
    files.write_json(path, description)
    card, title, end = os.path.join(model, "README.md"), "## Thresholds and streams", "## Data and licences"
    with open(card) as file:
        text = file.read()
    before = text.split(title)[0].split(end)[0]
    with open(card, "w") as file:
        file.write(before + title + "\n\n" + "\n".join(lines) + "\n\n" + end + text.split(end)[1])


def main(arguments=None):
    parser = command_line.parser(__doc__, data=False)
    command_line.add_program(parser)
    parser.add_argument("--tune", required=True, help="folder that streams.py wrote for the part tune")
    parser.add_argument("--report", required=True, help="folder that streams.py wrote for the part report")
    parser.add_argument("--write", action="store_true", help="write the thresholds into the model")
    options = parser.parse_args(arguments)
    tuned = collect(options.beckon, options.model, options.tune, "tune")
    reported = collect(options.beckon, options.model, options.report, "report")
    sensitivities, lines = {name: {} for name in ("strict", "balanced", "eager")}, [
        "Chosen on streams of the tuning half and measured on those of the reporting half (`make -C Training thresholds`): recall of",
        "words, false accepts an hour of everything else, 95 % intervals over files. A file holds about a minute; nobody speaks in",
        "two files of a set. Where nothing was falsely accepted, the upper bound is 3 in the hours of different talk.",
        "*Sentences* are talk as recorded, of all sources except single names and numbers (`an4`, `alphanumeric`, `wuw2`), in files with",
        "a word a second or more. The thresholds are the lowest with at most so many of them and of all recorded talk on the tuning half:",
        *(f"`{mode}` " + ", ".join(f"{few:g} and {all:g} (`{name}`)" for name, (few, all) in rates.items()) + "." for mode, rates in RATES.items()),
        "`dictation` is talk cut into phrases with pauses; `read` is a synthetic voice.",
    ]
    talks = {mode: (sentences(tuned[mode]), stream_counts.joined(recorded_talk(tuned[mode]).values())) for mode in stream_counts.MODES}
    for mode, chosen in choose_all(talks).items():
        talk, counts = talks[mode][0], reported[mode]
        for name, indices in chosen.items():
            values = {word: float(talk.thresholds[index]) for word, index in zip(talk.words, indices)}
            sensitivities[name][mode] = {"thresholds": values, "measured": measured(counts, indices)}
        values = ", ".join(f"`{name}` {talk.thresholds[indices[0]]:g}" for name, indices in chosen.items())
        lines += ["", f"Mode `{mode}`: {values}.", "", *table(counts, chosen)]
    print("\n".join(lines))
    if options.write:
        write(options.model, sensitivities, lines)


if __name__ == "__main__":
    main()
