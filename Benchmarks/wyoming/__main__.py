"""Compares wake-word servers under many connections, with the same audio and the same clients: make peer-servers

    python -m Benchmarks.wyoming

Each server runs as a process of its own; `beckon bench --wyoming N --connect ADDRESS` plays a recording over N connections in real
time, and measures the time from a chunk to its detection. The recording holds a word of each server. The processor time is that of the
server's process. Connections are multiplied until the server uses more than it has, or 95 % of its detections come later than 50 ms.
"""

import argparse
import array
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import wave
from importlib.metadata import version
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
VOICE = "/usr/share/sounds/alsa/Front_Left.wav"
LATEST = 50


def read(path):
    with wave.open(path) as file:
        return file.getframerate(), array.array("h", file.readframes(file.getnframes()))


def recording(folder):
    """A file with the wake word of each server: "left" by alsa-utils, "OK Nabu" by espeak-ng; 16 kHz."""
    rate, left = read(VOICE)
    samples = array.array("h", [sum(left[i : i + 3]) // 3 for i in range(0, len(left) - 2, 3)])
    spoken = f"{folder}/nabu.wav"
    subprocess.run(["espeak-ng", "-v", "en-us", "-s", "150", "-w", spoken, "okay nabu"], check=True)
    rate, nabu = read(spoken)
    samples += array.array("h", [0] * 16000)
    samples += array.array("h", [nabu[int(i * rate / 16000)] for i in range(int(len(nabu) * 16000 / rate))])
    path = f"{folder}/words.wav"
    with wave.open(path, "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", ""))
        file.writeframes(samples.tobytes())
    return path


def processor_seconds(process):
    fields = Path(f"/proc/{process.pid}/stat").read_text().rsplit(") ", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident(process):
    pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGESIZE") / 1e6


def wait_for(port, process):
    for _ in range(300):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            if process.poll() is not None:
                sys.exit("a server ended at once")
            time.sleep(0.1)
    sys.exit("a server does not listen")


def measure(beckon, name, command, port, audio, seconds, most):
    """Rows of one server: connections, share of a core, detections, latencies."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        wait_for(port, process)
        count = 1
        while count <= most:
            before, begin = processor_seconds(process), time.monotonic()
            done = subprocess.run(
                [beckon, "bench", "--wyoming", str(count), "--connect", f"tcp://127.0.0.1:{port}", "--file", audio,
                 "--seconds", str(seconds), "--json"],
                capture_output=True, text=True,
            )  # fmt: skip
            wall = time.monotonic() - begin
            share = (processor_seconds(process) - before) / wall
            if not done.stdout:
                print(f"| {name} | {count} | {done.stderr.strip()} |||||", flush=True)
                return
            row = json.loads(done.stdout)["rows"][0]
            times = row["milliseconds"]
            shown = [f"{times[key]:.0f}" if times[key] is not None else "–" for key in ("p50", "p95")]
            print(
                f"| {name} | {count} | {share * 100:.1f} % | {row['detections']} | {shown[0]} | {shown[1]} | "
                f"{resident(process):.0f} |",
                flush=True,
            )
            if times["p95"] is not None and times["p95"] > LATEST or row["lost"] or row["detections"] == 0 and count > 8:
                return
            count *= 4 if count < 16 else 2
    finally:
        process.kill()
        process.wait()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--beckon", default=str(ROOT / ".build/release/beckon"))
    parser.add_argument("--seconds", type=int, default=10)
    parser.add_argument("--most", type=int, default=2048, help="connections")
    options = parser.parse_args()
    if not shutil.which("espeak-ng"):
        sys.exit("espeak-ng is missing; apt install espeak-ng")
    peer = f"wyoming-openwakeword {version('wyoming-openwakeword')}"
    print("| server | connections | of a core | detections | p50 ms | p95 ms | MB |\n|---|---|---|---|---|---|---|", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        audio = recording(folder)
        # One thread each for clients: the peer is one Python process with several threads, of which one runs at a time.
        beckon = [options.beckon, "serve", "--threads", "1", "--words", "none", "--listen", "tcp://127.0.0.1:10480"]
        beckon += ["--connections", "4096", "--model", str(ROOT / "Models/commands")]
        measure(options.beckon, "Beckon, ten words", beckon, 10480, audio, options.seconds, options.most)
        other = [sys.executable, "-m", "wyoming_openwakeword", "--uri", "tcp://127.0.0.1:10481", "--preload-model", "ok_nabu"]
        measure(options.beckon, f"{peer}, one phrase", other, 10481, audio, options.seconds, options.most)


if __name__ == "__main__":
    main()
