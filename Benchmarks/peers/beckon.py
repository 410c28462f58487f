"""Beckon's side: a process that times runs of the network when it is told to; see Benchmarks/Pace."""

import os
import subprocess

import numpy as np

KERNELS = ("avx512", "avx2", "baseline")
# What the program calls a precision.
PRECISIONS = {"f32": "float", "int8": "int8"}


class Refused(Exception):
    pass


class Pace:
    def __init__(self, program, model, inputs, kernels, precision):
        settings = {"BECKON_KERNELS": kernels, "BECKON_PRECISION": PRECISIONS[precision]}
        self.process = subprocess.Popen(
            [program, model, inputs],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, **settings},
        )
        words = self._line().split()
        if words[:2] != [kernels, PRECISIONS[precision]]:
            self.close()
            raise Refused(f"asked for {kernels} {precision}, it took {' '.join(words[:2])}")
        self.streams = int(words[3]) > 0

    def ask(self, line, kind=float):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return np.array(self._line().split(), kind)

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def _line(self):
        line = self.process.stdout.readline()
        if not line:
            raise Refused(self.process.stderr.read().strip() or "it ended")
        return line


def open_all(program, model, inputs):
    """A process for each kind of kernels and precision that this build and this processor have, the best kernels first, and
    why the others are missing."""
    processes, missing = {}, []
    for precision in PRECISIONS:
        for kernels in KERNELS:
            try:
                processes[kernels, precision] = Pace(program, model, inputs, kernels, precision)
            except Refused as error:
                missing.append(f"Beckon left out: {error}")
    return processes, list(dict.fromkeys(missing))
