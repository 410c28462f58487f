"""Throughput of `beckon classify` against length, codec and number of files, and what limits it.

Each row is a set of files of about the same length of audio. Times are processor time (user and system), so they hold on a busy
machine; `× real time` is audio over processor time, that is, for one core. `decode` is what sox and ffmpeg take to decode the same
files and do nothing with them: no classifier can be faster than that on the same decoder."""

import argparse
import array
import json
import multiprocessing
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
import time
import wave
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BECKON = Path(os.environ.get("BECKON", ROOT / ".build/release/beckon"))
VOICES = Path("/usr/share/sounds/alsa")

CODECS = [
    # name, ending, rate, channels, ffmpeg's options
    ("WAV 16 kHz", "wav", 16000, 1, ["-c:a", "pcm_s16le"]),
    ("WAV 48 kHz, 2 ch.", "wav", 48000, 2, ["-c:a", "pcm_s16le"]),
    ("FLAC 16 kHz", "flac", 16000, 1, ["-c:a", "flac"]),
    ("FLAC 44.1 kHz, 2 ch.", "flac", 44100, 2, ["-c:a", "flac"]),
    ("Opus 24 kbit/s", "opus", 48000, 1, ["-c:a", "libopus", "-b:a", "24k"]),
    ("MP3 44.1 kHz, 2 ch.", "mp3", 44100, 2, ["-c:a", "libmp3lame", "-b:a", "128k"]),
]


def base(data, seconds, path):
    """Words with pauses between them, 16 kHz: clips of DATA, else Debian's voices."""
    clips = []
    if data:
        names = sorted(path for ending in ("wav", "opus", "flac") for path in Path(data).rglob(f"*.{ending}"))
        random.seed(1)
        for name in random.sample(names, min(400, len(names))):
            decoded = subprocess.run(["ffmpeg", "-v", "error", "-i", name, "-f", "s16le", "-ar", "16000", "-ac", "1", "-"], capture_output=True)
            clips.append(array.array("h", decoded.stdout))
    else:
        for name in sorted(VOICES.glob("*_*.wav")):
            with wave.open(str(name)) as voice:
                clips.append(array.array("h", voice.readframes(voice.getnframes()))[::3])
    random.seed(2)
    samples = array.array("h")
    while len(samples) < seconds * 16000:
        samples += random.choice(clips)
        samples += array.array("h", [random.randint(-9, 9) for _ in range(random.randint(1600, 16000))])
    with wave.open(str(path), "wb") as file:
        file.setparams((1, 2, 16000, 0, "NONE", ""))
        file.writeframes(samples[: seconds * 16000].tobytes())


def cuts(work, length, total):
    """The base in files of the same length."""
    folder = work / f"cuts-{length}"
    if not folder.exists():
        folder.mkdir()
        with wave.open(str(work / "base.wav")) as whole:
            for number in range(total // length):
                with wave.open(str(folder / f"{number:05d}.wav"), "wb") as file:
                    file.setparams(whole.getparams())
                    file.writeframes(whole.readframes(length * 16000))
    return sorted(folder.iterdir())


def encode(sources, folder, ending, options):
    """Many files by each process; ffmpeg's own segments have no right ends."""
    for start in range(0, len(sources), 100):
        some = sources[start : start + 100]
        command = ["ffmpeg", "-v", "error"]
        for source in some:
            command += ["-i", source]
        for number, source in enumerate(some):
            command += ["-map", str(number), *options, folder / f"{source.stem}.{ending}"]
        subprocess.run(list(map(str, command)), check=True)


def cost(command, cwd, count=1):
    """Processor seconds and peak memory in MB of `count` processes at a time."""
    processes = [subprocess.Popen(list(map(str, command(number))), cwd=cwd, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) for number in range(count)]
    seconds, memory = 0.0, 0.0
    running = set(processes)
    while running:
        for process in list(running):
            ended, status, usage = os.wait4(process.pid, os.WNOHANG)
            if not ended:
                # Not ru_maxrss, which counts this process before the program was started in its place.
                found = re.search(r"VmHWM:\s*(\d+)", Path(f"/proc/{process.pid}/status").read_text())
                memory = max(memory, int(found[1]) / 1024 if found else 0)
                continue
            running.remove(process)
            process.returncode = os.waitstatus_to_exitcode(status)
            if process.returncode != 0:
                sys.exit(f"bench-corpus: {process.args[0]} ended with {process.returncode}: {' '.join(process.args[:12])}")
            seconds += usage.ru_utime + usage.ru_stime
        time.sleep(0.01)
    return seconds, memory


def decoding(tool, names, folder):
    """Processor seconds to decode files in few processes, so that their start costs little; nothing if the tool cannot."""
    # Debian's sox has no decoder for Opus.
    if tool == "sox" and names[0].suffix == ".opus":
        return float("inf")
    total = 0.0
    if tool == "ffmpeg":
        listed = folder / "concat.txt"
        listed.write_text("".join(f"file '{name}'\n" for name in names))
        total = cost(lambda _: ["ffmpeg", "-v", "quiet", "-threads", "1", "-f", "concat", "-safe", "0", "-i", listed, "-f", "null", "-"], folder)[0]
    else:
        for start in range(0, len(names), 400):
            total += cost(lambda _: ["sox", *names[start : start + 400], "-n"], folder)[0]
    return total


# Where processor time goes, by library and function.
STAGES = [
    ("decode", re.compile(r"libsndfile|libFLAC|libopus|libogg|libvorbis|libmpg123|libmp3")),
    ("resample", re.compile(r"libsamplerate|olyphase|5Audio9Resampler|filter_\dto")),
    ("network", re.compile(r"Kernels|9Inference|ibm\b|libm\.so")),
    ("system", re.compile(r"\[k\]|\[kernel|kallsyms")),
]


def stages(folder, output):
    """Shares of the stages, as perf samples them; nothing without perf."""
    if not shutil.which("perf"):
        return {}
    data = output / "perf.data"
    record = ["perf", "record", "-q", "-F", "499", "-o", data, BECKON, "classify", "--json", "--jobs", "1", "."]
    if subprocess.run(record, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        return {}
    report = subprocess.run(["perf", "report", "-i", data, "--sort", "dso,symbol", "--stdio", "-q"], capture_output=True, text=True).stdout
    shares = {name: 0.0 for name, _ in STAGES} | {"rest": 0.0}
    for line in report.splitlines():
        match = re.match(r"\s*([\d.]+)%\s+(.*)", line)
        if match:
            name = next((name for name, pattern in STAGES if pattern.search(match[2])), "rest")
            shares[name] += float(match[1])
    return shares


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", help="a folder of clips; else Debian's voices")
    parser.add_argument("--minutes", type=int, default=30, help="audio of each row")
    parser.add_argument("--codecs", default="", help="only these, such as wav-16000,opus-48000")
    parser.add_argument("--json", help="also writes the figures to this file")
    arguments = parser.parse_args()
    missing = [tool for tool in ("sox", "ffmpeg") if not shutil.which(tool)]
    if missing or not BECKON.exists() or not VOICES.exists():
        sys.exit(f"bench-corpus: needs `make build` and the Debian packages alsa-utils, sox, libsox-fmt-all and ffmpeg; missing: {missing}")
    rows = []
    cores = len(os.sched_getaffinity(0))
    total = arguments.minutes * 60
    with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR", "/var/tmp")) as name:
        work = Path(name)
        # In a process of its own: the memory of this one would count for those that it starts.
        maker = multiprocessing.get_context("fork").Process(target=base, args=(arguments.data, total, work / "base.wav"))
        maker.start()
        maker.join()
        print(f"{'FILES':>6} {'OF':>7}  {'CODEC':<21} {'×REAL TIME':>10} {'1 PROCESS':>9} {'MB':>4} {'SOX':>7} {'FFMPEG':>7} {'MB/s':>6}  STAGES, %", flush=True)
        for codec, ending, rate, channels, options in CODECS:
            if arguments.codecs and f"{ending}-{rate}" not in arguments.codecs.split(","):
                continue
            for length in (1, 60, total):
                folder = work / f"{ending}-{rate}-{length}"
                folder.mkdir()
                encode(cuts(work, length, total), folder, ending, ["-ar", str(rate), "-ac", str(channels), *options])
                files = sorted(folder.iterdir())
                size = sum(file.stat().st_size for file in files)
                # In turns, so that a busy machine slows all of them alike.
                one, all_cores, each = [], [], []
                for _ in range(3):
                    one.append(cost(lambda _: [BECKON, "classify", "--json", "--jobs", "1", "."], folder))
                    all_cores.append(cost(lambda _: [BECKON, "classify", "--json", "--jobs", cores, "."], folder))
                    if length == 1:
                        each.append(cost(lambda number: [BECKON, "classify", "--json", "--jobs", "1", "--shard", f"{number + 1}/{cores}", "."], folder, cores))
                best = min(seconds for seconds, _ in all_cores)
                # One process per core, where there are files for all of them; else one process on one core.
                per_core = min(seconds for seconds, _ in each or one)
                row = {
                    "files": len(files), "seconds": length, "codec": codec, "speed": total / best, "ratio": per_core / best,
                    "memory": max(memory for _, memory in all_cores), "disk": size / 1e6 / best,
                    "sox": total / decoding("sox", files, folder), "ffmpeg": total / decoding("ffmpeg", files, folder),
                    "stages": stages(folder, work),
                }
                rows.append(row)
                shares = " ".join(f"{name} {share:.0f}" for name, share in row["stages"].items())
                print(
                    f"{row['files']:>6} {str(length) + ' s':>7}  {codec:<21} {row['speed']:>10.0f} {100 * row['ratio']:>7.0f} % {row['memory']:>4.0f} "
                    f"{row['sox'] and round(row['sox']) or '–':>7} {row['ffmpeg']:>7.0f} {row['disk']:>6.1f}  {shares}",
                    flush=True,
                )
                shutil.rmtree(folder)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
