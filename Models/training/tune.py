"""Chooses the words' default thresholds by what they let through in streams, and writes them into a model.

    python tune.py --beckon BINARY --model DIR --streams DIR [--budget 8]

In `command` mode over words in noise at 10 dB and talk, recorded and read, in noise at 10 and 20 dB: of all choices that keep
false accepts within the budget an hour, that with the most hits. A stream has ten chances an hour and word for each that a
thousand clips have; no set of clips tells such rates.
"""

import argparse
import json
import os
import subprocess
import sys

STREAMS = ("words-noise-10", "speech-noise-10", "speech-noise-20", "read-noise-10", "read-noise-20")
# A word's threshold stays between these: one false accept more or less in a few hours says little of a single word.
RANGE = (0.75, 0.985)
# Of a word that others end with, more: "stop" whose beginning is drowned is an "up" to any ear.
RANGES = {"up": (0.93, 0.95)}


def curves(beckon, model, paths):
    """Each word's counts at each threshold, and the streams' hours."""
    command = [beckon, "evaluate", "--json", "--mode", "command", "--model", model, "--stream", *paths]
    run = subprocess.run(command, capture_output=True, text=True)
    if run.returncode != 0:
        sys.exit(run.stderr.strip() or f"{beckon} ended with status {run.returncode}")
    report = json.loads(run.stdout)
    words = {word["word"]: word["curve"] for word in report["settings"][0]["words"]}
    return words, report["seconds"] / 3600


def choice(words, price):
    """For each word the point worth the most where a false accept costs `price` hits, and another word half of that."""

    def allowed(word, point):
        least, most = RANGES.get(word, RANGE)
        return least <= point["threshold"] <= most

    def worth(point):
        return point["hits"] - price * (point["falseAccepts"] + point["wrong"] / 2), point["threshold"]

    return {word: max((p for p in curve if allowed(word, p)), key=worth) for word, curve in words.items()}


def describe(card, chosen, hours):
    """Puts the thresholds and what they give into the model's card, in place of what stood there."""
    title, end = "## Default thresholds", "## Data and licences"
    rows = "\n".join(
        f"| {word} | {p['threshold']} | {p['hits']} | {p['wrong']} | {p['falseAccepts']} |"
        for word, p in chosen.items()
    )
    with open(card) as file:
        text = file.read()
    before = text.split(title)[0].split(end)[0]
    section = f"""{title}

Chosen by `make thresholds`: the most hits at so few false accepts an hour, in `command` mode, over words in noise at 10 dB and
{hours:.1f} h in all with talk in noise at 10 and 20 dB. What each gave there:

| word | threshold | hits | wrong | false accepts |
|---|---|---|---|---|
{rows}

"""
    with open(card, "w") as file:
        file.write(before + section + end + text.split(end)[1])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beckon", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--streams", required=True, help="folder that streams.py wrote")
    parser.add_argument("--budget", type=float, default=8.0, help="false accepts an hour, all words together")
    options = parser.parse_args()
    paths = [
        path for path in (os.path.join(options.streams, name + ".wav") for name in STREAMS) if os.path.exists(path)
    ]
    words, hours = curves(options.beckon, options.model, paths)
    for price in (0.5, 1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 64, 128):
        chosen = choice(words, price)
        hits, wrong, false = (sum(p[key] for p in chosen.values()) for key in ("hits", "wrong", "falseAccepts"))
        print(f"at {price:5} hits a false accept: {hits} hits, {wrong} wrong, {false} false in {hours:.1f} h")
        if false / hours <= options.budget:
            break
    path = os.path.join(options.model, "model.json")
    with open(path) as file:
        description = json.load(file)
    description["thresholds"] = {word: point["threshold"] for word, point in chosen.items()}
    with open(path + ".part", "w") as file:
        json.dump(description, file, indent=1)
        file.write("\n")
    os.replace(path + ".part", path)
    describe(os.path.join(options.model, "README.md"), chosen, hours)
    print("  ".join(f"{word} {point['threshold']}" for word, point in chosen.items()))


if __name__ == "__main__":
    main()
