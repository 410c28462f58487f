"""What the judges share: the server as a process, voices as audio, and checks with their time."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import tempfile
import time
import wave
from pathlib import Path

BECKON = os.environ["BECKON"]
VOICES = Path(os.environ["VOICES"])


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """`beckon serve`, with a file of taught words of its own."""

    def __init__(self, *addresses, options=(), words=None):
        self.folder = tempfile.mkdtemp()
        self.words = words or f"{self.folder}/words"
        command = [BECKON, "serve", "--config", self.configuration("{}"), *options]
        for address in addresses:
            command += ["--listen", address]
        environment = {**os.environ, "BECKON_WORDS": self.words}
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment)
        self.lines = []
        while True:
            line = self.process.stderr.readline()
            self.lines.append(line)
            if "clients can connect" in line:
                break
            if not line:
                raise SystemExit("beckon serve did not start: " + "".join(self.lines))

    def configuration(self, text):
        path = Path(self.folder) / "config.json5"
        path.write_text(text)
        return str(path)

    def takes(self, *names):
        return [str(VOICES / f"{name}.wav") for name in names]

    def teach(self, word, *names):
        """Teaches a word from voices."""
        done = subprocess.run(
            [BECKON, "enroll", word, "--force", "--words", self.words, "--from", *self.takes(*names)],
            capture_output=True, text=True,
        )  # fmt: skip
        if done.returncode:
            raise RuntimeError(done.stderr)

    def stop(self):
        """Ends it as systemd would. Returns exit status and seconds."""
        begin = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        status = self.process.wait(10)
        return status, time.monotonic() - begin


def voice(name, rate=16000, channels=1, before=1.0, after=1.0):
    """A voice of alsa-utils (48 kHz) with silence around it, as 16-bit samples; to 16 kHz by the mean of three."""
    with wave.open(str(VOICES / f"{name}.wav")) as file:
        data = file.readframes(file.getnframes())
    samples = memoryview(data).cast("h")
    if rate == 16000:
        samples = [sum(samples[i : i + 3]) // 3 for i in range(0, len(samples) - 2, 3)]
    samples = [0] * int(before * rate) + list(samples) + [0] * int(after * rate)
    return b"".join(sample.to_bytes(2, "little", signed=True) * channels for sample in samples)


class Checks:
    def __init__(self):
        self.begin = time.monotonic()

    def __call__(self, passed, text):
        now = time.monotonic()
        print(json.dumps([bool(passed), text, now - self.begin]), flush=True)
        self.begin = now

    def skip(self, text):
        print(json.dumps([None, text, 0]), flush=True)


async def within(seconds, condition):
    """Tries until the condition holds, or the seconds are over."""
    end = time.monotonic() + seconds
    while True:
        if await condition():
            return True
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.1)
