"""The validation sets of each part, `tune` or `report`, fixed by their seeds so that figures of different days can be compared.

All are waveforms float32.
"""

import numpy as np

from Training.data import suspects
from Training.data.audio import WINDOW, fade
from Training.data.recordings import samples
from Training.data.seeding import generator as seeded
from Training.data.split import background_span
from Training.data.vocabulary import BACKGROUND, COMMANDS, HELD_OUT, MANY_WORDS, says

# Windows of running speech, of environmental sounds, and of words' endings.
RUNNING_SPEECH, SOUNDS, ENDINGS = 4000, 1000, 1000


def one_second(table, row):
    """One second [16000] of a recording: a clip as it is, of others the second around the word's middle."""
    length, middle = int(table["length"][row]), (int(table["from"][row]) + int(table["to"][row])) // 2
    begin = max(0, min(middle - WINDOW // 2, length - WINDOW))
    piece = samples(table, row, begin, begin + WINDOW)
    return np.pad(piece, (0, WINDOW - len(piece)))


def clips(table, part, commands=COMMANDS, certain=False):
    """Clips [n, 16000] of a part's speakers and their label indices [n]: every command, 10 % unknown, 10 % silence.

    `certain` leaves out the clips whose label is doubtful.

    Silence is, as in the dataset's own protocol, a cut of its background recordings at a random volume; here of the part's
    share of their ends, which are not trained on.
    """
    rows, waves, labels = clip_rows(table, part, commands)
    kept = ~suspects.among(table["name"][rows]) if certain else np.full(len(rows), True)
    return waves[kept], labels[kept]


def clip_rows(table, part, commands=COMMANDS):
    """What `clips` returns, after the table's row of every clip; that of silence is the background recording's."""
    generator = seeded("validation clips")
    in_part = table["part"] == part
    words = np.flatnonzero(in_part & (table["kind"] == "clip"))
    known = np.isin(table["label"][words], commands)
    # A command without clips is judged by its other recordings.
    missing = [word for word in commands if word not in table["label"][words]]
    spoken = np.flatnonzero(in_part & (table["kind"] == "word") & np.isin(table["label"], missing))
    words, known = np.concatenate([words, spoken]), np.concatenate([known, np.ones(len(spoken), bool)])
    share = known.sum() // 8
    others = generator.permutation(words[~known])[:share]
    rows = np.concatenate([words[known], others])
    waves = [one_second(table, row) for row in rows]
    labels = [commands.index(l) if l in commands else len(commands) for l in table["label"][rows]]
    noise = np.flatnonzero((table["kind"] == "noise") & (table["label"] == BACKGROUND))
    for _ in range(share if len(noise) else 0):
        row = generator.choice(noise)
        first, last = background_span(part, int(table["length"][row]))
        begin = generator.integers(first, last - WINDOW)
        waves.append(samples(table, row, begin, begin + WINDOW) * np.float32(generator.random()))
        labels.append(len(commands) + 1)
        rows = np.append(rows, row)
    return rows, np.stack(waves).astype(np.float32), np.array(labels)


def other_words(table, part, kind):
    """The rows of every recording of another word of a kind, clip or word, by a part's speakers [n], and these as clips [n, 16000]."""
    is_other = (table["kind"] == kind) & ~np.isin(table["label"], (*COMMANDS, *MANY_WORDS))
    rows = np.flatnonzero((table["part"] == part) & is_other)
    return rows, np.array([one_second(table, row) for row in rows], np.float32).reshape(-1, WINDOW)


def all_other_words(table, part):
    """`other_words` of both kinds, as clips [n, 16000]."""
    return np.concatenate([other_words(table, part, kind)[1] for kind in ("clip", "word")])


def new_words(table, part):
    """The rows of words by a part's speakers that no recording trained on has, [n], and these as clips [n, 16000], digital silence around them.

    They are cut out of running speech. Synthetic voices may have said them in training.
    """
    trained = table["part"] == "training"
    known = set(table["label"][trained]).union(*(text.split() for text in set(table["text"][trained])))
    held = np.flatnonzero((table["part"] == part) & (table["kind"] == "cut"))
    rows = np.array([row for row in held if table["label"][row] not in known and not says(COMMANDS, table["label"][row])], np.int64)
    return rows, np.array([alone(table, row) for row in rows], np.float32).reshape(-1, WINDOW)


def alone(table, row):
    """A word without what is around it, in the middle of a second [16000]."""
    word = fade(samples(table, row, table["from"][row], table["to"][row]))[:WINDOW]
    before = (WINDOW - len(word)) // 2
    return np.pad(word, (before, WINDOW - len(word) - before))


def random_windows(table, rows, count, generator, random_volume):
    """`count` windows [count, 16000] of these recordings, each at a random place; none if there are no recordings."""
    rows, out = rows[table["length"][rows] > WINDOW], []
    for _ in range(count if len(rows) else 0):
        row = generator.choice(rows)
        begin = generator.integers(0, table["length"][row] - WINDOW)
        out.append(samples(table, row, begin, begin + WINDOW))
        if random_volume:
            out[-1] = out[-1] * np.float32(generator.random())
    return np.array(out, np.float32).reshape(-1, WINDOW)


def running_speech(table, part):
    """Windows of running speech: any command in them is a false accept."""
    rows = np.flatnonzero((table["part"] == part) & (table["kind"] == "speech"))
    return random_windows(table, rows, RUNNING_SPEECH, seeded("validation running speech"), random_volume=False)


def sounds(table, part):
    """Windows of environmental sounds at a random volume: any command in them is a false accept."""
    is_sound = (table["kind"] == "noise") & (table["label"] != BACKGROUND)
    rows = np.flatnonzero((table["part"] == part) & is_sound)
    return random_windows(table, rows, SOUNDS, seeded("validation sounds"), random_volume=True)


def word_endings(table, part, commands=COMMANDS):
    """Windows that hold only the last 25–55 % of a command, at their beginning."""
    generator = seeded("validation word endings")
    rows = np.flatnonzero(
        (table["part"] == part) & (table["kind"] == "clip") & np.isin(table["label"], commands)
    )
    out = np.zeros((ENDINGS, WINDOW), np.float32)
    for wave in out:
        row = generator.choice(rows)
        first, last = table["from"][row], table["to"][row]
        piece = samples(table, row, int(last - (last - first) * generator.uniform(0.25, 0.55)), WINDOW)
        wave[: len(piece)] = piece
    return out


def held_out_words(table):
    """Clips of the words that no network is trained on, one second of each recording."""
    rows = np.flatnonzero(np.isin(table["label"], HELD_OUT))
    return np.array([one_second(table, row) for row in rows], np.float32).reshape(-1, WINDOW)
