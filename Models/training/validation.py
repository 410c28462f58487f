"""The validation sets, fixed for ever by their seed, and what is measured on them."""

import numpy as np

from examples import BACKGROUND, BACKGROUND_SHARE, COMMANDS, HELD_OUT, WINDOW


def second(table, row):
    """One second of a recording: a clip as it is, of others the second around the word's middle."""
    start, length = int(table["start"][row]), int(table["length"][row])
    middle = (int(table["from"][row]) + int(table["to"][row])) // 2
    begin = max(0, min(middle - WINDOW // 2, length - WINDOW))
    piece = table["audio"][start + begin : start + min(length, begin + WINDOW)]
    return np.pad(piece / np.float32(32768), (0, WINDOW - len(piece)))


def clips(table, commands=COMMANDS):
    """The 12-class clips of the validation speakers: every command, 10 % unknown, 10 % silence (as in the dataset's own
    protocol, cuts of its background recordings at a random volume; here of the parts not trained on). Returns waves
    [n, 16000] float32 and label indices."""
    generator = np.random.default_rng(20)
    held = table["part"] == "validation"
    words = np.flatnonzero(held & (table["kind"] == "clip"))
    known = np.isin(table["label"][words], commands)
    # A word that has no clips is judged on what other recordings of it there are.
    missing = [word for word in commands if word not in table["label"][words]]
    spoken = np.flatnonzero(held & (table["kind"] == "word") & np.isin(table["label"], missing))
    words, known = np.concatenate([words, spoken]), np.concatenate([known, np.ones(len(spoken), bool)])
    share = known.sum() // 8
    others = generator.permutation(words[~known])[:share]
    rows = np.concatenate([words[known], others])
    waves = [second(table, row) for row in rows]
    labels = [commands.index(l) if l in commands else len(commands) for l in table["label"][rows]]
    noise = np.flatnonzero((table["kind"] == "noise") & (table["label"] == BACKGROUND))
    for _ in range(share if len(noise) else 0):
        row = generator.choice(noise)
        length = table["length"][row]
        begin = table["start"][row] + generator.integers(int(length * BACKGROUND_SHARE), length - WINDOW)
        waves.append(table["audio"][begin : begin + WINDOW] / np.float32(32768) * np.float32(generator.random()))
        labels.append(len(commands) + 1)
    return np.stack(waves).astype(np.float32), np.array(labels)


def running(table, count=4000):
    """Windows of held-out running speech: anything but `unknown` or `silence` is a false accept."""
    generator = np.random.default_rng(21)
    rows = np.flatnonzero((table["part"] == "validation") & (table["kind"] == "speech"))
    out = []
    for _ in range(count if len(rows) else 0):
        row = generator.choice(rows)
        begin = table["start"][row] + generator.integers(0, table["length"][row] - WINDOW)
        out.append(table["audio"][begin : begin + WINDOW] / np.float32(32768))
    return np.array(out, np.float32).reshape(-1, WINDOW)


def sounds(table, count=1000):
    """Windows of held-out environmental sounds at a random volume: nothing may be accepted."""
    generator = np.random.default_rng(23)
    rows = np.flatnonzero((table["part"] == "validation") & (table["kind"] == "noise") & (table["label"] != BACKGROUND))
    out = []
    for _ in range(count if len(rows) else 0):
        row = generator.choice(rows)
        begin = table["start"][row] + generator.integers(0, table["length"][row] - WINDOW)
        out.append(table["audio"][begin : begin + WINDOW] / np.float32(32768) * np.float32(generator.random()))
    return np.array(out, np.float32).reshape(-1, WINDOW)


def tails(table, count=1000, commands=COMMANDS):
    """Commands of validation speakers of which only the last 25–55 % is left in the window."""
    generator = np.random.default_rng(22)
    rows = np.flatnonzero(
        (table["part"] == "validation") & (table["kind"] == "clip") & np.isin(table["label"], commands)
    )
    out = np.zeros((count, WINDOW), np.float32)
    for wave in out:
        row = generator.choice(rows)
        first, last = table["from"][row], table["to"][row]
        begin = table["start"][row] + int(last - (last - first) * generator.uniform(0.25, 0.55))
        piece = table["audio"][begin : table["start"][row] + WINDOW] / np.float32(32768)
        wave[: len(piece)] = piece
    return out


def grouped(probabilities, output_labels, labels):
    """Sums the posteriors of the network's outputs into the reported labels."""
    table = np.zeros((len(output_labels), len(labels)), probabilities.dtype)
    for i, label in enumerate(output_labels):
        table[i, labels.index(label)] = 1
    return probabilities @ table


def accuracy(posteriors, truth, commands=COMMANDS):
    """Per cent right: all, words, unknown, silence."""
    right = posteriors.argmax(axis=1) == truth
    word = truth < len(commands)
    return {
        "all": 100 * right.mean(),
        "words": 100 * right[word].mean(),
        "unknown": 100 * right[truth == len(commands)].mean(),
        "silence": 100 * right[truth == len(commands) + 1].mean(),
    }


def calibration_error(posteriors, truth, bins=15):
    """Expected calibration error: |confidence − accuracy| averaged over equal-width bins, weighted by their share."""
    confidence, right = posteriors.max(axis=1), posteriors.argmax(axis=1) == truth
    slot = np.minimum((confidence * bins).astype(int), bins - 1)
    return sum(
        abs(confidence[slot == b].mean() - right[slot == b].mean()) * (slot == b).mean()
        for b in range(bins)
        if (slot == b).any()
    )


def false_accepts(posteriors, threshold, commands=COMMANDS):
    """Share of windows, in per cent, in which a command reaches the threshold."""
    return 100 * (posteriors[:, : len(commands)].max(axis=1) >= threshold).mean()


def unheard(table):
    """Clips of words that no network is trained on (examples.HELD_OUT), each recording's loudest second."""
    rows = np.flatnonzero(np.isin(table["label"], HELD_OUT))
    return np.array([second(table, row) for row in rows], np.float32).reshape(-1, WINDOW)


def area(above, below):
    """AUROC: how often one of the first is above one of the others, equal ones by half."""
    ordered = np.sort(below)
    return (np.searchsorted(ordered, above, "left") + np.searchsorted(ordered, above, "right")).mean() / (
        2 * len(below)
    )


def separation(clips, others, commands=COMMANDS):
    """AUROC of the largest command posterior: how often a command's is above another word's."""
    return area(*(scores[:, : len(commands)].max(axis=1) for scores in (clips, others)))
