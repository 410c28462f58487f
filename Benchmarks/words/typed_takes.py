"""Typed words with one take beside their names: the second table of `make bench-words OPTIONS=--typed`.

Each draw takes a random clip of each of the ten words, by a stranger, beside the name, as `strangers.py` draws it; the other clips stand alone. The
take is used whatever it sounds like. False accepts are those of the first draw, in the talk of `typed.py` and in that of `strangers.py`.
"""

import subprocess

import numpy as np

from Benchmarks.words import strangers
from Benchmarks.words.typed import beckon, false_accepts, name, talk_files

DRAWS = 4
HEADS = ["word", *(f"take {number + 1}" for number in range(DRAWS)), "mean", "promised", "told", "false/h promised", "false/h, clean", "false/h, noise", "false/h, strangers' talk"]


def heard(program, store, mode, files):
    """Times of detections by (word, file)."""
    found = {}
    for event in beckon(program, store, "classify", "--json", "--no-confirm", "--mode", mode, *map(str, files)):
        if event.get("event") == "word":
            found.setdefault((event["word"], event["file"]), []).append(event["time"])
    return found


def is_told(program, store, word, take):
    """Whether the take is refused or warned of."""
    store.unlink(missing_ok=True)
    arguments = [program, "enroll", name(word), "--json", "--from", str(take)]
    said = subprocess.run(arguments, capture_output=True, text=True, env={"BECKON_WORDS": str(store)}).stderr
    return "does not sound like" in said or "not as most people say" in said


def rows(work, data, program, mode="spot"):
    """The rows of the table; in mode `spot` most is found by mistake."""
    material = strangers.Material(work)
    recalls, promises, told = ({word: [] for word in material.clips} for _ in range(3))
    for number, draw in enumerate(material.draws(1, DRAWS)):
        store = work / "typed" / f"take-{number}.words"
        store.parent.mkdir(parents=True, exist_ok=True)
        store.unlink(missing_ok=True)
        for word, ((take,), _) in draw.items():
            (made,) = beckon(program, store, "enroll", name(word), "--typed", "--force", "--json", "--from", str(take))
            promises[word].append(made["sensitivities"]["balanced"][mode])
            told[word].append(is_told(program, work / "typed" / "told", word, take))
        found = heard(program, store, mode, [clip for _, rest in draw.values() for clip in rest])
        for word, (_, rest) in draw.items():
            recalls[word].append(100 * np.mean([(name(word), str(clip)) in found for clip in rest]))
        if number == 0:
            false = [false_accepts(program, store, files, material.clips) for files in talk_files(work, data)]
            talk = heard(program, store, mode, material.talk)
    numbers = []
    for word in material.clips:
        episodes = [strangers.episodes(np.array(talk.get((name(word), str(path)), []))) for path in material.talk]
        missed, rate = (np.mean([one[key] for one in promises[word]]) for key in ("missedOfOthers", "falseAcceptsPerHour"))
        numbers.append([*recalls[word], np.mean(recalls[word]), 100 * (1 - missed), rate, *(rates[word] for rates in false), material.rates(episodes)[0]])
        yield row(name(word), numbers[-1], " ".join(str(number + 1) for number, one in enumerate(told[word]) if one))
    yield row("mean", np.mean(numbers, 0), "")
    yield ["worst draw", *(f"{worst:.1f}" for worst in np.min(numbers, 0)[: DRAWS + 1]), *[""] * 6]


def row(word, numbers, told):
    shares, rates = numbers[: DRAWS + 2], numbers[DRAWS + 2 :]
    return [word, *(f"{share:.1f}" for share in shares), told, *(f"{rate:.2f}" for rate in rates)]
