"""A wake-word server beside the service, its hostile clients, and two that only want their words.

It runs by the machine's clock: what counts is how long the satellite waits.
"""

import array
import json
import os
import signal
import socket
import subprocess
import threading
import time
import urllib.error
import urllib.request
import wave

VOICE = "/usr/share/sounds/alsa/Rear_Left.wav"
# Seconds after which a word counts as not heard, also on a machine that is far too busy.
PATIENCE = 10.0
RATE = 16_000
CHUNK = 2048


def event(kind, data=None, payload=b""):
    """An event of the Wyoming protocol."""
    body = json.dumps(data).encode() if data else b""
    head = {"type": kind}
    if body:
        head["data_length"] = len(body)
    if payload:
        head["payload_length"] = len(payload)
    return json.dumps(head).encode() + b"\n" + body + payload


def audio_format(rate):
    return {"rate": rate, "width": 2, "channels": 1}


def spoken():
    """ "Left" with a second of silence after it, at 16 kHz."""
    with wave.open(VOICE) as file:
        samples = array.array("h", file.readframes(file.getnframes()))
    quiet = array.array("h", [0] * RATE)
    narrow = array.array("h", (sum(samples[at:at + 3]) // 3 for at in range(0, len(samples) - 2, 3)))
    return (quiet[: RATE // 2] + narrow + quiet).tobytes()


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Neighbours:
    def __init__(self, beckon, environment, log):
        self.port, self.web = free_port(), free_port()
        listen = ["--listen", f"tcp://127.0.0.1:{self.port}", "--web", f"tcp://127.0.0.1:{self.web}"]
        self.process = subprocess.Popen(
            [beckon, "serve", *listen, "--words", "none", "--threads", "1"], env=environment,
            stdin=subprocess.DEVNULL, stdout=log, stderr=log,
        )
        self.is_over = threading.Event()
        # Seconds from the first sample of each word to its detection; None for one that was not heard.
        self.delays = []
        # The same of a client that connects again for each word.
        self.visits = []
        self.readiness = []
        self.problems = []
        self.before = 0
        self.threads = [threading.Thread(target=one, daemon=True) for one in (self.satellite, self.visitor, self.monitor)]

    def start(self):
        for _ in range(100):
            if self.ready() == 200:
                break
            time.sleep(0.1)
        self.before = self.memory()
        for thread in self.threads:
            thread.start()

    def memory(self):
        """Anonymous resident memory in KiB; 0 if it has ended."""
        try:
            with open(f"/proc/{self.process.pid}/status") as file:
                return int(next(line for line in file if line.startswith("RssAnon")).split()[1])
        except (OSError, StopIteration):
            return 0

    def connect(self, port=None, own="127.0.0.1"):
        client = socket.create_connection(("127.0.0.1", port or self.port), PATIENCE, source_address=(own, 0))
        client.settimeout(PATIENCE)
        return client

    def ready(self):
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{self.web}/readyz", timeout=PATIENCE).status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError as error:
            return type(error).__name__

    def monitor(self):
        while not self.is_over.wait(0.3):
            self.readiness.append(self.ready())

    def satellite(self):
        """Says a word again and again, as fast as people speak."""
        word = spoken()
        try:
            client = self.connect()
            answers = self.listen(client)
            while not self.is_over.is_set():
                self.delays.append(self.say(word, client, answers, time.monotonic()))
        except OSError as error:
            if not self.is_over.is_set():
                self.problems.append(f"satellite: {error}")

    def visitor(self):
        """Connects for each word, from an address of its own."""
        word = spoken()
        while not self.is_over.is_set():
            begin = time.monotonic()
            try:
                with self.connect(own="127.0.0.2") as client:
                    self.visits.append(self.say(word, client, self.listen(client), begin))
            except OSError:
                if not self.is_over.is_set():
                    self.visits.append(None)

    @staticmethod
    def listen(client):
        client.sendall(event("detect", {"names": ["left"]}) + event("audio-start", audio_format(RATE)))
        return client.makefile("rb")

    def say(self, word, client, answers, begin):
        """Seconds from the begin to the detection."""
        for at in range(0, len(word), CHUNK):
            client.sendall(event("audio-chunk", audio_format(RATE), word[at:at + CHUNK]))
            time.sleep(max(0, begin + at / 2 / RATE - time.monotonic()))
        return self.answer(answers, begin)

    @staticmethod
    def answer(answers, begin):
        try:
            head = json.loads(answers.readline())
        except (OSError, ValueError):
            return None
        answers.read(head.get("data_length", 0))
        return time.monotonic() - begin if head["type"] == "detection" else None

    def attack(self, chaos, seconds, count, orders, addresses=1):
        """So many clients at once, from so many addresses, each of which repeats its orders and reads the answers; `orders(number)` gives
        bytes."""
        end = time.monotonic() + seconds / chaos.pace.speed
        crowd = []
        try:
            for number in range(count):
                try:
                    client = self.connect(own=f"127.0.1.{1 + number % addresses}")
                except OSError:
                    continue
                client.setblocking(False)
                crowd.append((client, orders(number)))
            while time.monotonic() < end and not chaos.is_over.is_set():
                for client, data in crowd:
                    try:
                        client.recv(1 << 16)
                    except OSError:
                        pass
                    try:
                        client.send(data)
                    except OSError:
                        pass
                # A crowd that is busy in this process would delay its satellite.
                time.sleep(0.05)
        finally:
            for client, _ in crowd:
                client.close()

    def finish(self):
        """Ends the satellite and its monitor; the memory that is still in use in KiB, when the crowds have gone."""
        self.is_over.set()
        for thread in self.threads:
            thread.join(2 * PATIENCE)
        for _ in range(50):
            if self.memory() < self.before + 4096:
                break
            time.sleep(0.1)
        return self.memory()

    def stop(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(5)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        return self.process.returncode
