"""An hour of audio through the service while everything around it fails, and an account of what became of it.

    python3 -m Tests.Chaos [--seed N] [--seconds N] [--speed N] [--only FAULT…] [--list]

`make chaos` builds what it needs; docs/chaos.md says what it proves. With --systemd it tests the installed package, by the
machine's clock: for the acceptance container.
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

from . import faults  # noqa: F401 (fills the table)
from .account import Account, Check
from .chaos import Chaos
from .container import SystemdChaos
from .report import print_causes, print_checks, print_faults
from .schedule import TABLE, plan

ROOT = Path(__file__).resolve().parents[2]


def options():
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", default="1", help="another seed, another run")
    parser.add_argument("--seconds", type=float, default=3600, help="of audio; at least 120")
    parser.add_argument("--speed", type=float, default=10, help="of the service's clock, as a multiple of the machine's")
    parser.add_argument("--pause", type=float, default=25, help="mean seconds between two faults of a lane")
    parser.add_argument("--only", nargs="+", metavar="FAULT", choices=[one.name for one in TABLE], help="only these")
    parser.add_argument("--list", action="store_true", help="list the faults, and end")
    parser.add_argument("--systemd", action="store_true", help="the installed package, by the machine's clock")
    parser.add_argument("--build", type=Path, default=ROOT / ".build/release", help="where the programs are")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where to keep log, card's ledger and statuses")
    given = parser.parse_args()
    # alsa-lib looks for a relative path in its own folder.
    given.build = given.build.resolve()
    return given


def main():
    given = options()
    if given.list:
        for one in TABLE:
            print(f"{one.lane:<16}{one.name:<22}{one.what}")
        return 0
    # Not /tmp, which the system's service does not see.
    folder = Path(tempfile.mkdtemp(prefix="beckon-chaos-", dir="/var/lib" if given.systemd else None))
    folder.chmod(0o755)
    chaos = (SystemdChaos if given.systemd else Chaos)(folder, given.build, given.seed, given.speed)
    speed = "" if given.systemd else f" at {given.speed:g} times the clock"
    print(f"seed {given.seed}: {given.seconds:.0f} s of audio{speed}", flush=True)
    if not chaos.has_disk:
        print("not root: there is no disk to fill")
    begin = time.monotonic()
    # A driver that is late loses no audio, but its faults come late, and the service takes it for a slow client.
    if os.geteuid() == 0:
        os.setpriority(os.PRIO_PROCESS, 0, -15)
    try:
        checks = judge(chaos, given)
    finally:
        chaos.close()
        if given.keep:
            keep(chaos, folder, given.keep)
        shutil.rmtree(folder, ignore_errors=True)
    checks += [Check("driver", "", problem, False) for problem in chaos.problems]
    print_checks(checks)
    right = sum(one.is_right for one in checks)
    print(f"\nseed {given.seed}: {right} of {len(checks)} checks passed; {time.monotonic() - begin:.0f} s", flush=True)
    return 0 if right == len(checks) else 1


def judge(chaos, given):
    chaos.world.learn(chaos.beckon, [chaos.words.store_of_one(chaos.folder / "one-word")])
    certain = sum(word.is_certain for word in chaos.world.words)
    print(f"{len(chaos.world.words)} words in the loop, {certain} of them certain", flush=True)
    turns = plan(given.seed, given.seconds, chaos.without, given.only, given.pause)
    chaos.run(turns, given.seconds)
    print_faults(chaos.done)
    if not chaos.last:
        return [Check("the service ran to the end", "no", f"it ended with {chaos.service.end} after {chaos.seconds:.0f} s", False)]
    account = Account(chaos)
    account.make()
    status, seconds = chaos.stop()
    left = chaos.left_behind()
    print_causes(account)
    return [
        *account.checks,
        Check("SIGTERM: exit status", str(status), "", status == 0),
        Check("SIGTERM: seconds until the end", f"{seconds:.2f}", "", seconds < 2),
        Check("processes left behind", str(len(left)), " ".join(left), not left),
        *chaos.restarts(),
    ]


def keep(chaos, folder, target):
    left_out = shutil.ignore_patterns("*.wav", "disk", "*.socket", "*.never", "one-word")
    shutil.copytree(folder, target, dirs_exist_ok=True, ignore=left_out)
    answers = [{"begin": one.begin, "end": one.end, **one.status} for one in chaos.service.answers]
    (target / "answers.json").write_text(json.dumps(answers))
    (target / "samples.json").write_text(json.dumps([vars(one) for one in chaos.service.samples]))


sys.exit(main())
