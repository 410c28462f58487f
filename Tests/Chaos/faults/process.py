"""What the machine does to the service as a whole."""

import signal
import subprocess
import sys

from ..schedule import fault


@fault("process", 0.2, 25)
def stopped(chaos, seconds, choice):
    """SIGSTOP, and SIGCONT after a while."""
    chaos.service.send(signal.SIGSTOP)
    try:
        chaos.wait(min(seconds, chaos.longest_stop))
    finally:
        chaos.service.send(signal.SIGCONT)


@fault("process", 5, 20)
def busy_machine(chaos, seconds, choice):
    """Other programs want all processors."""
    burn = ["nice", "-n", "15", sys.executable, "-c", "while True: pass"]
    burners = [subprocess.Popen(burn) for _ in range(choice.randint(2, 6))]
    try:
        chaos.wait(seconds)
    finally:
        for burner in burners:
            burner.kill()
            burner.wait()


@fault("process", 1, 5)
def signals(chaos, seconds, choice):
    """SIGHUP again and again, and SIGPIPE, SIGCHLD and SIGXFSZ out of nowhere."""
    for _ in range(choice.randint(5, 40)):
        chaos.service.send(choice.choice([signal.SIGHUP, signal.SIGPIPE, signal.SIGCHLD, signal.SIGXFSZ]))
        chaos.wait(seconds / 20)
