"""Standard output and standard error of the service: read to the end, but for the times in which their reader stalls."""

import fcntl
import json
import os
import re
import threading


class Output:
    """A pipe whose reader can stall; each line goes to `take`."""

    def __init__(self, take):
        self.take = take
        self.reader, self.writer = os.pipe()
        # The smallest pipe, so that a reader that stalls is soon felt.
        fcntl.fcntl(self.writer, fcntl.F_SETPIPE_SZ, 4096)
        self.flowing = threading.Event()
        self.flowing.set()
        self.thread = threading.Thread(target=self.read, daemon=True)
        self.thread.start()

    def read(self):
        rest = b""
        while True:
            self.flowing.wait()
            piece = os.read(self.reader, 65536)
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                self.take(line.decode(errors="replace"))

    def close_writer(self):
        os.close(self.writer)

    def finish(self):
        """Reads what is left, after the service has ended."""
        self.flowing.set()
        self.thread.join(10)


class Events:
    """Events by their sequence number, as one sink got them."""

    def __init__(self):
        self.lines = 0
        self.events = {}
        # Sequence numbers that came twice; a sink must get each event once.
        self.twice = []

    def add(self, sequence, event=None):
        self.lines += 1
        if sequence in self.events:
            self.twice.append(sequence)
        self.events[sequence] = event


class StandardOutput:
    """Lines of `--json`: events, and the long texts of a `print` action."""

    def __init__(self):
        self.json = Events()
        self.printed = Events()
        self.odd = []

    def take(self, line):
        try:
            event = json.loads(line)
            if event["event"] == "print":
                self.printed.add(int(event["text"].split()[1]))
            else:
                self.json.add(event["sequence"], event)
        except (ValueError, KeyError, IndexError, TypeError):
            self.odd.append(line[:200])


class Log:
    """Standard error: kept for reading, and how many lines it says that it lacks."""

    def __init__(self, path):
        self.file = path.open("w")
        self.dropped = 0

    def take(self, line):
        self.file.write(line + "\n")
        self.file.flush()
        if found := re.search(r"([0-9]+) lines of this log were dropped", line):
            self.dropped += int(found[1])
