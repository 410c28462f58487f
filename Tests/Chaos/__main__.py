"""An hour of audio through the service while everything around it fails, and an account of what became of it.

    python3 -m Tests.Chaos [--seed N] [--seconds N] [--speed N] [--only FAULT…] [--list]

`make chaos` builds what it needs. docs/security.md says what it proves.
"""

import argparse
import json
import shutil
import sys
import tempfile
import time
from pathlib import Path

from . import faults  # noqa: F401 (fills the table)
from .account import Account, Check
from .chaos import Chaos
from .report import print_causes, print_checks, print_faults
from .schedule import TABLE, plan
from .taught import TAKES

ROOT = Path(__file__).resolve().parents[2]


def options():
    parser = argparse.ArgumentParser(prog="make chaos", description=__doc__.splitlines()[0])
    parser.add_argument("--seed", default="1", help="another seed, another run")
    parser.add_argument("--seconds", type=float, default=3600, help="of audio; at least 120")
    parser.add_argument("--speed", type=float, default=10, help="of the service's clock, as a multiple of the machine's")
    parser.add_argument("--pause", type=float, default=25, help="mean seconds between two faults of a kind")
    parser.add_argument("--only", nargs="+", metavar="FAULT", choices=[one.name for one in TABLE], help="only these")
    parser.add_argument("--list", action="store_true", help="list the faults, and end")
    parser.add_argument("--build", type=Path, default=ROOT / ".build/release", help="where the programs are")
    parser.add_argument("--keep", type=Path, metavar="FOLDER", help="where to keep log, card's ledger and statuses")
    return parser.parse_args()


def main():
    given = options()
    if given.list:
        for one in TABLE:
            print(f"{one.lane:<16}{one.name:<22}{one.what}")
        return 0
    turns = plan(given.seed, given.seconds, given.only, given.pause)
    folder = Path(tempfile.mkdtemp(prefix="beckon-chaos-"))
    folder.chmod(0o755)
    chaos = Chaos(folder, given.build, given.seed, given.speed)
    print(f"seed {given.seed}: {given.seconds:.0f} s of audio at {given.speed:g} times the clock", flush=True)
    if not chaos.has_disk:
        print("not root: no disk to fill")
        turns.pop("disk", None)
    begin = time.monotonic()
    try:
        return judge(chaos, turns, given, begin)
    finally:
        chaos.close()
        if given.keep:
            shutil.copytree(folder, given.keep, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.wav", "disk", "*.socket"))
            answers = [{"begin": one.begin, "end": one.end, **one.status} for one in chaos.service.answers]
            (given.keep / "answers.json").write_text(json.dumps(answers))
        shutil.rmtree(folder, ignore_errors=True)


def store_of_one_word(chaos):
    """A store like those that the faults make, for the truth."""
    store = chaos.folder / "one-word"
    environment = {**chaos.words.environment, "BECKON_WORDS": str(store)}
    import subprocess

    subprocess.run([chaos.beckon, "enroll", "chaos", "--from", *TAKES], env=environment, check=True, stdout=subprocess.DEVNULL)
    return str(store)


def judge(chaos, turns, given, begin):
    chaos.world.learn(chaos.beckon, [store_of_one_word(chaos)])
    certain = sum(word.is_certain for word in chaos.world.words)
    print(f"{len(chaos.world.words)} words in the loop, {certain} of them certain", flush=True)
    chaos.run(turns, given.seconds)
    checks = []
    if not hasattr(chaos, "last"):
        status = chaos.service.process.poll()
        checks.append(Check("the service ran to the end", f"status {status}", f"after {chaos.seconds:.0f} s", False))
    else:
        account = Account(chaos)
        account.make()
        checks += account.checks
        status, seconds = chaos.stop()
        checks.append(Check("SIGTERM: exit status", str(status), "", status == 0))
        checks.append(Check("SIGTERM: seconds until the end", f"{seconds:.2f}", "", seconds < 2))
        left = chaos.left_behind()
        checks.append(Check("processes left behind", str(len(left)), " ".join(left), not left))
        print_faults(turns)
        print_causes(account)
    checks += [Check("driver", "", problem, False) for problem in chaos.problems]
    print_checks(checks)
    wrong = [one for one in checks if not one.is_right]
    wall = time.monotonic() - begin
    print(f"\nseed {given.seed}: {len(checks) - len(wrong)} of {len(checks)} checks passed; {wall:.0f} s")
    return 1 if wrong else 0


sys.exit(main())
