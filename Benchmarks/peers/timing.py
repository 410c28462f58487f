"""Times several things in turns, so that a slowdown of the machine affects all of them."""

import time
from dataclasses import dataclass, field
from typing import Callable

import numpy as np

from Benchmarks.peers.process import Unavailable

WARM, BLOCK = 3, 5e6


@dataclass
class Entrant:
    """`run(n)` runs n times and returns the nanoseconds of each; `medians` holds the median of each round's block."""

    name: str
    precision: str
    run: Callable
    setting: str = ""
    hop: bool = False
    # Overhead in microseconds: a call of this runtime with an empty network.
    call: float = 0
    # Largest difference in a logit, of f32 from Beckon, of int8 from the same runtime's f32; and per cent of equal top classes.
    difference: float = 0
    agreement: float = 100
    medians: list = field(default_factory=list)

    @property
    def microseconds(self):
        return np.median(self.medians) / 1000

    @property
    def spread(self):
        return np.percentile(self.medians, (10, 90)) / 1000

    def ratio(self, base):
        """Its time over that of `base`, the median over the rounds."""
        return np.median(np.array(self.medians) / base.medians)


def repeated(call):
    """`run` for a call in this process."""

    def run(count):
        times = np.empty(count, np.int64)
        for index in range(count):
            start = time.perf_counter_ns()
            call()
            times[index] = time.perf_counter_ns() - start
        return times

    return run


def interleave(entrants, rounds):
    """One block of about 5 ms of each entrant per round; each round starts with another entrant.

    Returns the entrants whose processes lived to the end, and a note for each of the others.
    """
    counts, died = {}, []

    def ask(entrant, count):
        try:
            return entrant.run(count)
        except Unavailable as error:
            died.append(f"{entrant.name} {entrant.precision}: ended during the measurement: {error}")
            alive.remove(entrant)
            return None

    alive = list(entrants)
    for entrant in entrants:
        if ask(entrant, 5 * WARM) is not None and (times := ask(entrant, 20)) is not None:
            counts[entrant.name, entrant.precision, entrant.setting] = int(np.clip(BLOCK / np.median(times), 5, 500))
    for turn in range(rounds):
        first = turn % max(len(alive), 1)
        for entrant in alive[first:] + alive[:first]:
            count = counts[entrant.name, entrant.precision, entrant.setting]
            if (times := ask(entrant, count + WARM)) is not None:
                entrant.medians.append(np.median(times[WARM:]))
    return alive, died


def fastest(entrants):
    """The fastest of several variants in a short trial, with an empty record, or None; and notes on those that died."""
    alive, died = (entrants, []) if len(entrants) == 1 else interleave(entrants, 15)
    best = min(alive, key=lambda entrant: np.median(entrant.medians) if entrant.medians else 0, default=None)
    if best:
        best.medians = []
    return best, died
