"""Beckon's side: a process that times runs of the network on request; see Benchmarks/Pace."""

import os
import subprocess

import numpy as np

KERNELS = ("avx512", "avx2", "baseline")
# The program's names of the precisions.
PRECISIONS = {"f32": "float", "int8": "int8"}


class Unavailable(Exception):
    """This build or processor cannot run what was asked for."""


class Pace:
    """The process for one set of kernels and one precision."""

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
            raise Unavailable(f"asked for {kernels} {precision}, it used {' '.join(words[:2])}")
        self.streams = int(words[3]) > 0

    def ask(self, line, kind=float):
        """The numbers that the process answers to one line."""
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()
        return np.array(self._line().split(), kind)

    def close(self):
        self.process.stdin.close()
        self.process.wait()

    def _line(self):
        line = self.process.stdout.readline()
        if not line:
            raise Unavailable(self.process.stderr.read().strip() or "the process ended")
        return line


def open_all(program, model, inputs):
    """A process by (kernels, precision) that this build and this processor can run, the fastest kernels first, and the reasons
    why the others are missing."""
    processes, missing = {}, []
    for precision in PRECISIONS:
        for kernels in KERNELS:
            try:
                processes[kernels, precision] = Pace(program, model, inputs, kernels, precision)
            except Unavailable as error:
                missing.append(f"Beckon left out: {error}")
    return processes, list(dict.fromkeys(missing))
