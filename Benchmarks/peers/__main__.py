"""Times a model's network in Beckon and in ONNX Runtime, LiteRT, OpenVINO and PyTorch, and prints a table.

    python -m Benchmarks.peers MODEL…

Timed is the network alone, from the front end's columns of one window to its logits (and those of its activity layer), on one
thread of one core, with inputs and outputs bound beforehand. All take turns in one run, each in a process of its own; one that
dies becomes a note below the table. Each peer runs in several variants (layouts, kinds of call, compilers); the fastest is
shown. The "empty call" is the peer's time for a network of one multiplication, the overhead of Python and the runtime; ratios in
brackets are without it. A ratio above 1 means that Beckon is faster. In f32 all answers must be within 1e-4 of Beckon's, or the
exit status is 1. ONEDNN_MAX_CPU_ISA=AVX2 in the environment limits OpenVINO and PyTorch to AVX2.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from Benchmarks.peers import beckon, runtimes, table, timing
from Benchmarks.peers.network import Network
from Benchmarks.peers.process import LineProcess, Unavailable, reason

TOLERANCE = 1e-4
ROOT = Path(__file__).resolve().parents[2]
QUIET = {**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}


def module(name, *arguments):
    """The command that runs a module of this package."""
    return [sys.executable, "-m", f"Benchmarks.peers.{name}", *map(str, arguments)]


class Converter:
    """Converted networks in a folder, each made at its first use."""

    def __init__(self, folder):
        self.folder = folder

    def file(self, form, model, calibration):
        """The file of a network in this form; raises Unavailable with the converter's reason."""
        ending = next(
            e for key, e in (("onnx", "onnx"), ("litert", "tflite"), ("openvino", "xml")) if form.startswith(key)
        )
        out = self.folder / f"{Path(model).name}.{form}.{ending}"
        if not out.exists():
            ended = subprocess.run(
                module("convert", form, model, calibration, out), capture_output=True, text=True, env=QUIET
            )
            if ended.returncode:
                raise Unavailable(f"its converter: {reason(ended.returncode, ended.stderr)}")
        return out


class Comparison:
    """One model's network in all runtimes."""

    def __init__(self, model, options, converter):
        self.model, self.converter, self.notes = model, converter, []
        self.network = Network.load(model)
        self.calibration = converter.folder / f"{model.name}.npy"
        self.test = converter.folder / f"{model.name}.test.npy"
        ended = subprocess.run(
            module("windows", model, self.calibration, self.test, *[options.data] if options.data else []),
            capture_output=True,
            text=True,
        )
        if ended.returncode:
            sys.exit(f"{model}: {reason(ended.returncode, ended.stderr)}")
        self.source = ended.stdout.strip()
        self.entrants = self.beckon(options.time_network)
        for peer in runtimes.RUNTIMES.values():
            answers = None
            for precision in ("f32", "int8"):
                entrant, answers = self.peer(peer, precision, answers)
                self.entrants += [entrant] if entrant else []
        self.entrants, died = timing.interleave(self.entrants, options.rounds)
        self.notes += died
        for process in self.processes:
            process.close()

    def beckon(self, program):
        windows = np.load(self.test)
        inputs = self.converter.folder / f"{self.model.name}.f32"
        windows.astype("<f4").tofile(inputs)
        found, missing = beckon.open_all(program, self.model, inputs)
        self.notes += missing
        if not found:
            sys.exit("\n".join(missing))
        self.processes = list(found.values())
        entrants, self.truth = [], None
        for (kernels, precision), process in found.items():
            answers = process.ask("windows").reshape(len(windows), -1)
            self.truth = answers if self.truth is None else self.truth
            run = lambda count, process=process: process.ask(f"window {count}", np.int64)
            entrants.append(timing.Entrant(f"Beckon {kernels}", precision, run))
            self.compare(entrants[-1], answers, self.truth)
            if process.streams:
                run = lambda count, process=process: process.ask(f"hop {count}", np.int64)
                entrants.append(timing.Entrant(f"Beckon {kernels} hop", precision, run, hop=True))
                self.compare(entrants[-1], process.ask("stream")[None], answers[-1:])
        return entrants

    def peer(self, peer, precision, answers):
        """The fastest variant of a runtime and its answers; without one, None and a note."""
        variants = []
        for variant in peer.variants[precision]:
            try:
                process = self.start(peer, precision, variant, self.model, self.calibration, self.test)
                run = lambda count, process=process: process.ask(f"time {count}", np.int64)
                variants.append(timing.Entrant(peer.name, precision, run, variant[0]))
                variants[-1].process = process
            except Unavailable as error:
                self.note(peer, precision, variant[0], error)
        best, died = timing.fastest(variants)
        self.notes += died
        for entrant in variants:
            if entrant is not best:
                entrant.process.close()
        if best is None:
            return None, answers
        self.processes.append(best.process)
        best.call = self.empty_call(peer, best.setting if precision == "f32" else None)
        try:
            found = self.answers(best.process)
        except Unavailable as error:
            self.note(peer, precision, best.setting, error)
            return None, answers
        self.compare(best, found, self.truth if precision == "f32" or answers is None else answers)
        return best, found if precision == "f32" else answers

    def note(self, peer, precision, label, error):
        self.notes.append(f"{peer.name} {precision}{', ' if label else ''}{label}: not possible: {error}")

    def start(self, peer, precision, variant, model, calibration, test):
        label, form, _ = variant
        given = self.converter.file(form, model, calibration) if form else calibration
        return LineProcess(module("worker", peer.package, precision, label, model, given, test), QUIET)

    def empty_call(self, peer, setting):
        """Microseconds of a call with an empty network, in this variant of f32 or in the fastest."""
        file = self.converter.folder / "empty.npy"
        np.save(file, np.ones((1, 1, 1), np.float32))
        medians = []
        for variant in peer.variants["f32"]:
            if setting not in (None, variant[0]):
                continue
            try:
                process = self.start(peer, "f32", variant, "empty", file, file)
                medians.append(np.median(process.ask("time 2000")[200:]))
                process.close()
            except Unavailable as error:
                self.note(peer, "empty call", variant[0], error)
        return min(medians, default=0) / 1000

    def answers(self, process):
        """For each window the logits, and the newest hop's activity logits."""
        every = process.ask("answers").reshape(len(self.truth), -1)
        count = self.network.logits
        newest = self.truth.shape[1] - count
        return np.hstack([every[:, :count], every[:, every.shape[1] - newest :]])

    def compare(self, entrant, answers, truth):
        entrant.difference = np.abs(answers - truth).max()
        count = self.network.logits
        same = answers[:, :count].argmax(axis=1) == truth[:, :count].argmax(axis=1)
        entrant.agreement = 100 * same.mean()

    def wrong(self):
        return [e for e in self.entrants if e.precision == "f32" and not e.difference <= TOLERANCE]

    def report(self):
        for precision in ("f32", "int8"):
            print(f"\n### {self.network.description['name']}, {precision}\n")
            print(table.markdown(table.rows(self.entrants, precision)))
        print(f"\nint8: {self.source}.")
        for note in self.notes:
            print(f"* {note}")


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("models", nargs="+", type=Path, metavar="MODEL", help="model folders")
    parser.add_argument("--time-network", default=ROOT / ".build/release/time-network", type=Path, help="the built program")
    parser.add_argument(
        "--data",
        type=Path,
        help="recordings (see Training/README.md) for int8 calibration; default: the model's reference inputs",
    )
    parser.add_argument("--rounds", type=int, default=200)
    parser.add_argument("--core", type=int, default=max(os.sched_getaffinity(0)), help="the processor core to stay on")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the figures of every round as well")
    options = parser.parse_args()
    if options.rounds < 1:
        parser.error("--rounds: at least one")
    if options.core not in os.sched_getaffinity(0):
        parser.error(f"--core: not one of {sorted(os.sched_getaffinity(0))}")
    if options.data and not options.data.is_dir():
        parser.error(f"--data: {options.data}: no such folder")
    return options


def main():
    options = arguments()
    os.sched_setaffinity(0, {options.core})
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as folder:
        converter = Converter(Path(folder))
        try:
            comparisons = [Comparison(model, options, converter) for model in options.models]
        except OSError as error:
            sys.exit(f"{error.filename}: {error.strerror}")
    versions = ", ".join(f"{peer.name} {peer.version()}" for peer in runtimes.RUNTIMES.values())
    conditions = f"one thread on core {options.core}, {options.rounds} rounds, load {load:.1f} at the start"
    print(f"{table.machine()}; {conditions}. {versions}.")
    for comparison in comparisons:
        comparison.report()
    if options.json:
        results = {c.model.name: [table.record(e) for e in c.entrants] for c in comparisons}
        found = {"machine": table.machine(), "load": load, "rounds": options.rounds, "versions": versions, "networks": results}
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    wrong = [f"{c.model}: {e.name}: {e.difference:.1e}" for c in comparisons for e in c.wrong()]
    if wrong:
        sys.exit(f"answers further than {TOLERANCE:.0e} from Beckon's: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
