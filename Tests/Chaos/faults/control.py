"""What clients do to the control socket, and changes to the configuration."""

import os
import socket

from ..schedule import fault

LINES = [b"status\n", b"reload\n", b"events\n", b"mute", b'{"command": "set", "words": {"left": 7}}\n', b"{", b"\n" * 500]


def connect(chaos):
    client = socket.socket(socket.AF_UNIX)
    client.setblocking(False)
    try:
        client.connect(str(chaos.service.control))
    except OSError:
        client.close()
        return None
    return client


def send(client, data):
    try:
        client.send(data)
    except OSError:
        pass


@fault("control", 2, 20)
def flood(chaos, seconds, choice):
    """Clients come and go, send half lines, garbage, long lines and hundreds of commands, and read nothing."""
    clients = []
    try:
        for _ in range(200):
            if client := connect(chaos):
                clients.append(client)
            for client in clients:
                kind = choice.randrange(4)
                if kind == 0:
                    send(client, choice.choice(LINES) * choice.choice([1, 1, 100]))
                elif kind == 1:
                    send(client, choice.randbytes(choice.randint(1, 6000)))
                elif kind == 2:
                    send(client, b"x" * choice.randint(1, 9000))
            while len(clients) > choice.randint(1, 6):
                clients.pop(choice.randrange(len(clients))).close()
            chaos.wait(seconds / 200)
    finally:
        for client in clients:
            client.close()
        # One of the commands may have been `mute`.
        chaos.insist("unmute")


@fault("control", 5, 30)
def silent_clients(chaos, seconds, choice):
    """All places of a user are taken by clients that say nothing."""
    clients = [connect(chaos) for _ in range(20)]
    try:
        chaos.wait(seconds)
    finally:
        for client in filter(None, clients):
            client.close()


@fault("control", 2, 2)
def deleted_socket(chaos, seconds, choice):
    """Somebody deletes the control socket."""
    try:
        os.unlink(chaos.service.control)
    except FileNotFoundError:
        pass
    chaos.wait(seconds)


@fault("configuration", 5, 30)
def reload_storm(chaos, seconds, choice):
    """The configuration changes and is reloaded again and again, by commands and signals; some versions are wrong."""
    try:
        for number in range(60):
            chaos.configure(choice.choice(["plain", "plain", "strict", "other", "wrong"]))
            if choice.random() < 0.5:
                chaos.hang_up()
            else:
                client = connect(chaos)
                if client:
                    send(client, b"reload\n")
                    client.close()
            chaos.wait(seconds / 60)
    finally:
        chaos.configure("plain")
        chaos.insist("reload")


@fault("configuration", 2, 10)
def set_thresholds(chaos, seconds, choice):
    """Thresholds of other words are set again and again."""
    for _ in range(20):
        chaos.service.ask(f"set no={choice.uniform(0.90, 0.95):.3f}")
        chaos.wait(seconds / 20)


@fault("configuration", 1, 6)
def no_configuration(chaos, seconds, choice):
    """The configuration is gone, and the service is told to read it."""
    chaos.configuration.unlink(missing_ok=True)
    try:
        chaos.hang_up()
        chaos.wait(seconds)
    finally:
        chaos.configure("plain")
        chaos.insist("reload")
