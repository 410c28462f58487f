"""Chooses the words' thresholds for each sensitivity by what they promise in talk, and measures them on the reporting half.

    python -m Training.evaluate.thresholds --beckon BINARY --model MODEL --tune DIR --report DIR [--no-confirm] [--write]

DIR are folders of streams.py. A threshold is the lowest whose promise is at most PROMISES: a rate of false accepts that talk by other people
stays below with a probability of SURE, by what was counted in all recorded talk of both halves. None of it trained or mined. A few people decide
how many false accepts there are: the talk of half of the speakers, drawn many times, chooses and promises, and the other half says how often
there are over twice as many. Recall is that of the reporting half. Streams are needed because such rates are below what any set of clips can
resolve. With --write the thresholds and what was measured at them are written into model.json, and the tables into the model's card; with
--no-confirm those of the network alone, without the tables.
"""

import json
import os

import numpy as np
import scipy.stats

from Training.data import command_line, files, split
from Training.data.seeding import generator as seeded
from Training.evaluate import intervals, stream_counts

# False accepts an hour that each sensitivity promises at most, with networks that confirm and without.
PROMISES = {
    True: {
        "command": {"strict": 0.8, "balanced": 2, "eager": 6},
        "spot": {"strict": 0.8, "balanced": 2, "eager": 6},
    },
    False: {mode: {"strict": 1.5, "balanced": 5, "eager": 15} for mode in stream_counts.MODES},
}
DEFAULT = ("balanced", "command")
WORDS, TALK, READ = "words-noise-10", "talk-", "talk-read"
# Sources of single names, letters and numbers.
SINGLE = tuple(TALK + source for source in (*split.SPELLING, "wuw2"))
# Words a second below which a file holds readers who pause after each word.
SLOW = 1.0
# Range of a threshold.
RANGE = (0.3, 0.9999)
# The probability that the true rate is below the promise.
SURE = 0.8
# How often the speakers are halved, to see how often a promise is exceeded.
FOLDS = 400


def promised(talk):
    """The promise in false accepts an hour at each threshold.

    Talk that is played again in other noise counts as heard once: the same places are taken for words.
    """
    again = talk.seconds.sum() / talk.seconds[np.unique(talk.content, return_index=True)[1]].sum()
    counted = talk.false_accepts.sum(axis=(0, 1))
    return scipy.stats.gamma.ppf(SURE, counted / again + 1) * again / talk.hours


def choose(talk, budget):
    """The index of the lowest threshold that promises at most so many false accepts an hour."""
    within = (talk.thresholds >= RANGE[0]) & (talk.thresholds <= RANGE[1])
    kept = within & (promised(talk) <= budget)
    return int(kept.argmax()) if kept.any() else int(np.flatnonzero(within)[-1])


def exceeded(talk, budget, generator):
    """Per cent of halves of the talk that have over twice the false accepts that the other half promises."""
    played = np.unique(talk.content)
    over = 0
    for _ in range(FOLDS):
        mine = np.isin(talk.content, played[generator.random(len(played)) < 0.5])
        own, other = talk.of_files(mine), talk.of_files(~mine)
        if own.hours and other.hours:
            index = choose(own, budget)
            over += other.false_accepts.sum(axis=(0, 1))[index] / other.hours > 2 * promised(own)[index]
    return 100 * over / FOLDS


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


def measured(counts, talk, chosen):
    """What model.json says of a sensitivity: recall of words at 10 dB, false accepts promised in all recorded talk, intervals, hours."""
    recall, recalls = stream_counts.recall(counts[WORDS], chosen)
    digits = lambda values: [round(float(value), 4) for value in values]
    return {
        "falseAcceptsPerHour": round(float(promised(talk)[chosen[0]]), 4),
        "falseAcceptsPerHourInterval": digits(stream_counts.false_accept_interval(talk, chosen)),
        "recall": round(float(recall) / 100, 4),
        "recallInterval": digits(np.array(intervals.interval(recalls)) / 100),
        "hours": round(float(talk.hours), 2),
    }


def collect(options, folder, part):
    """Counts by mode and set of the streams of a part; of `tune` only the talk."""
    if stream_counts.part_of(folder) != part:
        raise SystemExit(f"{folder}: holds streams of part {stream_counts.part_of(folder)}, not {part}")
    names = stream_counts.sets_in(folder)
    if part == "tune":
        names = [name for name in names if name.startswith(TALK) and not name.startswith(READ)]
    sets = {name: stream_counts.measure(options.beckon, options.model, folder, name, confirms=not options.no_confirm) for name in names}
    return {mode: {name: found[mode] for name, found in sets.items()} for mode in stream_counts.MODES}


def both_halves(tuned, reported):
    """All recorded talk of both halves."""
    parts = [("tune", part) for part in recorded_talk(tuned).values()] + [("report", part) for part in recorded_talk(reported).values()]
    return stream_counts.joined(stream_counts.named(name, part) for name, part in parts)


def write(model, sensitivities, lines, confirms):
    """Writes the thresholds into model.json and the tables into the card, which has those of the confirmed words alone."""
    path = os.path.join(model, "model.json")
    with open(path) as file:
        description = json.load(file)
    name, mode = DEFAULT
    # The fused confidence of a model with confirming networks has thresholds of its own.
    target = description.get("confirm", description) if confirms else description
    target["thresholds"] = sensitivities[name][mode]["thresholds"]
    target["sensitivities"] = sensitivities
    files.write_json(path, description)
    if not confirms:
        return
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
    parser.add_argument("--no-confirm", action="store_true", help="those of the network alone")
    parser.add_argument("--write", action="store_true", help="write the thresholds into the model")
    options = parser.parse_args(arguments)
    tuned, reported = collect(options, options.tune, "tune"), collect(options, options.report, "report")
    promises = PROMISES[not options.no_confirm]
    sensitivities, lines = {name: {} for name in ("strict", "balanced", "eager")}, [
        "A threshold is the lowest whose promise in all recorded talk of both halves is low enough; recall of words, and false accepts an hour of",
        "everything else, are of the reporting half (`make -C Training thresholds`), with 95 % intervals over files. A file holds about a minute;",
        "nobody speaks in two files of a set. Where nothing was falsely accepted, the upper bound is 3 in the hours of different talk. A *promise*",
        f"is the rate that talk by other people stays below with a probability of {100 * SURE:.0f} %; *exceeded* says how often half of the speakers has over twice what",
        "the other half promises. *Sentences* are talk as recorded, of all sources except single names and numbers (`an4`, `alphanumeric`,",
        "`wuw2`), in files with a word a second or more. `dictation` is talk cut into phrases with pauses; `read` is a synthetic voice.",
        "",
        "| mode | sensitivity | threshold | promise, an hour | counted in all talk | exceeded |",
        "|---|---|---|---|---|---|",
    ]
    tables = []
    for mode, budgets in promises.items():
        talk, counts, generator = both_halves(tuned[mode], reported[mode]), reported[mode], seeded("promises", seed=1)
        chosen = {name: np.full(len(talk.words), choose(talk, budget)) for name, budget in budgets.items()}
        for name, indices in chosen.items():
            threshold = float(talk.thresholds[indices[0]])
            figures = measured(counts, talk, indices)
            sensitivities[name][mode] = {"thresholds": dict.fromkeys(talk.words, threshold), "measured": figures}
            over = exceeded(talk, budgets[name], generator)
            promise = figures["falseAcceptsPerHour"]
            lines.append(f"| `{mode}` | {name} | {threshold:g} | {promise:.2f} | {rate_text(talk, indices)} | {over:.1f} % |")
        tables += ["", f"Mode `{mode}`:", "", *table(counts, chosen)]
    lines += tables
    print("\n".join(lines))
    if options.write:
        write(options.model, sensitivities, lines, confirms=not options.no_confirm)


if __name__ == "__main__":
    main()
