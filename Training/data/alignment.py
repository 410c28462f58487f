"""Single words inside recordings of running speech, by the forced alignment that some collections bring.

`align.tsv` has a line for each word: file without ending, word, start and end in seconds.
"""

import csv
import io

from Training.data.audio import RATE
from Training.data.sources import short_name

# Words shorter or longer than this, in seconds, are likely to be aligned wrongly.
SHORTEST, LONGEST = 0.16, 1.2
# Samples beyond the word's bounds that belong to its row, so that a window can hold what was said around it.
MARGIN = RATE // 2


def parse(text):
    """The words of each recording, {name: [(word, first, last)]} in samples, of an `align.tsv`."""
    words = {}
    for row in csv.reader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE):
        if len(row) < 4:
            continue
        try:
            first, last = float(row[2]), float(row[3])
        except ValueError:
            continue
        if row[1].isalpha() and SHORTEST <= last - first <= LONGEST:
            words.setdefault(short_name(row[0]), []).append((row[1].lower(), int(first * RATE), int(last * RATE)))
    return words


def rows(words, position, length):
    """(start, length, from, to, word) of each aligned word of a recording that lies at `position` and is `length` samples long.

    Start counts from the beginning of the joint audio; from and to count from start, as in the table of recordings.
    """
    for word, first, last in words:
        begin, end = max(0, first - MARGIN), min(length, last + MARGIN)
        if first < last <= length:
            yield position + begin, end - begin, first - begin, last - begin, word
