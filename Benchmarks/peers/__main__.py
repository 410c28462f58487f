"""Times a model's network in Beckon and in ONNX Runtime, LiteRT, OpenVINO and PyTorch, and prints a table.

    python -m Benchmarks.peers MODEL…

Timed is the network alone, from the front end's columns of one window to its logits (and those of its activity layer), on one
thread of one core, with inputs and outputs bound beforehand. All take turns in one run. Each peer runs in several variants
(layouts, kinds of call, compilers); the fastest is shown. The "empty call" is the peer's time for a network of one
multiplication, the overhead of Python and the runtime; ratios in brackets are without it. A ratio above 1 means that Beckon is
faster. In f32 all answers must be within 1e-4 of Beckon's, or the exit status is 1. ONEDNN_MAX_CPU_ISA=AVX2 in the environment
limits OpenVINO and PyTorch to AVX2.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from Benchmarks.peers import beckon, runtimes, table, timing, windows
from Benchmarks.peers.network import Network

TOLERANCE = 1e-4
ROOT = Path(__file__).resolve().parents[2]


class Converter:
    """Converted networks in a folder, each made at its first use."""

    def __init__(self, folder):
        self.folder = folder

    def file(self, form, model, calibration):
        """The file of a network in this form; raises a RuntimeError with the converter's reason."""
        ending = next(
            e for key, e in (("onnx", "onnx"), ("litert", "tflite"), ("openvino", "xml")) if form.startswith(key)
        )
        out = self.folder / f"{Path(model).name}.{form}.{ending}"
        if not out.exists():
            command = [sys.executable, "-m", "Benchmarks.peers.convert", form, model, calibration, out]
            ended = subprocess.run(
                command, capture_output=True, text=True, env={**os.environ, "TF_CPP_MIN_LOG_LEVEL": "3"}
            )
            if ended.returncode:
                raise RuntimeError((ended.stderr.strip().splitlines() or ["no reason given"])[-1])
        return out


class Comparison:
    """One model's network in all runtimes."""

    def __init__(self, model, options, converter, peers):
        self.model, self.converter, self.peers, self.notes = model, converter, peers, []
        self.network = Network.load(model)
        self.calibration, self.test, self.source = windows.load(model, options.data)
        self.calibration_file = converter.folder / f"{model.name}.npy"
        np.save(self.calibration_file, self.calibration)
        self.entrants = self.beckon(options.pace)
        for peer in peers:
            answers = None
            for precision in ("f32", "int8"):
                entrant, answers = self.peer(peer, precision, answers)
                self.entrants += [entrant] if entrant else []
        timing.interleave(self.entrants, options.rounds)
        for process in self.processes:
            process.close()

    def beckon(self, program):
        inputs = self.converter.folder / f"{self.model.name}.f32"
        self.test.astype("<f4").tofile(inputs)
        found, missing = beckon.open_all(program, self.model, inputs)
        self.notes += missing
        if not found:
            sys.exit("\n".join(missing))
        self.processes = list(found.values())
        entrants, self.truth = [], None
        for (kernels, precision), process in found.items():
            answers = process.ask("windows").reshape(len(self.test), -1)
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
        for label, form, load in peer.variants(precision):
            try:
                runner = self.load(form, load, self.network, self.model, self.calibration_file, self.calibration)
                entrant = timing.Entrant(peer.name, precision, timing.repeated(runner.call), label)
                entrant.runner = runner
                variants.append(entrant)
            except Exception as error:  # converters and loaders raise many types
                reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
                self.notes.append(f"{peer.name} {precision}, {label}: not possible: {reason}")
        if not variants:
            return None, answers
        best = timing.fastest(variants)
        best.call = self.empty_call(peer, best.setting if precision == "f32" else None)
        found = np.array([self.answer(best.runner, window) for window in self.test])
        self.compare(best, found, self.truth if precision == "f32" or answers is None else answers)
        return best, found if precision == "f32" else answers

    def load(self, form, load, network, model, calibration_file, calibration):
        with runtimes.quiet():
            given = self.converter.file(form, model, calibration_file) if form else calibration
            runner = load(network, given)
            runner.answer(calibration[0])
        return runner

    def empty_call(self, peer, setting):
        """Microseconds of a call with an empty network, in this variant of f32 or in the fastest."""
        variants = [variant for variant in peer.variants("f32") if setting in (None, variant[0])]
        zeros = np.ones((1, 1, 1), np.float32)
        file = self.converter.folder / "empty.npy"
        np.save(file, zeros)
        network = Network.empty()
        runners = [self.load(form, load, network, "empty", file, zeros) for _, form, load in variants]
        return min(np.median(timing.repeated(runner.call)(2000)[200:]) for runner in runners) / 1000

    def answer(self, runner, window):
        """The logits, and the newest hop's activity logits."""
        logits, *activity = runner.answer(window)
        newest = self.truth.shape[1] - self.network.logits
        return np.concatenate([logits] + [part[-newest:] for part in activity])

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
    parser.add_argument("--pace", default=ROOT / ".build/release/pace", type=Path, help="the built program")
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
    with runtimes.quiet():
        peers = [runtime() for runtime in runtimes.RUNTIMES]
    with tempfile.TemporaryDirectory() as folder:
        converter = Converter(Path(folder))
        try:
            comparisons = [Comparison(model, options, converter, peers) for model in options.models]
        except OSError as error:
            sys.exit(f"{error.filename}: {error.strerror}")
    versions = ", ".join(f"{peer.name} {peer.version}" for peer in peers)
    print(f"{table.machine()}; one thread on core {options.core}, {options.rounds} rounds. {versions}.")
    for comparison in comparisons:
        comparison.report()
    if options.json:
        results = {c.model.name: [table.record(e) for e in c.entrants] for c in comparisons}
        found = {"machine": table.machine(), "rounds": options.rounds, "versions": versions, "networks": results}
        options.json.write_text(json.dumps(found, indent=1) + "\n")
    wrong = [f"{c.model}: {e.name}: {e.difference:.1e}" for c in comparisons for e in c.wrong()]
    if wrong:
        sys.exit(f"answers further than {TOLERANCE:.0e} from Beckon's: {'; '.join(wrong)}")


if __name__ == "__main__":
    main()
