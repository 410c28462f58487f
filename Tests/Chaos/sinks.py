"""What the service hands its events to, besides its standard output: a program, a web server, subscribers, clips."""

import http.server
import json
import os
import socket
import threading
from pathlib import Path

from .outputs import Events

# Writes the event as its last act: what is killed or hangs before has written nothing.
PROGRAM = """#!/bin/sh
read -r mode < "{mode}"
case $mode in
kill) kill -9 $$ ;;
fail) exit 3 ;;
hang) echo >> "{hung}"; read -r never < "{never}" ;;
stubborn) trap '' TERM; echo >> "{hung}"; read -r never < "{never}" ;;
leave) sleep 1000 & ;;
esac
read -r event
echo "$event" >> "{heard}"
"""


class Program:
    """The program of a `run` action. Its `mode` says how it fails."""

    def __init__(self, folder):
        self.path = folder / "action"
        self.mode_file = folder / "action.mode"
        self.heard = folder / "action.heard"
        self.hung_file = folder / "action.hung"
        self.heard.touch()
        self.hung_file.touch()
        # Nobody writes to it, so that whoever reads it waits, without a process of its own.
        self.never = folder / "action.never"
        os.mkfifo(self.never)
        self.never.chmod(0o666)
        self.mode("work")
        self.path.write_text(PROGRAM.format(mode=self.mode_file, heard=self.heard, hung=self.hung_file, never=self.never))
        self.path.chmod(0o755)

    def mode(self, text):
        temporary = self.mode_file.with_suffix(".new")
        temporary.write_text(text + "\n")
        temporary.chmod(0o644)
        os.replace(temporary, self.mode_file)

    @property
    def hung(self):
        """How often it did not end by itself."""
        return self.hung_file.stat().st_size

    @property
    def events(self):
        events = Events()
        for line in self.heard.read_text().splitlines():
            event = json.loads(line)
            events.add(event["sequence"], event)
        return events


class Hook:
    """A web server for `webhook` actions. Its `mode` says how it fails; an event counts when it is answered with success.

    On a machine that is too busy a client may have given up before that; what it does not wait for does not count.
    """

    def __init__(self):
        self.events = Events()
        self.mode = "work"
        # Clients that gave up while it hung.
        self.hung = 0
        self.lock = threading.Lock()
        self.released = threading.Event()
        hook = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                mode = hook.mode
                if mode == "hang":
                    while not self.is_left() and not hook.released.wait(0.02):
                        pass
                    with hook.lock:
                        hook.hung += self.is_left()
                elif mode == "refuse":
                    self.send_response(503)
                    self.end_headers()
                elif mode == "garbage":
                    self.wfile.write(b"\x00\xff" * 4000)
                elif mode == "work" and not self.is_left():
                    event = json.loads(body)
                    hook.events.add(event["sequence"], event)
                    self.send_response(204)
                    self.end_headers()
                self.close_connection = True

            def is_left(self):
                """Whether the client has closed the connection; it sends nothing after its request."""
                try:
                    return not self.connection.recv(1, socket.MSG_PEEK | socket.MSG_DONTWAIT)
                except BlockingIOError:
                    return False
                except OSError:
                    return True

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            # A client that has given up is not an error of this server.
            handle_error = lambda *_: None

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.released.set()
        self.server.shutdown()


class Subscriber:
    """A client of the control socket that gets every event. It may stall; if it is closed, it connects again."""

    def __init__(self, control):
        self.control = control
        self.events = Events()
        self.flowing = threading.Event()
        self.flowing.set()
        self.is_over = threading.Event()
        # Whether the service has answered.
        self.is_subscribed = False
        # Events between the newest one of a connection and the oldest of the next one went to nobody.
        self.connections = 0
        # Numbers that a connection skipped, although it was open all the time.
        self.first = {}
        self.thread = threading.Thread(target=self.run, daemon=True)
        self.thread.start()

    def run(self):
        while not self.is_over.is_set():
            try:
                with socket.socket(socket.AF_UNIX) as client:
                    client.settimeout(1)
                    client.connect(str(self.control))
                    client.sendall(b"events\n")
                    self.read(client)
            except OSError:
                pass
            self.is_over.wait(0.05)

    def read(self, client):
        self.connections += 1
        rest = b""
        while not self.is_over.is_set():
            self.flowing.wait()
            try:
                piece = client.recv(65536)
            except TimeoutError:
                continue
            if not piece:
                return
            *lines, rest = (rest + piece).split(b"\n")
            for line in lines:
                event = json.loads(line)
                self.is_subscribed = self.is_subscribed or event.get("ok") is True
                if "sequence" in event:
                    self.events.add(event["sequence"], event)
                    self.first.setdefault(self.connections, []).append(event["sequence"])

    def skipped(self, all_events):
        """Events that an open connection did not get."""
        lost = []
        for numbers in self.first.values():
            inside = {number for number in all_events if numbers[0] <= number <= numbers[-1]}
            lost += sorted(inside - set(numbers))
        return lost

    def close(self):
        self.is_over.set()
        self.flowing.set()
        self.thread.join(5)


class Clips:
    """The folder of clips. They are counted and taken away, so that the disk does not fill by itself."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.count = 0
        self.broken = []
        self.lock = threading.Lock()

    def collect(self):
        with self.lock:
            for path in self.folder.glob("beckon-*.wav"):
                try:
                    data = path.read_bytes()
                    path.unlink()
                except FileNotFoundError:
                    # A fault has just taken the folder away; the clip comes back with it.
                    continue
                size = int.from_bytes(data[40:44], "little") if len(data) >= 44 else -1
                if data[:4] != b"RIFF" or size != len(data) - 44 or size < 16_000:
                    self.broken.append(path.name)
                self.count += 1
