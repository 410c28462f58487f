"""A process that answers one line of numbers to each line that it is sent."""

import signal
import subprocess
import tempfile

import numpy as np


class Unavailable(Exception):
    """The process cannot do what was asked for; the message is its reason."""


def reason(code, errors):
    """Why a process ended: the signal that killed it, or the last line that it wrote to standard error."""
    if code is not None and code < 0:
        return f"it was killed by {signal.Signals(-code).name} ({signal.strsignal(-code).lower()})"
    return (errors.strip().splitlines() or [f"it ended with status {code} and gave no reason"])[-1]


class LineProcess:
    def __init__(self, command, environment=None):
        # A file, because a full pipe would block the process.
        self._errors = tempfile.TemporaryFile("w+")
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, text=True, env=environment
        )
        self.first = self._line()

    def ask(self, line, kind=float):
        """The numbers that the process answers to one line."""
        try:
            self._process.stdin.write(line + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            pass  # `_line` says why.
        return np.array(self._line().split(), kind)

    def close(self):
        try:
            self._process.stdin.close()
        except BrokenPipeError:
            pass
        self._process.wait()

    def _line(self):
        line = self._process.stdout.readline()
        if not line:
            code = self._process.wait()
            self._errors.seek(0)
            raise Unavailable(reason(code, self._errors.read()))
        return line
