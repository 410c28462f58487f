"""Chooses the words' default thresholds from their results in streams, and writes them into a model folder.

    python -m Training.evaluate.thresholds --beckon BINARY --model MODEL --streams DIR [--budget 10]

In `command` mode, over words in noise at 10 dB and talk in noise at 10 and 20 dB: of all choices without a false accept in
recorded talk, and with at most `budget` false accepts an hour in read talk, the one with the most hits. Streams are needed
because such rates are below what any set of clips can resolve.
"""

import json
import os

from Training.data import command_line, files
from Training.evaluate import program

RECORDED, READ = ("words-noise-10", "speech-noise-10", "speech-noise-20"), ("read-noise-10", "read-noise-20")
# Range of a threshold: one false accept more or less in a few hours says little about a single word.
RANGE = (0.75, 0.99)
# A word that another one ends with needs more: "stop" whose beginning is masked by noise sounds like "up".
RANGES = {"up": (0.9, 0.95)}
# False accepts in read talk are weighed against hits at these prices, from the cheapest on.
PRICES = (0.25, 0.5, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128)


def curves(beckon, model, paths):
    """Each word's counts at each threshold, and the hours of the streams."""
    report = json.loads(
        program.run(beckon, "evaluate", "--json", "--mode", "command", "--model", model, "--stream", *paths)
    )
    words = {word["word"]: word["curve"] for word in report["settings"][0]["words"]}
    return words, report["seconds"] / 3600


def merged(recorded, read):
    """One curve per word: that of the recorded streams, with the false accepts of the read ones as `read`."""
    both = {}
    for word, curve in recorded.items():
        false_accepts = {point["threshold"]: point["falseAccepts"] for point in read.get(word, [])}
        both[word] = [point | {"read": false_accepts.get(point["threshold"], 0)} for point in curve]
    return both


def choose(words, price):
    """For each word, of the points with the fewest false accepts in recorded talk, the one with the highest value.

    A false accept in read talk costs `price` hits, a wrong word half of that.
    """

    def value(point):
        hits = point["hits"] - price * (point["read"] + point["wrong"] / 2)
        return -point["falseAccepts"], hits, point["threshold"]

    chosen = {}
    for word, curve in words.items():
        least, most = RANGES.get(word, RANGE)
        chosen[word] = max((p for p in curve if least <= p["threshold"] <= most), key=value)
    return chosen


def write_card(card, chosen, hours):
    """Replaces the section on thresholds in the model's card."""
    title, end = "## Default thresholds", "## Data and licences"
    rows = "\n".join(
        f"| {word} | {p['threshold']} | {p['hits']} | {p['wrong']} | {p['falseAccepts']} | {p['read']} |"
        for word, p in chosen.items()
    )
    with open(card) as file:
        text = file.read()
    before = text.split(title)[0].split(end)[0]
    section = f"""{title}

Chosen by `make -C Training thresholds` in `command` mode over words in noise at 10 dB: the most hits without a false accept in
{hours[0]:.1f} h of these and of recorded talk in noise at 10 and 20 dB, and with few in {hours[1]:.1f} h of talk read by a
held-out voice. Counts at each threshold:

| word | threshold | hits | wrong | false accepts, recorded | read |
|---|---|---|---|---|---|
{rows}

"""
    with open(card, "w") as file:
        file.write(before + section + end + text.split(end)[1])


def main(arguments=None):
    parser = command_line.parser(__doc__, data=False)
    command_line.add_program(parser)
    parser.add_argument("--streams", required=True, help="folder that streams.py wrote for the part `tune`")
    parser.add_argument(
        "--budget", type=float, default=10.0, help="false accepts an hour in read talk, all words together"
    )
    options = parser.parse_args(arguments)
    paths = [[os.path.join(options.streams, name + ".wav") for name in names] for names in (RECORDED, READ)]
    present = [[path for path in part if os.path.exists(path)] for part in paths]
    (recorded, recorded_hours), (read, read_hours) = (
        curves(options.beckon, options.model, part) if part else ({}, 0.0) for part in present
    )
    words = merged(recorded, read)
    for price in PRICES:
        chosen = choose(words, price)
        keys = ("hits", "wrong", "falseAccepts", "read")
        hits, wrong, false_accepts, talk = (sum(p[key] for p in chosen.values()) for key in keys)
        print(
            f"at {price:5} hits a false accept: {hits} hits, {wrong} wrong, {false_accepts} false accepts, "
            f"{talk} in read talk"
        )
        if talk <= options.budget * read_hours:
            break
    path = os.path.join(options.model, "model.json")
    with open(path) as file:
        description = json.load(file)
    description["thresholds"] = {word: point["threshold"] for word, point in chosen.items()}
    files.write_json(path, description)
    write_card(os.path.join(options.model, "README.md"), chosen, (recorded_hours, read_hours))
    print("  ".join(f"{word} {point['threshold']}" for word, point in chosen.items()))


if __name__ == "__main__":
    main()
