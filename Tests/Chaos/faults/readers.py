"""Readers that stall."""

import subprocess

from ..schedule import fault


def stall(chaos, reader, seconds):
    reader.flowing.clear()
    try:
        chaos.wait(seconds)
    finally:
        reader.flowing.set()


@fault("standard-output", 5, 120)
def stalled_output(chaos, seconds, choice):
    """The reader of standard output stalls. Each word writes 8 KB, so the queue of 256 KiB fills."""
    stall(chaos, chaos.output, seconds)


@fault("standard-error", 5, 120)
def stalled_log(chaos, seconds, choice):
    """The reader of the log stalls, while changes of thresholds write lines to it."""
    chaos.error.flowing.clear()
    try:
        for _ in range(20):
            chaos.service.ask("set left=0.6 " + " ".join(f"no={choice.uniform(0.90, 0.95):.4f}" for _ in range(30)))
            chaos.wait(seconds / 20)
    finally:
        chaos.error.flowing.set()


@fault("subscriber", 5, 60)
def stalled_subscriber(chaos, seconds, choice):
    """A client that follows events stalls; the service closes it, and it connects again."""
    stall(chaos, chaos.slow_subscriber, seconds)


@fault("journal", 5, 40)
def stalled_journal(chaos, seconds, choice):
    """The journal does not read: its service is stopped."""
    subprocess.run(["systemctl", "kill", "--signal", "STOP", "systemd-journald"], check=True)
    try:
        chaos.wait(seconds)
    finally:
        subprocess.run(["systemctl", "kill", "--signal", "CONT", "systemd-journald"], check=True)
