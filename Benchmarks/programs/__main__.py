"""Runs whole programs on the same hour of audio, one after the other: time, processor time and memory of each process.

    python -m Benchmarks.programs

Their tasks differ. `beckon classify` spots ten words with its network; PocketSphinx spots the same ten with its general
acoustic model of English; microWakeWord's package listens for one phrase of two or three words with its small networks. Both
packages run under Python, as installed.

This process imports little on purpose: Linux counts a child's peak memory from that of its parent when it was started.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
WORDS = "yes no up down left right on off stop go"


def programs(beckon, model, audio):
    """Name, what it listens for, its command, and the audio for its standard input, if it reads that."""
    yield "Beckon", "ten words", [beckon, "classify", "--model", model, audio], None
    yield f"PocketSphinx {version('pocketsphinx')}", "the same ten words", [
        sys.executable,
        "-m",
        "Benchmarks.programs.sphinx",
        audio,
        WORDS,
    ], None
    name = f"microWakeWord (pymicro-wakeword {version('pymicro-wakeword')})"
    for phrase in ("okay_nabu", "hey_jarvis"):
        yield name, f"one phrase, {phrase}", [sys.executable, "-m", "pymicro_wakeword", "--model", phrase], audio


def measured(command, given):
    """Wall and processor seconds and peak megabytes of a process, and the number of lines it printed."""
    with tempfile.TemporaryFile() as out, open(given or os.devnull, "rb") as source:
        start = time.monotonic()
        try:
            process = subprocess.Popen([str(part) for part in command], stdin=source, stdout=out)
        except OSError as error:
            sys.exit(f"{command[0]}: {error.strerror}; make build builds it")
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            sys.exit(f"{command[0]}: exited with status {process.returncode}")
        out.seek(0)
        lines = sum(1 for _ in out)
    return {"wall": wall, "cpu": usage.ru_utime + usage.ru_stime, "peak": usage.ru_maxrss / 1024, "lines": lines}


def markdown(results, seconds):
    yield "| | listens for | wall, s | processor, s | times real time, per core | peak memory, MB | lines printed | processor, × Beckon | memory, × Beckon |"
    yield "|---|---|---:|---:|---:|---:|---:|---:|---:|"
    base = results[0]
    for one in results:
        cells = [one["name"], one["task"], f"{one['wall']:.2f}", f"{one['cpu']:.2f}", f"{seconds / one['cpu']:.0f}"]
        cells += [f"{one['peak']:.1f}", str(one["lines"])]
        cells += [f"{one[key] / base[key]:.1f}" for key in ("cpu", "peak")]
        yield "| " + " | ".join(cells) + " |"


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--beckon", default=ROOT / ".build/release/beckon", type=Path, help="the built program")
    parser.add_argument("--model", default=ROOT / "Models/commands", type=Path)
    parser.add_argument(
        "--data", help="recordings (see Training/README.md); default: the voices of Debian's alsa-utils"
    )
    parser.add_argument("--seconds", type=int, default=3600, help="how much audio")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures as well")
    options = parser.parse_args()
    if options.seconds < 1:
        parser.error("--seconds: at least one")
    return options


def main():
    options = arguments()
    with tempfile.TemporaryDirectory() as folder:
        audio = str(Path(folder) / "hour.wav")
        maker = [sys.executable, "-m", "Benchmarks.programs.hour", audio, str(options.seconds)]
        if subprocess.run(maker + ([options.data] if options.data else [])).returncode:
            sys.exit(1)
        results = []
        for name, task, command, given in programs(options.beckon, options.model, audio):
            results.append({"name": name, "task": task, **measured(command, given)})
    print("\n".join(markdown(results, options.seconds)))
    floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\n{options.seconds} s of audio; peaks below {floor:.0f} MB, this script's own, cannot be measured.")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
