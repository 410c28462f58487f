"""The clock that the service runs by: the machine's, or one that runs several times as fast.

Tests/FakeSystem, which the service loads, reads the file that this writes; FakeSystem.h has its layout.
"""

import mmap
import struct
import time


class Pace:
    """Times are in seconds of the service's monotonic clock, which is also the clock of the fake card."""

    # A new speed holds from this many seconds on, so that all threads of the service see it at the same time.
    NOTICE = 0.02

    def __init__(self, path=None, speed=1.0):
        """Without a path the service runs by the machine's clock."""
        machine = time.monotonic()
        self.wall = time.time() - machine
        self.lines = [(machine, machine, speed), (machine, machine, speed)]
        self.map = None
        if path:
            path.write_bytes(struct.pack("<dQ6d", self.wall, 0, *self.lines[0], *self.lines[1]))
            with path.open("r+b") as file:
                self.map = mmap.mmap(file.fileno(), 0)
        elif speed != 1:
            raise ValueError("the machine's clock has one speed")

    @property
    def speed(self):
        return self.lines[-1][2]

    def at(self, machine):
        """The time of the service when the machine's monotonic clock shows `machine`."""
        begin, clock, speed = self.lines[-1] if machine >= self.lines[-1][0] else self.lines[-2]
        return clock + (machine - begin) * speed

    def now(self):
        return self.at(time.monotonic())

    def set(self, speed):
        """Changes the speed, and returns when it holds."""
        if not self.map:
            return
        begin = time.monotonic() + self.NOTICE
        self.lines.append((begin, self.at(begin), speed))
        newest = len(self.lines) % 2
        struct.pack_into("<3d", self.map, 16 + 24 * newest, *self.lines[-1])
        struct.pack_into("<Q", self.map, 8, newest)
        time.sleep(self.NOTICE)
