"""Runs a network in one variant of one runtime; commands come line by line, so that other programs can run between.

    python -m Benchmarks.peers.worker RUNTIME PRECISION VARIANT MODEL GIVEN TEST

RUNTIME is the name of a package. MODEL is a folder or `empty`. GIVEN is the converted network, or the calibration windows for a variant that needs no conversion;
TEST is a .npy file of windows [n, columns, channels]. The first output line is `ready`. Each input line gets one output line:

    time N       the first window, N times → nanoseconds of each call
    answers      every window → its outputs, one after the other

A process of its own, because a runtime may die, of an instruction that the processor does not have for example.
"""

import os
import sys
import warnings
from pathlib import Path

import numpy as np

from Benchmarks.peers import runtimes, timing
from Benchmarks.peers.network import Network


def main():
    runtime, precision, variant, model, given, test = sys.argv[1:]
    # Libraries print to standard output, too; the answers get a descriptor of their own.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    warnings.simplefilter("ignore")
    network = Network.empty() if model == "empty" else Network.load(Path(model))
    peer = runtimes.RUNTIMES[runtime]()
    form, method = next((form, method) for label, form, method in peer.variants[precision] if label == variant)
    windows = np.load(test)
    runner = getattr(peer, method)(network, given if form else np.load(given))
    runner.answer(windows[0])
    run = timing.repeated(runner.call)
    print("ready", file=answers, flush=True)
    for line in sys.stdin:
        command, *count = line.split()
        if command == "time":
            numbers = run(int(count[0]))
        else:
            numbers = np.concatenate([output for window in windows for output in runner.answer(window)])
        print(*numbers, file=answers, flush=True)


if __name__ == "__main__":
    main()
