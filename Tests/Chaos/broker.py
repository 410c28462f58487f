"""An MQTT broker that serves one client well, until a fault makes it hostile."""

import socket
import struct
import threading

CONNECT, CONNACK, PUBLISH, PUBACK, SUBSCRIBE, SUBACK, PINGREQ, PINGRESP = 1, 2, 3, 4, 8, 9, 12, 13


def length(number):
    """The remaining length of a packet, as MQTT writes it."""
    out = b""
    while True:
        number, rest = divmod(number, 128)
        out += bytes([rest | (128 if number else 0)])
        if not number:
            return out


def packet(kind, body, flags=0):
    return bytes([kind << 4 | flags]) + length(len(body)) + body


def message(topic, payload_length, version, quality=0):
    """The beginning of a PUBLISH, up to its payload of so many bytes."""
    head = struct.pack(">H", len(topic)) + topic.encode() + (b"\0\1" if quality else b"") + (b"\0" if version == 5 else b"")
    return bytes([PUBLISH << 4 | quality << 1]) + length(len(head) + payload_length) + head


class Broker:
    """Listens on a port of its own. `client` is the socket of the newest client, `version` its version of MQTT."""

    def __init__(self, name):
        self.mute = f"beckon/{name}/mute/set"
        self.is_closed = False
        # Whether it answers, and which versions of MQTT it takes.
        self.is_silent = False
        self.versions = (4, 5)
        self.client, self.version = None, 5
        self.connects = 0
        # Large or strange messages, and commands, that were sent as a whole.
        self.hostile = self.commands = 0
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while not self.is_closed:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            client.settimeout(20)
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        reader = client.makefile("rb")
        version = 5
        try:
            while first := reader.read(1):
                count = shift = 0
                while True:
                    byte = reader.read(1)[0]
                    count |= (byte & 127) << shift
                    shift += 7
                    if byte < 128:
                        break
                kind, body = first[0] >> 4, reader.read(count)
                if self.is_silent:
                    continue
                answer = None
                if kind == CONNECT:
                    version = body[6]
                    if version not in self.versions:
                        client.sendall(packet(CONNACK, b"\0\1"))
                        break
                    answer = packet(CONNACK, b"\0\0" + (b"\0" if version == 5 else b""))
                elif kind == SUBSCRIBE:
                    answer = packet(SUBACK, body[:2] + (b"\0" if version == 5 else b"") + b"\0")
                elif kind == PINGREQ:
                    answer = packet(PINGRESP, b"")
                elif kind == PUBLISH and first[0] & 6:
                    topic = struct.unpack(">H", body[:2])[0]
                    answer = packet(PUBACK, body[2 + topic : 4 + topic])
                if answer:
                    with self.lock:
                        client.sendall(answer)
                if kind == CONNECT:
                    self.client, self.version, self.connects = client, version, self.connects + 1
        except (OSError, IndexError):
            pass
        client.close()

    def send(self, *parts):
        """Sends to the newest client; whether all could be sent."""
        client = self.client
        if client is None:
            return False
        try:
            with self.lock:
                for part in parts:
                    client.sendall(part)
        except OSError:
            return False
        return True

    def unmute(self):
        """A command that has no effect; it counts if it arrives."""
        self.commands += self.send(message(self.mute, 3, self.version) + b"OFF")

    def drop(self):
        client, self.client = self.client, None
        if client:
            try:
                client.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def close(self):
        self.is_closed = True
        self.listener.close()
        self.drop()
