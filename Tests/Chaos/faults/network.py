"""What neighbours on the network do to a wake-word server and to a web server."""

import socket

from ..neighbours import audio_format, event
from ..schedule import fault

FORMAT = audio_format(16_000)
# What costs the server more than the client: descriptions, thousands of names, contexts, ends of audio, a flood of it.
COSTLY = [
    event("describe") * 300,
    event("detect", {"names": [f"name {one}" for one in range(4000)]}),
    (event("detect", {"context": {"a": "x" * 4000}}) + event("audio-start", FORMAT) + event("audio-stop")) * 2,
    event("ping", {"text": "x"}) * 300,
    (event("audio-start", FORMAT) + event("audio-chunk", FORMAT, b"\0\0") + event("audio-stop")) * 50,
    event("audio-chunk", FORMAT, b"\1\0" * 5000),
]


def rates(number):
    """Audio of another rate again and again, each time with a sample of it."""
    found = [8000 + (number * 64 + one) * 37 % 184_000 for one in range(64)]
    return b"".join(event("audio-start", audio_format(rate)) + event("audio-chunk", audio_format(rate), b"\0\0") for rate in found)


@fault("network", 15, 40)
def changing_rates(chaos, seconds, choice):
    """Clients begin audio of another rate again and again, each time with a sample of it."""
    chaos.neighbours.attack(chaos, seconds, 150, rates)


@fault("network", 15, 40)
def costly_orders(chaos, seconds, choice):
    """Clients ask for what costs the server more than them: descriptions, thousands of names, contexts, ends of audio."""
    chaos.neighbours.attack(chaos, seconds, 60, lambda number: COSTLY[number % len(COSTLY)])


@fault("network", 20, 40)
def mixed_crowd(chaos, seconds, choice):
    """Hundreds of clients of fifty addresses connect at once and do all of this; each kind in a ninth of them, the rates in a third."""

    def orders(number):
        return COSTLY[number % 9] if number % 9 < len(COSTLY) else rates(number)

    chaos.neighbours.attack(chaos, seconds, 450, orders, addresses=50)


@fault("network", 10, 30)
def idle_crowds(chaos, seconds, choice):
    """More connections than there are places say nothing, or half of something, on both ports."""
    crowd = []
    try:
        for number in range(700):
            port = chaos.neighbours.web if number % 7 == 0 else chaos.neighbours.port
            try:
                client = chaos.neighbours.connect(port)
                crowd.append(client)
                if number % 2:
                    client.send(b'{"type": "des' if port == chaos.neighbours.port else b"GET /readyz HT")
            except OSError:
                pass
        chaos.wait(seconds)
    finally:
        for client in crowd:
            client.close()


@fault("network", 20, 40)
def deaf_pages(chaos, seconds, choice):
    """More live pages than there may be read nothing; monitors are answered all the same."""
    pages = []

    def ask(path, client):
        # The service may be stopped meanwhile.
        client.settimeout(chaos.longest_stop + 10)
        client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        return client.recv(12).split(b" ")[-1]

    try:
        for _ in range(10):
            page = socket.create_connection(("127.0.0.1", chaos.web_port), 5)
            page.sendall(b"GET /live HTTP/1.1\r\nHost: localhost\r\n\r\n")
            pages.append(page)
        for _ in range(4):
            chaos.wait(seconds / 4)
            with socket.create_connection(("127.0.0.1", chaos.web_port), 5) as monitor:
                if (status := ask("/healthz", monitor)) != b"200":
                    chaos.problems.append(f"/healthz beside pages that read nothing: {status}")
    finally:
        for page in pages:
            page.close()
