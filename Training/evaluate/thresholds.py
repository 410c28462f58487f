"""Chooses the words' thresholds for each sensitivity on streams of the tuning half, and measures them on the reporting half.

    python -m Training.evaluate.thresholds --beckon BINARY --model MODEL --tune DIR --report DIR [--write]

DIR are folders of streams.py. A sensitivity is a budget of false accepts an hour over all recorded talk, clean and in noise at 20
and 10 dB, estimated by cross-validation; within it the thresholds are those with the most hits among words in noise at 10 dB. They
are chosen for each mode.
Streams are needed because such rates are below what any set of clips can resolve. With --write the thresholds and what was
measured at them are written into model.json, and the tables into the model's card.
"""

import json
import os

import numpy as np

from Training.data import command_line, files, split
from Training.data.seeding import generator as seeded
from Training.evaluate import intervals, stream_counts

# False accepts an hour of each sensitivity.
BUDGETS = {"strict": 0.1, "balanced": 0.5, "eager": 5.0}
DEFAULT = ("balanced", "command")
WORDS, TALK, READ = "words-noise-10", "talk-", "talk-read"
# Sources of single letters, numbers and names, among which false accepts are many times as frequent as in sentences.
SPELLING = tuple(TALK + source for source in split.SPELLING)
# Range of a threshold, and the threshold above which the tail of a word's false accepts is modelled.
RANGE, TAIL = (0.5, 0.9999), 0.7
# False accepts that a word is credited with beside those counted: few hours say little about a single word.
PRIOR = 0.5
# Prices of a false accept in hits, from the cheapest on.
PRICES = np.geomspace(0.05, 400, 80)
# The parts into which cross-validation cuts talk, and how often it does.
FOLDS, REPETITIONS = 10, 20
# A hit's worth of another word in place of the one that was said.
WRONG = 0.5


def logit(probability):
    return np.log(probability / (1 - probability))


def expected(false_accepts, thresholds):
    """Expected false accepts [words, thresholds], from those counted [words, thresholds] at ascending thresholds.

    Above TAIL a word's false accepts fall exponentially with the logit of the threshold, with one slope for all words; the
    expectation is the larger of this model and the count, so that the luck of a threshold just above a word's last false accept
    is not believed.
    """
    first = int(np.searchsorted(thresholds, TAIL))
    x = logit(thresholds[first:])
    above = false_accepts[:, first:].astype(float)
    area = ((above[:, :-1] + above[:, 1:]) / 2 * np.diff(x)).sum()
    slope = above[:, 0].sum() / area if area > 0 else 1.0
    model = (above[:, :1] + PRIOR) * np.exp(-slope * (x - x[0]))
    return np.concatenate([false_accepts[:, :first] + PRIOR, np.maximum(above, model)], axis=1)


def at_price(hits, cost, price, allowed):
    """The index of each word's threshold [words] with the largest value: hits less `price` times the cost, which is expected
    false accepts. Of equal values the highest threshold."""
    value = np.where(allowed, hits - price * cost, -np.inf)
    return value.shape[1] - 1 - value[:, ::-1].argmax(axis=1)


def unseen_false_accepts(hits, talk, allowed):
    """How many false accepts [prices] are met in talk that did not choose the thresholds.

    Cross-validation over what the files play: a threshold just above a word's last false accept is lucky, and the count that
    chose it does not say so.
    """
    played, file = np.unique(talk.content, return_inverse=True)
    generator, counts = seeded("folds of talk"), np.zeros(len(PRICES))
    for _ in range(REPETITIONS):
        fold = (generator.permutation(len(played)) % FOLDS)[file]
        for number in range(FOLDS):
            cost = expected(talk.false_accepts[fold != number].sum(axis=0), talk.thresholds)
            held_out = talk.false_accepts[fold == number].sum(axis=0)
            for index, price in enumerate(PRICES):
                chosen = at_price(hits, cost, price, allowed)
                counts[index] += np.take_along_axis(held_out, chosen[:, None], axis=1).sum()
    return counts / REPETITIONS


def choose(words, talk, budget, least=0, most=None):
    """The index of each word's threshold [words]: most hits in `words` with at most `budget` false accepts an hour in `talk`.

    The price of a false accept is the least from which on cross-validation stays within the budget. `least` and `most` bound the
    indices, for each word or for all.
    """
    hits = words.hits.sum(axis=0) - WRONG * words.wrong.sum(axis=0)
    index, last = np.arange(len(talk.thresholds)), len(talk.thresholds) - 1
    most = last if most is None else most
    allowed = (talk.thresholds >= RANGE[0]) & (talk.thresholds <= RANGE[1])
    allowed = allowed & (index >= np.reshape(least, (-1, 1))) & (index <= np.reshape(most, (-1, 1)))
    over = np.flatnonzero(unseen_false_accepts(hits, talk, allowed) > budget * talk.hours)
    price = PRICES[min(over[-1] + 1, len(PRICES) - 1) if len(over) else 0]
    return at_price(hits, expected(talk.false_accepts.sum(axis=0), talk.thresholds), price, allowed)


def choose_all(words, talk):
    """The thresholds' indices [words] of each sensitivity; no word's threshold rises from strict to balanced to eager."""
    balanced = choose(words, talk, BUDGETS["balanced"])
    strict = choose(words, talk, BUDGETS["strict"], least=balanced)
    return {"strict": strict, "balanced": balanced, "eager": choose(words, talk, BUDGETS["eager"], most=balanced)}


def talk_of(counts):
    """The counts of all recorded talk."""
    return stream_counts.joined(c for name, c in counts.items() if name.startswith(TALK) and not name.startswith(READ))


def rate_text(counts, chosen):
    """False accepts an hour with their interval."""
    low, high = stream_counts.false_accept_interval(counts, chosen)
    return f"{stream_counts.false_accepts(counts, chosen)[0]:.2f} ({low:.2f}–{high:.2f})/h"


def table(counts, chosen):
    """Lines of Markdown: each set's recall or false accepts at each sensitivity's thresholds, with 95 % intervals."""
    yield "| recordings | min | words | " + " | ".join(f"{name}, ≤ {BUDGETS[name]:g}/h" for name in chosen) + " |"
    yield "|---|---|---|" + "---|" * len(chosen)
    recorded = {"all recorded talk": talk_of(counts)}
    sentences = {name: c for name, c in counts.items() if not name.startswith(SPELLING)}
    if any(name.startswith(TALK) for name in sentences):
        recorded["of it without spelling and numbers"] = talk_of(sentences)
    for ending in ("clean", "noise-20", "noise-10"):
        own = {name: c for name, c in counts.items() if name.endswith(ending)}
        recorded[f"of it {ending}"] = talk_of(own)
    for name, part in (recorded | counts).items():
        said = int(part.said.sum())
        if name.startswith("words"):
            cells = [intervals.text(*stream_counts.recall(part, indices)) + " %" for indices in chosen.values()]
        else:
            cells = [rate_text(part, indices) for indices in chosen.values()]
        yield f"| {name} | {part.seconds.sum() / 60:.0f} | {said or '–'} | " + " | ".join(cells) + " |"


def measured(counts, chosen):
    """What model.json says of a sensitivity: recall of words at 10 dB, false accepts in recorded talk, intervals, hours."""
    talk = talk_of(counts)
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
        names = [name for name in names if name == WORDS or name.startswith(TALK) and not name.startswith(READ)]
    sets = {name: stream_counts.measure(beckon, model, folder, name) for name in names}
    return {mode: {name: found[mode] for name, found in sets.items()} for mode in stream_counts.MODES}


def write(model, sensitivities, lines):
    """Writes the thresholds into model.json and the tables into the card."""
    path = os.path.join(model, "model.json")
    with open(path) as file:
        description = json.load(file)
    name, mode = DEFAULT
    description["thresholds"] = sensitivities[name][mode]["thresholds"]
    description["sensitivities"] = sensitivities
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
    sensitivities, lines = {name: {} for name in BUDGETS}, [
        "Chosen on streams of the tuning half and measured on those of the reporting half (`make -C Training thresholds`): recall of",
        "words, false accepts an hour of everything else, 95 % intervals over files. A file holds about a minute; nobody speaks in",
        "two files of a set. Where nothing was falsely accepted, the upper bound is 3 in the hours of different talk. Talk is as",
        "recorded, `dictation` the same cut into phrases with pauses; `read` is a synthetic voice.",
    ]
    for mode in stream_counts.MODES:
        talk, counts = talk_of(tuned[mode]), reported[mode]
        chosen = choose_all(tuned[mode][WORDS], talk)
        for name, indices in chosen.items():
            values = {word: float(talk.thresholds[index]) for word, index in zip(talk.words, indices)}
            sensitivities[name][mode] = {"thresholds": values, "measured": measured(counts, indices)}
        lines += ["", f"Mode `{mode}`:", "", *table(counts, chosen), "", "| word | " + " | ".join(chosen) + " |"]
        lines += ["|---|" + "---|" * len(chosen)]
        for index, word in enumerate(talk.words):
            cells = [f"{talk.thresholds[indices[index]]:g}" for indices in chosen.values()]
            lines.append(f"| {word} | " + " | ".join(cells) + " |")
    print("\n".join(lines))
    if options.write:
        write(options.model, sensitivities, lines)


if __name__ == "__main__":
    main()
