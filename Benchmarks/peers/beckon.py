"""Beckon's side: a process that times runs of the network on request; see Benchmarks/TimeNetwork."""

import os

from Benchmarks.peers.process import LineProcess, Unavailable

KERNELS = ("avx512", "avx2", "baseline")
# The program's names of the precisions.
PRECISIONS = {"f32": "float", "int8": "int8"}


class TimeNetwork(LineProcess):
    """The process for one set of kernels and one precision."""

    def __init__(self, program, model, inputs, kernels, precision):
        settings = {"BECKON_KERNELS": kernels, "BECKON_PRECISION": PRECISIONS[precision]}
        super().__init__([program, model, inputs], {**os.environ, **settings})
        words = self.first.split()
        if words[:2] != [kernels, PRECISIONS[precision]]:
            self.close()
            raise Unavailable(f"asked for {kernels} {precision}, it used {' '.join(words[:2])}")
        self.streams = int(words[3]) > 0


def open_all(program, model, inputs):
    """A process by (kernels, precision) that this build and this processor can run, the fastest kernels first, and the reasons
    why the others are missing."""
    processes, missing = {}, []
    for precision in PRECISIONS:
        for kernels in KERNELS:
            try:
                processes[kernels, precision] = TimeNetwork(program, model, inputs, kernels, precision)
            except Unavailable as error:
                missing.append(f"Beckon left out: {error}")
    return processes, list(dict.fromkeys(missing))
