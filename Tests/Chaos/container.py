"""The same run of the installed package under systemd, by the machine's own clock: in the acceptance container."""

import os
import re
import signal
import subprocess
import time
from pathlib import Path

from .account import Check
from .chaos import Chaos
from .pace import Pace
from .service import Service, children
from .sinks import Clips
from .taught import TaughtWords

STATE = Path("/var/lib/private/beckon")
UNIT = "beckon.service"
# The confined service may use the card's files, which lie outside of its own folders.
DROP_IN = "[Service]\nReadWritePaths={folder}\n"
WATCHDOG_SECONDS = 20


def systemctl(*arguments):
    return subprocess.run(["systemctl", *arguments], capture_output=True, text=True)


def properties():
    lines = systemctl("show", UNIT).stdout.splitlines()
    return dict(line.split("=", 1) for line in lines if "=" in line)


class SystemdService(Service):
    def __init__(self, pace, control):
        super().__init__([], {}, pace, control)
        self.main = 0

    def start(self, output=None, error=None):
        started = systemctl("restart", UNIT)
        if started.returncode:
            raise SystemExit(f"{UNIT}: {started.stderr}")
        self.main = int(properties()["MainPID"])

    @property
    def pid(self):
        return self.main

    @property
    def is_running(self):
        """Whether it is still the same process."""
        return os.path.exists(f"/proc/{self.main}") and int(properties()["MainPID"]) == self.main

    @property
    def end(self):
        after = properties()
        return f"{after['Result']} {after['ExecMainStatus']}"

    def stop(self, seconds=10.0):
        begin = time.monotonic()
        systemctl("stop", UNIT)
        took = time.monotonic() - begin
        after = properties()
        return int(after["ExecMainStatus"]) if after["Result"] == "success" else after["Result"], took

    def kill(self):
        systemctl("stop", UNIT)


class SystemdChaos(Chaos):
    # Its output goes to the journal, which has a fault of its own.
    without = {"standard-output", "standard-error", "broker", "network"}
    # The watchdog is fed every third of its time.
    longest_stop = WATCHDOG_SECONDS / 2

    def prepare(self, build, speed):
        self.pace = Pace()
        self.beckon = "/usr/bin/beckon"
        self.mount_disk(STATE / "disk")
        self.configuration = Path("/etc/beckon/config.json5")
        self.clips = Clips(STATE / "disk/clips")
        self.control = Path("/run/beckon/control.socket")
        self.words = TaughtWords(self.beckon, dict(os.environ), STATE / "words")
        self.service = SystemdService(self.pace, self.control)
        self.printed = None
        self.log = NotesOnly(self.folder / "log")
        for file in [*self.card.files, self.program.heard, self.program.hung_file]:
            file.chmod(0o666)
        Path("/etc/asound.conf").write_text(self.card.configuration.read_text())
        folder = Path(f"/run/systemd/system/{UNIT}.d")
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "chaos.conf").write_text(DROP_IN.format(folder=self.folder))
        systemctl("daemon-reload")

    def start(self):
        self.configure("plain")
        self.service.start()

    def configure(self, version):
        super().configure(version)
        self.configuration.chmod(0o644)

    def stop(self):
        self.insist("unmute")
        self.until(lambda: (self.service.ask("status") or {}).get("state") == "running", 10, "it listens again")
        time.sleep(3)
        return self.service.stop()

    def left_behind(self):
        path = Path("/sys/fs/cgroup/system.slice") / UNIT / "cgroup.procs"
        return path.read_text().split() if path.exists() else []

    # ---- What only systemd can mend ----

    def restarts(self):
        """Checks that systemd starts the service again: when it was killed, and when it hangs."""
        yield self.restart("killed (SIGKILL): seconds until it hears a word again", signal.SIGKILL, 30)
        yield self.restart("hanging (SIGSTOP): seconds until the watchdog had it hear a word again", signal.SIGSTOP,
                           2 * WATCHDOG_SECONDS + 30)
        said = subprocess.run(
            ["journalctl", "--quiet", "--unit", UNIT, "--grep", "Watchdog timeout"], capture_output=True, text=True
        ).stdout
        yield Check("watchdog time-outs in the journal", str(said.count("\n")), "1", said.count("\n") == 1)

    def restart(self, what, number, seconds):
        self.service.start()
        self.until(lambda: self.program_runs(), 30, "a word runs its program")
        before = int(properties()["NRestarts"])
        begin = time.monotonic()
        os.kill(self.service.pid, number)
        def is_back():
            now = properties()
            self.service.main = int(now["MainPID"])
            return int(now["NRestarts"]) > before and now["ActiveState"] == "active" and self.program_runs()
        is_right = self.until(is_back, seconds, what)
        return Check(what, f"{time.monotonic() - begin:.1f}", "", is_right)

    def program_runs(self):
        """Whether the program gets an event within five seconds."""
        before = self.program.heard.stat().st_size
        end = time.monotonic() + 5
        while self.program.heard.stat().st_size == before:
            if time.monotonic() > end:
                return False
            time.sleep(0.1)
        return True


class NotesOnly:
    """The log is in the journal; only the driver's notes are kept."""

    def __init__(self, path):
        self.file = path.open("w")
