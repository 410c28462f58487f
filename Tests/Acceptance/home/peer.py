"""What the judges share: server and service as processes, a card that plays what is said, voices as audio, checks with their time."""

import asyncio
import json
import os
import signal
import socket
import struct
import subprocess
import tempfile
import time
import wave
from dataclasses import dataclass
from pathlib import Path

BECKON = os.environ["BECKON"]
VOICES = Path(os.environ["VOICES"])
CARD = os.environ["FAKE_CARD"]
RATE = 16000


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


@dataclass
class Said:
    """A voice in the audio of a microphone: where its recording begins, and its samples."""

    begin: int
    samples: bytes

    @property
    def end(self):
        """The sample after the last that is as loud as a twentieth of the loudest."""
        samples = [abs(sample) for sample in memoryview(self.samples).cast("h")]
        least = max(samples) / 20
        return self.begin + max(place for place, sample in enumerate(samples) if sample >= least) + 1


class Microphone:
    """A sound card of Tests/FakeCard: silence, and the voices that are said while it runs. Time goes on while it is closed."""

    SECONDS = 3000

    def __init__(self, folder):
        self.audio = Path(folder) / "card.raw"
        with self.audio.open("wb") as file:
            file.truncate(self.SECONDS * RATE * 2)
        self.ledger = Path(folder) / "card.ledger"
        self.ledger.write_bytes(bytes(1 << 20))
        self.configuration = Path(folder) / "asound.conf"
        self.configuration.write_text(
            f'pcm_type.fake {{ lib "{CARD}" }}\n'
            f'pcm.mic {{ type fake file "{self.audio}" rate {RATE} channels 1 format S16_LE ledger "{self.ledger}" live on }}\n'
            # A loudspeaker, which nobody hears.
            f'pcm_type.speaker {{ lib "{CARD}" }}\npcm.out {{ type speaker channels 1 }}\n'
        )

    @property
    def delivered(self):
        """Frames that were read from it."""
        with self.ledger.open("rb") as file:
            return struct.unpack("<dQ", file.read(16))[1]

    def say(self, *names, pause=0.6):
        """Says voices of alsa-utils from now on. Returns what was said and where."""
        voices = [voice(name, before=0, after=0) for name in names]
        with self.ledger.open("rb") as file:
            epoch = struct.unpack("<d", file.read(8))[0]

        def now():
            return int((time.monotonic() - epoch) * RATE)

        place = now() + RATE // 2
        said = []
        with self.audio.open("r+b") as file:
            for samples in voices:
                file.seek(place * 2)
                file.write(samples)
                said.append(Said(place, samples))
                place += len(samples) // 2 + int(pause * RATE)
        if now() < said[0].begin:
            return said
        # The machine was too busy: part of it came too late. A moment of silence, then again.
        time.sleep(3)
        return self.say(*names, pause=pause)

    def hear(self, samples, gain):
        """Gives it these samples, fainter, from a second from now on. Returns that time."""
        with self.ledger.open("rb") as file:
            epoch = struct.unpack("<d", file.read(8))[0]
        fainter = [int(gain * sample).to_bytes(2, "little", signed=True) for sample in memoryview(samples).cast("h")]
        place = int((time.monotonic() + 1 - epoch) * RATE)
        with self.audio.open("r+b") as file:
            file.seek(place * 2)
            file.write(b"".join(fainter))
        return epoch + place / RATE

    def time(self, sample):
        """When a sample is heard, on the clock of time.monotonic."""
        with self.ledger.open("rb") as file:
            return struct.unpack("<d", file.read(8))[0] + sample / RATE

    def heard(self):
        return self.audio.read_bytes()


class Service:
    """`beckon listen` with a microphone of its own, in mode spot. It may be ended by another process than that which started it."""

    def __init__(self, settings):
        self.folder = tempfile.mkdtemp()
        self.microphone = Microphone(self.folder)
        self.words = f"{self.folder}/words"
        self.path = Path(self.folder) / "config.json5"
        self.log = Path(self.folder) / "log"
        self.identifier = Path(self.folder) / "pid"
        self.configure(settings)
        self.environment = {
            **os.environ, "ALSA_CONFIG_PATH": str(self.microphone.configuration), "RUNTIME_DIRECTORY": self.folder,
            "XDG_CONFIG_HOME": self.folder, "BECKON_WORDS": self.words,
        }  # fmt: skip
        self.start()

    def configure(self, settings):
        # The voices reach 0.76 to 0.97, depending on where in a hop they begin.
        words = {word: {"threshold": 0.6} for word in ("left", "right")}
        self.path.write_text(json.dumps({"device": "mic", "mode": "spot", "words": words, **settings}))

    def start(self):
        with self.log.open("a") as log:
            self.process = subprocess.Popen(
                [BECKON, "listen", "--config", self.path], stdout=subprocess.DEVNULL, stderr=log, env=self.environment
            )
        self.identifier.write_text(str(self.process.pid))
        end = time.monotonic() + 30
        while self.microphone.delivered < RATE // 2 or not self.status():
            if self.process.poll() is not None or time.monotonic() > end:
                raise SystemExit("beckon listen did not start: " + self.log.read_text())
            time.sleep(0.1)

    def command(self, *arguments):
        socket_path = f"{self.folder}/control.socket"
        return subprocess.run(
            [BECKON, *arguments, "--socket", socket_path], capture_output=True, text=True, env=self.environment
        )

    def memory(self):
        """Megabytes: resident, and its own, without pages of files, which other programs have in memory too."""
        resident = own = 0
        for line in Path(f"/proc/{int(self.identifier.read_text())}/smaps").read_text().splitlines():
            name, *rest = line.split()
            if "-" in name and not name.endswith(":"):
                # The fake card's audio grows with time.
                is_fake = any(part.startswith(self.folder) for part in rest)
            elif name == "Rss:" and not is_fake:
                resident += int(rest[0])
            elif name == "Anonymous:" and not is_fake:
                own += int(rest[0])
        return resident / 1024, own / 1024

    def status(self):
        """The status, or nothing if the service does not answer."""
        done = self.command("status", "--json")
        return json.loads(done.stdout) if done.returncode == 0 else {}

    def teach(self, word, *names):
        takes = [str(VOICES / f"{name}.wav") for name in names]
        done = subprocess.run(
            [BECKON, "enroll", word, "--force", "--words", self.words, "--from", *takes], capture_output=True, text=True
        )
        if done.returncode:
            raise RuntimeError(done.stderr)

    def end(self, number=signal.SIGTERM):
        """Returns the exit status, if this process started it."""
        pid = int(self.identifier.read_text())
        os.kill(pid, number)
        if pid == self.process.pid:
            return self.process.wait(10)
        end = time.monotonic() + 10
        while time.monotonic() < end and Path(f"/proc/{pid}/exe").exists():
            time.sleep(0.05)
        return None


class Checks:
    def __init__(self):
        self.begin = time.monotonic()

    def __call__(self, passed, text):
        now = time.monotonic()
        print(json.dumps([bool(passed), text, now - self.begin]), flush=True)
        self.begin = now

    def restart(self):
        """Forgets the time so far: that of another process."""
        self.begin = time.monotonic()

    def none(self, failed, text):
        """A row only if it failed."""
        if failed:
            self(False, text)

    def skip(self, text):
        print(json.dumps([None, text, 0]), flush=True)


async def within(seconds, condition):
    """Tries until the condition holds, or the seconds are over; the condition may be a coroutine. Returns what held."""
    end = time.monotonic() + seconds
    while True:
        result = condition()
        if asyncio.iscoroutine(result):
            result = await result
        if result:
            return result
        if time.monotonic() > end:
            return False
        await asyncio.sleep(0.1)
