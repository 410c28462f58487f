"""One run: the service, what it talks to, and the lanes of faults."""

import ctypes
import json
import os
import signal
import subprocess
import threading
import time
import traceback
from pathlib import Path
from random import Random

from .broker import Broker
from .card import Card
from .neighbours import Neighbours, free_port
from .outputs import Log, Output, StandardOutput
from .pace import Pace
from .schedule import END
from .service import Service, children
from .sinks import Clips, Hook, Program, Subscriber
from .taught import TaughtWords
from .world import THRESHOLD, World

# What each event starts: a program, a webhook and a printed line.
ACTIONS = 3
# Longer than a word's audio twice over.
PRINTED = "x" * 8000
DISK_BYTES = 16_000_000
# Actions that run at a time; with the thread that writes clips, the threads that start when they are needed.
AT_ONCE = 3
WORKERS = AT_ONCE + 1


class Chaos:
    """The service as a child of this process, by a clock that runs `speed` times as fast as the machine's."""

    # Lanes of faults that this kind of run cannot have.
    without = {"journal"}
    # A port for live pages, and a wake-word server beside the service; only where this process starts both.
    web_port = None
    neighbours = None
    # Seconds for which the service may be stopped.
    longest_stop = 25.0

    def __init__(self, folder, build, seed, speed):
        self.folder = folder
        self.beckon = str(build / "beckon")
        self.seed = seed
        self.is_over = threading.Event()
        self.problems = []
        # The turns that took place.
        self.done = []
        self.log_lock = threading.Lock()
        self.begin = 0.0
        # Of audio, until the service was told to rest.
        self.seconds = 0.0
        # The status after the run, when nothing is on its way any more; None if the service did not live that long.
        self.last = None
        # Processes that a child of the service leaves behind become children of this one, so that they are found.
        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)
        self.world = World(folder, seed)
        self.card = Card(folder, build / "libFakeCard.so", self.world)
        self.program = Program(folder)
        self.hook = Hook()
        # In a container the service has a network of its own.
        self.broker = None if "broker" in self.without else Broker("chaos")
        self.prepare(build, speed)
        self.clips.folder.mkdir()
        self.clips.folder.chmod(0o777)
        if not self.has_disk:
            self.without = self.without | {"disk"}

    # ---- What differs under systemd; see container.py ----

    def prepare(self, build, speed):
        self.pace = Pace(self.folder / "pace", speed)
        self.mount_disk(self.folder / "disk")
        self.configuration = self.folder / "config.json5"
        self.web_port = free_port()
        self.clips = Clips(self.disk / "clips")
        self.control = self.folder / "control.socket"
        environment = {
            "PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(self.folder),
            "ALSA_CONFIG_PATH": str(self.card.configuration), "XDG_CONFIG_HOME": str(self.folder),
            "XDG_RUNTIME_DIR": str(self.folder), "BECKON_WORDS": str(self.disk / "words"),
        }
        self.words = TaughtWords(self.beckon, environment, self.disk / "words")
        command = [self.beckon, "listen", "--json", "--config", str(self.configuration)]
        paced = {"LD_PRELOAD": str(build / "libFakeSystem.so"), "FAKE_PACE": str(self.folder / "pace")}
        self.service = Service(command, {**environment, **paced}, self.pace, self.control)
        self.neighbours = Neighbours(self.beckon, environment, (self.folder / "neighbours.log").open("wb"))
        self.printed = StandardOutput()
        self.log = Log(self.folder / "log")
        self.output, self.error = Output(self.printed.take), Output(self.log.take)

    def mount_disk(self, path):
        """A small disk for clips and taught words; without root it is a folder like any other, which cannot be filled."""
        path.mkdir(parents=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={DISK_BYTES},mode=1777", "chaos", str(path)]
        self.disk, self.has_disk = path, os.geteuid() == 0 and subprocess.run(command).returncode == 0

    def unmount_disk(self):
        if self.has_disk:
            subprocess.run(["umount", "--lazy", str(self.disk)])

    def start(self):
        self.configure("plain")
        self.service.start(self.output.writer, self.error.writer)
        self.output.close_writer()
        self.error.close_writer()

    def hang_up(self):
        """Tells the service to read its configuration again."""
        self.service.send(signal.SIGHUP)

    # ---- Settings ----

    def configure(self, version):
        """Writes a version of the configuration; all but the wrong one find the same words."""
        settings = {
            "device": "mic", "mode": "spot", "socket": str(self.control),
            "words": {name: {"threshold": THRESHOLD} for name in ("left", "right")},
            "actions": [
                {"run": [str(self.program.path)], "timeout": 40},
                {"webhook": f"http://127.0.0.1:{self.hook.port}/", "timeout": 40},
            ],
            "clips": {"dir": str(self.clips.folder), "keep": 100_000, "quota": 10_000},
            "limits": {"queue": 12, "atOnce": AT_ONCE},
        }
        if self.web_port:
            settings["web"] = {"listen": f"tcp://127.0.0.1:{self.web_port}"}
        if self.printed:
            settings["actions"].append({"print": f"printed {{sequence}} {PRINTED}"})
        if self.broker:
            settings["mqtt"] = {"host": "127.0.0.1", "port": self.broker.port, "name": "chaos"}
        if version == "strict":
            settings["words"]["left"]["threshold"] = THRESHOLD + 0.01
        if version == "other":
            settings["words"]["stop"] = {"enabled": False}
        text = json.dumps(settings)
        temporary = self.configuration.with_suffix(".new")
        temporary.write_text(text if version != "wrong" else text[: len(text) // 2])
        os.replace(temporary, self.configuration)

    # ---- Time ----

    def wait(self, seconds):
        """Waits so many seconds of the service's clock, or until the run is over."""
        self.is_over.wait(seconds / self.pace.speed)

    def now(self):
        """Seconds of audio since the begin of the run."""
        return self.pace.now() - self.begin

    def note(self, text):
        with self.log_lock:
            self.log.file.write(f"---- {self.now():8.1f} s: {text}\n")

    def insist(self, line, seconds=20.0):
        """Repeats a command until the service has obeyed."""
        end = time.monotonic() + seconds
        while self.service.ask(line) is None:
            if time.monotonic() > end or not self.service.is_running:
                self.problems.append(f"not obeyed in {seconds:.0f} s: {line}; threads: {self.service.threads()}")
                return
            time.sleep(0.05)

    def until(self, condition, seconds, what):
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                self.problems.append(f"not in {seconds:.0f} s: {what}")
                return False
            time.sleep(0.05)
        return True

    # ---- The run ----

    def follow(self, turns, length):
        """Carries out the faults of one lane."""
        for turn in turns:
            self.wait(turn.time - self.now())
            # On a busy machine a lane may be late; its last faults are then left out, so that the end is as calm as planned.
            if self.is_over.is_set() or not self.service.is_running or self.now() + turn.seconds > length - END:
                return
            self.done.append(turn)
            self.note(f"{turn.fault.name} for {turn.seconds:.1f} s")
            try:
                turn.fault.run(self, turn.seconds, Random(turn.seed))
            except Exception:
                if self.service.is_running:
                    self.problems.append(f"{turn.fault.name}: {traceback.format_exc()}")
            self.note(f"end of {turn.fault.name}")

    def collect(self):
        while not self.is_over.wait(0.3):
            self.clips.collect()

    def run(self, turns, length):
        """Runs `length` seconds of audio; afterwards the service is muted and idle, and `last` is its status."""
        # There is a card only when the subscribers are there, so that they get all events.
        self.card.fail("gone")
        self.start()
        self.until(lambda: self.service.status() is not None, 30, "the control socket answers")
        self.subscriber, self.slow_subscriber = Subscriber(self.control), Subscriber(self.control)
        self.until(lambda: self.subscriber.is_subscribed and self.slow_subscriber.is_subscribed, 30, "there are subscribers")
        self.card.fail("")
        if not self.until(lambda: self.card.epoch > 0, 30, "the card is opened"):
            return
        self.begin = self.pace.now()
        if self.neighbours:
            self.neighbours.start()
        lanes = [threading.Thread(target=self.follow, args=(lane, length), daemon=True) for lane in turns.values()]
        watchers = [threading.Thread(target=self.service.watch, args=(self.is_over,), daemon=True)]
        watchers.append(threading.Thread(target=self.collect, daemon=True))
        for thread in lanes + watchers:
            thread.start()
        while self.now() < length and self.service.is_running:
            time.sleep(0.1)
        self.seconds = self.now()
        self.pace.set(1)
        if self.service.is_running:
            self.settle(lanes)
        self.is_over.set()
        for thread in lanes + watchers:
            thread.join(10)

    def settle(self, lanes):
        for lane in lanes:
            lane.join(60)
            if lane.is_alive():
                self.problems.append("a fault did not end")
        self.insist("mute")
        if not self.until(self.is_idle, 60, "the service is idle after it was muted"):
            self.problems.append(f"it has {self.counts()}; threads: {self.service.threads()}; {children(self.service.pid)}")
        self.clips.collect()
        if self.service.is_running:
            self.last = self.service.status()

    def counts(self):
        """What changes while anything is on its way: counts of the service, and lines that came out of it."""
        status = self.service.status()
        if not status:
            return None
        keys = ["frames", "hops", "events", "actionsStarted", "actionsFailed", "actionsDropped", "clips", "droppedLines"]
        counts = [status.status[key] for key in keys] + [self.hook.events.lines, self.program.heard.stat().st_size]
        if self.printed:
            counts += [self.printed.json.lines, self.printed.printed.lines]
        is_quiet = status.status["state"] == "muted" and status.status["audio"]["waiting"] < 0.1
        return counts if is_quiet and not children(self.service.pid) else None

    def is_idle(self):
        """Whether nothing is on its way any more: no audio, no action, no clip."""
        self.clips.collect()
        before = self.counts()
        time.sleep(0.8)
        return before is not None and before == self.counts()

    def stop(self):
        """Ends the service while it listens. Returns its exit status and how long it took."""
        self.insist("unmute")
        self.until(lambda: (self.service.ask("status") or {}).get("state") == "running", 10, "it listens again")
        time.sleep(3)
        ended = self.service.stop()
        for reader in (self.output, self.error):
            reader.finish()
        return ended

    def close(self):
        self.is_over.set()
        self.service.kill()
        if self.neighbours:
            self.neighbours.stop()
        for subscriber in (getattr(self, name, None) for name in ("subscriber", "slow_subscriber")):
            if subscriber:
                subscriber.close()
        self.hook.close()
        if self.broker:
            self.broker.close()
        self.unmount_disk()

    def restarts(self):
        """Nobody starts the service again."""
        return []

    def left_behind(self):
        """Processes that the service started and that outlived it; they are ended here."""
        found = []
        for pid in children(os.getpid()):
            try:
                found.append(Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ").strip())
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
            except OSError:
                pass
        return [name for name in found if name]
