"""The fake card: its faults, and its own account of what it delivered. Tests/FakeCard has the card."""

import mmap
import os
import struct
from dataclasses import dataclass

from .world import RATE

SEGMENTS = 65_536
# The names of an enum FakeCard_fault.
REASONS = "closed xrun suspend skip storm gone eio busy stall hang late".split()


@dataclass(frozen=True)
class Segment:
    """Audio delivered without a break, in seconds since the card's first start, and why there was a break before it."""

    begin: float
    end: float
    reason: str


class Card:
    def __init__(self, folder, library, world):
        self.control = folder / "card.control"
        self.control.write_text("")
        ledger = folder / "card.ledger"
        ledger.write_bytes(bytes(32 + 24 * SEGMENTS))
        with ledger.open("r+b") as file:
            self.map = mmap.mmap(file.fileno(), 0)
        self.files = [self.control, ledger]
        self.configuration = folder / "asound.conf"
        self.configuration.write_text(
            f'pcm_type.fake {{ lib "{library}" }}\n'
            f'pcm.mic {{ type fake file "{world.path}" control "{self.control}" ledger "{ledger}" loop on live on }}\n'
        )

    def fail(self, text):
        """Begins a fault; an empty text ends it."""
        # Replaced as a whole: the card never reads half a word. It clears the file in place.
        descriptor = os.open(self.control, os.O_WRONLY)
        try:
            os.pwrite(descriptor, f"{text:<24}".encode() if text else b" " * 24, 0)
        finally:
            os.close(descriptor)

    @property
    def epoch(self):
        """When position 0 was, on the service's clock; 0 before the first start."""
        return struct.unpack_from("<d", self.map, 0)[0]

    @property
    def delivered(self):
        """Frames."""
        return struct.unpack_from("<Q", self.map, 8)[0]

    @property
    def segments(self):
        count = struct.unpack_from("<Q", self.map, 16)[0]
        found = []
        for index in range(min(count, SEGMENTS)):
            begin, end, reason = struct.unpack_from("<3Q", self.map, 32 + 24 * index)
            found.append(Segment(begin / RATE, end / RATE, REASONS[reason]))
        return found

    @property
    def is_full(self):
        return struct.unpack_from("<Q", self.map, 16)[0] >= SEGMENTS
