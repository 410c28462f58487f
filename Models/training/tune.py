"""Chooses the words' default thresholds by what they let through in streams, and writes them into a model.

    python tune.py --beckon BINARY --model DIR --streams DIR [--budget 10]

In `command` mode over words in noise at 10 dB and talk in noise at 10 and 20 dB: of all choices at which recorded talk lets no
false accept through and read talk keeps within the budget an hour, that with the most hits. A stream has ten chances an hour
and word for each that a thousand clips have; no set of clips tells such rates.
"""

import argparse
import json
import os
import subprocess
import sys

RECORDED, READ = ("words-noise-10", "speech-noise-10", "speech-noise-20"), ("read-noise-10", "read-noise-20")
# A word's threshold stays between these: one false accept more or less in a few hours says little of a single word.
RANGE = (0.75, 0.99)
# Of a word that others end with, more: "stop" whose beginning is drowned is an "up" to any ear.
RANGES = {"up": (0.9, 0.95)}


def curves(beckon, model, paths):
    """Each word's counts at each threshold, and the streams' hours."""
    command = [beckon, "evaluate", "--json", "--mode", "command", "--model", model, "--stream", *paths]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr.strip() or f"{beckon} ended with status {run.returncode}")
    report = json.loads(run.stdout)
    words = {word["word"]: word["curve"] for word in report["settings"][0]["words"]}
    return words, report["seconds"] / 3600


def merged(recorded, read):
    """One curve a word; `read` counts the false accepts there."""
    both = {}
    for word, curve in recorded.items():
        heard = {point["threshold"]: point["falseAccepts"] for point in read.get(word, [])}
        both[word] = [point | {"read": heard.get(point["threshold"], 0)} for point in curve]
    return both


def choice(words, price):
    """For each word the point worth the most where a false accept in read talk costs `price` hits, and another word's hit half
    of that, of those with the fewest false accepts in recorded talk."""

    def worth(point):
        value = point["hits"] - price * (point["read"] + point["wrong"] / 2)
        return -point["falseAccepts"], value, point["threshold"]

    chosen = {}
    for word, curve in words.items():
        least, most = RANGES.get(word, RANGE)
        chosen[word] = max((p for p in curve if least <= p["threshold"] <= most), key=worth)
    return chosen


def describe(card, chosen, hours):
    """Puts the thresholds and what they give into the model's card, in place of what stood there."""
    title, end = "## Default thresholds", "## Data and licences"
    rows = "\n".join(
        f"| {word} | {p['threshold']} | {p['hits']} | {p['wrong']} | {p['falseAccepts']} | {p['read']} |"
        for word, p in chosen.items()
    )
    with open(card) as file:
        text = file.read()
    before = text.split(title)[0].split(end)[0]
    section = f"""{title}

Chosen by `make thresholds`: the most hits, in `command` mode, over words in noise at 10 dB, with no false accept in {hours[0]:.1f} h of
these and of recorded talk in noise at 10 and 20 dB, and few in {hours[1]:.1f} h of talk read by a voice never trained on. What each gave:

| word | threshold | hits | wrong | false accepts, recorded | read |
|---|---|---|---|---|---|
{rows}

"""
    with open(card, "w") as file:
        file.write(before + section + end + text.split(end)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beckon", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--streams", required=True, help="folder that streams.py wrote")
    parser.add_argument(
        "--budget", type=float, default=10.0, help="false accepts an hour of read talk, all words together"
    )
    options = parser.parse_args()
    paths = [[os.path.join(options.streams, name + ".wav") for name in names] for names in (RECORDED, READ)]
    present = [[path for path in part if os.path.exists(path)] for part in paths]
    (recorded, first), (read, second) = (
        curves(options.beckon, options.model, part) if part else ({}, 0.0) for part in present
    )
    words = merged(recorded, read)
    for price in (0.25, 0.5, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128):
        chosen = choice(words, price)
        keys = ("hits", "wrong", "falseAccepts", "read")
        hits, wrong, false, talk = (sum(p[key] for p in chosen.values()) for key in keys)
        print(f"at {price:5} hits a false accept: {hits} hits, {wrong} wrong, {false} false, {talk} in read talk")
        if talk <= options.budget * second:
            break
    path = os.path.join(options.model, "model.json")
    with open(path) as file:
        description = json.load(file)
    description["thresholds"] = {word: point["threshold"] for word, point in chosen.items()}
    with open(path + ".part", "w") as file:
        json.dump(description, file, indent=1)
        file.write("\n")
    os.replace(path + ".part", path)
    describe(os.path.join(options.model, "README.md"), chosen, (first, second))
    print("  ".join(f"{word} {point['threshold']}" for word, point in chosen.items()))


if __name__ == "__main__":
    main()
