"""Which fault comes when: decided by the seed alone, before the run."""

import random
from collections.abc import Callable
from dataclasses import dataclass

# Audio at the begin in which the service settles, and at the end in which everything must be well again; in seconds.
BEGIN, END = 20, 40


@dataclass(frozen=True)
class Fault:
    """A fault: `run(chaos, seconds, choice)` begins it, keeps it for so many seconds of audio, and ends it."""

    name: str
    # Faults of one lane come one after the other; those of different lanes come together.
    lane: str
    shortest: float
    longest: float
    run: Callable
    what: str


@dataclass(frozen=True)
class Turn:
    time: float
    seconds: float
    fault: Fault
    seed: str


TABLE: list[Fault] = []


def fault(lane, shortest, longest):
    """Puts a function into the table of faults; its documentation says what it does."""

    def add(run):
        name = run.__name__.replace("_", "-")
        TABLE.append(Fault(name, lane, shortest, longest, run, run.__doc__.strip()))
        return run

    return add


def plan(seed, length, without=(), only=None, pause=25):
    """The turns of each lane within so many seconds of audio, but for the lanes `without`.

    `pause` is the mean time between two faults of a lane. Each lane draws for itself, so that its turns stay the same when
    faults are added to other lanes.
    """
    lanes = {}
    for one in TABLE:
        if one.lane not in without and (not only or one.name in only):
            lanes.setdefault(one.lane, []).append(one)
    turns = {}
    for lane, faults in lanes.items():
        choice = random.Random(f"{seed} {lane}")
        turns[lane] = []
        time = BEGIN + choice.expovariate(1 / pause)
        left = []
        while True:
            # Every fault of a lane once, in random order, then all again: none is left out in a short run.
            left = left or choice.sample(faults, len(faults))
            one = left.pop()
            seconds = choice.uniform(one.shortest, one.longest)
            if time + seconds > length - END:
                break
            turns[lane].append(Turn(time, seconds, one, f"{seed} {lane} {len(turns[lane])}"))
            time += seconds + choice.expovariate(1 / pause)
    return turns
