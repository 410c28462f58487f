"""The service under test: started, asked, watched and stopped from outside."""

import json
import os
import resource
import signal
import socket
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Sample:
    """What the kernel says about the process."""

    machine: float
    # Anonymous resident memory in KiB: what the process allocated, without the files that it maps.
    memory: int
    descriptors: int
    threads: int
    children: int


@dataclass(frozen=True)
class Answer:
    """The service's status, and when it was asked for, on the service's clock."""

    begin: float
    end: float
    status: dict


class Service:
    """A process that this one starts. In a container, systemd starts it; see container.py."""

    def __init__(self, command, environment, pace, control):
        self.command = command
        self.environment = environment
        self.pace = pace
        self.control = control
        self.process = None
        self.samples = []
        self.answers = []

    def start(self, output, error):
        self.process = subprocess.Popen(
            self.command, env=self.environment, stdin=subprocess.DEVNULL, stdout=output, stderr=error
        )
        # At ten times the speed a delay counts ten times, so the service does not wait for the machine's other work. What it
        # starts has normal priority.
        try:
            os.sched_setscheduler(self.pid, os.SCHED_FIFO, os.sched_param(1))
        except PermissionError:
            pass

    @property
    def pid(self):
        return self.process.pid

    @property
    def is_running(self):
        return self.process.poll() is None

    @property
    def end(self):
        """How it ended: its exit status, or the negative number of the signal."""
        return self.process.poll()

    def send(self, number):
        os.kill(self.pid, number)

    def limit(self, what, soft):
        """Sets a soft limit; returns the limits before."""
        before = resource.prlimit(self.pid, what)
        hard = before[1]
        if hard != resource.RLIM_INFINITY:
            soft = min(soft, hard)
        resource.prlimit(self.pid, what, (soft, hard))
        return before

    def unlimit(self, what, before):
        resource.prlimit(self.pid, what, before)

    def ask(self, line, seconds=5.0):
        """The answer to a command; None if the service does not take it: it may be stopped, flooded or out of descriptors."""
        try:
            with socket.socket(socket.AF_UNIX) as client:
                client.settimeout(seconds)
                client.connect(str(self.control))
                client.sendall(line.encode() + b"\n")
                answer = json.loads(client.makefile("rb").readline() or b"null")
        except (OSError, ValueError):
            return None
        return answer if isinstance(answer, dict) and answer.get("ok") else None

    def status(self, seconds=5.0):
        begin = self.pace.now()
        status = self.ask("status", seconds)
        if status is None:
            return None
        answer = Answer(begin, self.pace.now(), status)
        self.answers.append(answer)
        return answer

    def watch(self, is_over):
        """Looks at the process again and again, and asks it for its status; on a thread of its own."""
        while not is_over.wait(0.15):
            self.look()
            self.status(1.0)

    def look(self):
        folder = Path(f"/proc/{self.pid}")
        try:
            fields = dict(line.split(":", 1) for line in (folder / "status").read_text().splitlines())
            sample = Sample(
                time.monotonic(),
                int(fields["RssAnon"].split()[0]),
                len(os.listdir(folder / "fd")),
                int(fields["Threads"]),
                len(children(self.pid)),
            )
        except (OSError, KeyError, ValueError):
            return
        self.samples.append(sample)

    def threads(self):
        """The names of the threads, and what each waits for in the kernel: for a service that hangs."""
        if not self.is_running:
            return f"none: it ended with {self.end}"
        found = []
        for path in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                name, waits = (path / "comm").read_text().strip(), (path / "wchan").read_text()
                found.append(f"{name} {waits} {(path / 'syscall').read_text().strip()}")
            except OSError:
                pass
        return "; ".join(found)

    def stop(self, seconds=10.0):
        """Ends the service by SIGTERM. Returns its exit status and how long it took."""
        begin = time.monotonic()
        self.send(signal.SIGTERM)
        try:
            status = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            status = self.process.wait()
        return status, time.monotonic() - begin

    def kill(self):
        if self.process and self.is_running:
            self.process.send_signal(signal.SIGCONT)
            self.process.kill()
            self.process.wait()


def children(pid):
    found = []
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += map(int, path.read_text().split())
        except OSError:
            pass
    return found
