"""What good clients of the wake-word server see while a crowd attacks it, and after.

Called by `make bench-crowds`, which builds what it needs. Twelve kinds of hostile clients by turns (or one, by --kind), who connect again at once
when they are closed. Three satellites say a word again and again: one stays connected, one connects for each word, one does so from an
address of its own. Late is against the fastest word before the attack.
"""

import argparse
import json
import multiprocessing
import os
import queue
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request

from Tests.Chaos.neighbours import CHUNK, RATE, audio_format, event, free_port, spoken

from .crowd import Crowd

FORMAT = audio_format(RATE)
NOISE = random.Random(1).randbytes(64_000)
# Seconds of calm before the attack, and for what is seen after it; the longest wait for an answer.
CALM, AFTER, PATIENCE = 8, 12, 10


def other_rates():
    """64 rates, each of which needs a filter of its own."""
    formats = [audio_format(8_001 + 37 * 79 * at % 184_000) for at in range(64)]
    return b"".join(event("audio-start", one) + event("audio-chunk", one, b"\0\0") for one in formats)


def silent_start():
    return event("audio-start", FORMAT) + event("audio-chunk", FORMAT, b"\0\0") + event("audio-stop")


# (name, what it sends, whether again and again, whether it reads)
KINDS = [
    ("rates", other_rates(), True, True),
    ("describe", event("describe") * 300, True, True),
    ("names", event("detect", {"names": [f"name {at}" for at in range(1000)]}) * 4, True, True),
    ("context", (event("detect", {"context": {"a": "x" * 4000}}) + event("audio-start", FORMAT) + event("audio-stop")) * 4, True, True),
    ("ping", event("ping", {"text": "x"}) * 300, True, True),
    ("ends", silent_start() * 50, True, True),
    ("flood", event("audio-chunk", FORMAT, NOISE[:10_000]) * 3, True, True),
    ("channels", event("audio-chunk", {"rate": 191_999, "width": 4, "channels": 64}, NOISE), True, True),
    ("starts", event("audio-start", FORMAT) * 300, True, True),
    ("unread", event("describe") * 300, True, False),
    ("half", b'{"type": "des', False, True),
    ("hasty", event("describe"), False, True),
]


def satellite(name, port, own, renews, over, found):
    """Says the word as fast as people speak; (name, when, seconds until the answer or None) for each."""
    # The machine's time is the crowd's and the server's; a satellite is a machine of its own.
    os.nice(-15)
    word, client, answers = spoken(), None, None
    while not over.is_set():
        when = begin = time.monotonic()
        try:
            if renews or client is None:
                if client:
                    client.close()
                client = socket.create_connection(("127.0.0.1", port), PATIENCE, source_address=(own, 0))
                client.sendall(event("detect", {"names": ["left"]}) + event("audio-start", FORMAT))
                answers = client.makefile("rb")
            for at in range(0, len(word), CHUNK):
                client.sendall(event("audio-chunk", FORMAT, word[at : at + CHUNK]))
                time.sleep(max(0, begin + at / 2 / RATE - time.monotonic()))
            head = json.loads(answers.readline() or b'{"type": "closed"}')
            answers.read(head.get("data_length", 0))
            heard = head["type"] == "detection"
        except (OSError, ValueError):
            heard = False
        found.put((name, when, time.monotonic() - begin if heard else None))
        if not heard:
            client = None
            time.sleep(0.3)


def monitor(port, over, found):
    os.nice(-15)
    while not over.wait(0.2):
        when = time.monotonic()
        try:
            status = urllib.request.urlopen(f"http://127.0.0.1:{port}/readyz", timeout=PATIENCE).status
        except urllib.error.HTTPError as error:
            status = error.code
        except OSError:
            status = 0
        found.put(("readyz", when, status))


class Server:
    def __init__(self, beckon, threads):
        self.port, self.web = free_port(), free_port()
        listen = ["--listen", f"tcp://127.0.0.1:{self.port}", "--web", f"tcp://127.0.0.1:{self.web}"]
        self.process = subprocess.Popen(
            [beckon, "serve", *listen, "--words", "none", "--threads", str(threads)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(1.5)

    def memory(self):
        """Resident, in MB."""
        if self.process.poll() is not None:
            sys.exit(f"the server has ended with {self.process.returncode}")
        with open(f"/proc/{self.process.pid}/status") as file:
            return int(next(line for line in file if line.startswith("VmRSS")).split()[1]) / 1024

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return "killed"


def options():
    parser = argparse.ArgumentParser(prog="make bench-crowds", description=__doc__.splitlines()[0])
    parser.add_argument("--beckon", default=".build/release/beckon")
    parser.add_argument("--clients", type=int, nargs="+", default=[450, 1500])
    parser.add_argument("--addresses", type=int, nargs="+", default=[1, 200], help="so many of the hostile clients")
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--threads", type=int, default=1, help="of the server")
    parser.add_argument("--kind", choices=[one[0] for one in KINDS], help="this kind alone")
    return parser.parse_args()


def attack(given, clients, addresses):
    server = Server(given.beckon, given.threads)

    def connect(number):
        client = socket.socket()
        if addresses > 1:
            place = number % addresses
            client.bind((f"127.0.{1 + place // 250}.{2 + place % 250}", 0))
        client.setblocking(False)
        client.connect_ex(("127.0.0.1", server.port))
        return client

    kinds = [one for one in KINDS if given.kind in (None, one[0])]
    crowd = Crowd(connect, kinds, clients)
    over, found = multiprocessing.Event(), multiprocessing.Queue()
    good = [("stays", "127.0.0.1", False), ("connects", "127.0.0.1", True), ("other address", "127.9.9.9", True)]
    watchers = [
        multiprocessing.Process(target=satellite, args=(name, server.port, own, renews, over, found), daemon=True)
        for name, own, renews in good
    ]
    watchers.append(multiprocessing.Process(target=monitor, args=(server.web, over, found), daemon=True))
    for watcher in watchers:
        watcher.start()
    time.sleep(CALM)
    before, begin = server.memory(), time.monotonic()
    crowd.start()
    most = before
    while time.monotonic() < begin + given.seconds:
        time.sleep(0.2)
        most = max(most, server.memory())
    crowd.stop()
    end = time.monotonic()
    time.sleep(AFTER)
    after = server.memory()
    over.set()
    rows = []
    while any(watcher.is_alive() for watcher in watchers) or not found.empty():
        try:
            rows.append(found.get(timeout=0.5))
        except queue.Empty:
            pass
    words = [row for row in rows if row[0] != "readyz"]
    calm = min((took for _, when, took in words if took and when < begin), default=0)
    print(
        f"{clients} clients of {addresses} addresses, {given.seconds:.0f} s: {crowd.ended.value} connections ended; "
        f"memory {before:.0f}, at most {most:.0f}, then {after:.0f} MB"
    )
    # A word that ends before the attack is not of it.
    for phase, first, last in (("during", begin - calm + 0.5, end), ("after", end, float("inf"))):
        for name, _, _ in good:
            some = [took for who, when, took in words if who == name and first <= when < last]
            late = [took - calm for took in some if took]
            print(f"  {phase:7}{name:15}{len(late)} of {len(some)} words, at most {max(late, default=0):.1f} s late")
    states = [row[2] for row in rows if row[0] == "readyz"]
    print(f"  /readyz: 200 in {states.count(200)} of {len(states)}", flush=True)
    status = server.stop()
    if status:
        sys.exit(f"the server ended with {status}")


if __name__ == "__main__":
    chosen = options()
    for clients in chosen.clients:
        for addresses in chosen.addresses:
            attack(chosen, clients, addresses)
