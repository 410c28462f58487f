"""Counts false accepts in answers, and their rate with its interval."""

import scipy.stats

from Benchmarks.talk.extract import plain

# Detections of a word less than this apart are one, in seconds.
APART = 1.0


def line_at(stream, time, after=1.0):
    """The line of a stream that is said at a time, or that ended at most so many seconds before; None in a longer gap."""
    found = None
    for name, start, end in stream["lines"]:
        if start <= time <= end + after:
            found = name
    return found


def false_accepts(talk, answers, words=None):
    """A list of (stream, time, word, score, line); the line is that of the word's middle, where its start and end are known.

    Not counted: other words than `words`, a word twice within APART, and a word that is said.
    """
    found = []
    for name, detections in answers.items():
        last = {}
        for time, word, score, *bounds in sorted(detections):
            if words is not None and word not in words:
                continue
            again = time - last.get(word, -APART) < APART
            last[word] = time
            line = line_at(talk["streams"][name], sum(bounds) / 2 if bounds else time)
            said = plain(talk["lines"][line]["text"]).split() if line else []
            if not again and not set(word.replace("_", " ").split()) <= set(said):
                found.append((name, time, word, score, line))
    return found


def interval(count, hours):
    """The exact 95 % interval of a Poisson rate, an hour."""
    low = scipy.stats.chi2.ppf(0.025, 2 * count) / 2 if count else 0.0
    return low / hours, scipy.stats.chi2.ppf(0.975, 2 * count + 2) / 2 / hours
