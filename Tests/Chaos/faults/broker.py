"""What an MQTT broker, and whoever may publish there, does to the service."""

from ..broker import message
from ..schedule import fault


@fault("broker", 5, 20)
def large_messages(chaos, seconds, choice):
    """Messages of 255 MiB on a topic of commands, one after the other."""
    broker = chaos.broker
    for _ in range(3):
        part = choice.randbytes(1 << 20)
        if broker.send(message(broker.mute, 255 << 20, broker.version), *[part] * 255):
            broker.hostile += 1
        broker.unmute()
        chaos.wait(seconds / 3)


@fault("broker", 5, 20)
def unreleased_messages(chaos, seconds, choice):
    """Thousands of messages of QoS 2 that are never released."""
    broker = chaos.broker
    one = message(broker.mute, 16_000, broker.version, quality=2) + bytes(16_000)
    for _ in range(50):
        if broker.send(*[one] * 100):
            broker.hostile += 100
        chaos.wait(seconds / 50)
    broker.unmute()


@fault("broker", 5, 20)
def burst_of_commands(chaos, seconds, choice):
    """Thousands of commands at once, and strange ones among them."""
    broker = chaos.broker
    for _ in range(300):
        broker.unmute()
        payload = choice.randbytes(choice.randint(0, 80))
        broker.send(message(broker.mute, len(payload), broker.version) + payload)
    chaos.wait(seconds)


@fault("broker", 10, 40)
def broken_connection(chaos, seconds, choice):
    """Half a packet, no MQTT, an older MQTT, silence, closed connections."""
    broker = chaos.broker
    try:
        for _ in range(4):
            kind = choice.randrange(5)
            if kind == 0:
                broker.send(message(broker.mute, 3, broker.version) + b"O")
            elif kind == 1:
                broker.send(choice.choice([b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\x15\3\3\0\2\2\x16", choice.randbytes(99)]))
            elif kind == 2:
                broker.versions = (4,)
                broker.drop()
            elif kind == 3:
                broker.is_silent = True
            else:
                broker.drop()
            chaos.wait(seconds / 4)
            broker.is_silent, broker.versions = False, (4, 5)
    finally:
        broker.drop()
