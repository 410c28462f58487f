"""The reference client of the protocol against `beckon serve`."""

import asyncio

from peer import Checks, Server, free_port, voice, within
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncClient
from wyoming.error import Error
from wyoming.event import Event
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.wake import Detect, Detection, NotDetected

check = Checks()


async def next_event(client, seconds=10):
    return await asyncio.wait_for(client.read_event(), seconds)


async def describe(client):
    await client.write_event(Describe().event())
    return Info.from_event(await next_event(client))


async def run(client, pcm, rate=16000, width=2, channels=1, chunk=1024, names=None, stop=True):
    """Plays audio; returns the events until the first detection, or the end."""
    if names is not None:
        await client.write_event(Detect(names=names).event())
    await client.write_event(AudioStart(rate=rate, width=width, channels=channels, timestamp=0).event())
    step = chunk * width * channels
    for place in range(0, len(pcm), step):
        time = place // (width * channels) * 1000 // rate
        await client.write_event(AudioChunk(rate, width, channels, pcm[place : place + step], timestamp=time).event())
    if stop:
        await client.write_event(AudioStop().event())
    return await next_event(client)


async def main():
    port = free_port()
    tcp = f"tcp://127.0.0.1:{port}"
    server = Server(tcp, options=["--phrase", "go left"])
    unix = f"unix://{server.folder}/wyoming.socket"
    async with AsyncClient.from_uri(tcp) as client:
        info = await describe(client)
        program = info.wake[0]
        names = [model.name for model in program.models]
        check(len(info.wake) == 1 and program.installed and not info.asr, "info: one wake program, installed")
        ten = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go"]
        check(set(ten) | {"go left"} <= set(names), f"its words: {', '.join(names)}")
        check(all(m.installed and m.version and m.phrase == m.name for m in program.models), "each with version and phrase")
        await client.write_event(Ping(text="grüß Gott").event())
        check(Pong.from_event(await next_event(client)).text == "grüß Gott", "ping is echoed")
        event = await run(client, voice("Front_Left"), stop=False)
        detection = Detection.from_event(event)
        check(Detection.is_type(event.type) and detection.name == "left", "“left” is detected in 16 kHz")
        check(1000 <= detection.timestamp <= 2800, f"at {detection.timestamp} ms of the client's time")
        event = await run(client, voice("Front_Right", 48000, 2), rate=48000, channels=2, stop=False)
        check(Detection.from_event(event).name == "right", "“right” is detected in 48 kHz stereo, on the same connection")
        event = await run(client, voice("Front_Left"), names=["right"])
        check(NotDetected.is_type(event.type), "“left” is not reported to a client that asked for “right”")
        event = await run(client, bytes(32000), names=[])
        check(NotDetected.is_type(event.type), "silence is not-detected")
        await client.write_event(Event("transcribe", {"language": "en"}, b"abc"))
        await client.write_event(Ping(text="after").event())
        check(Pong.from_event(await next_event(client)).text == "after", "an unknown event is dropped with its payload")
        event = await run(client, bytes(1000), rate=1000)
        check(Error.is_type(event.type), f"a rate of 1 kHz: error, {Error.from_event(event).text[:60]}")

        server.teach("rear center", "Rear_Center", "Rear_Center", "Rear_Center")

        async def is_announced():
            return "rear center" in [model.name for model in (await describe(client)).wake[0].models]

        check(await within(5, is_announced), "a taught word is announced without a restart")
        event = await run(client, voice("Rear_Center"), names=["rear center"])
        check(Detection.is_type(event.type), "and detected on the connection that was there before")
    clients = [AsyncClient.from_uri(tcp) for _ in range(50)]
    for client in clients:
        await client.connect()
    events = await asyncio.gather(*(run(client, voice("Side_Left" if i % 2 else "Side_Right")) for i, client in enumerate(clients)))
    words = [Detection.from_event(event).name for event in events]
    check(words == ["right", "left"] * 25, "50 clients at once, each with its own word")
    for client in clients:
        await client.disconnect()
    status, seconds = server.stop()
    check(status == 0 and seconds < 2, "SIGTERM ends it within two seconds")

    server = Server(unix)
    async with AsyncClient.from_uri(unix) as client:
        event = await run(client, voice("Front_Left"))
        check(Detection.from_event(event).name == "left", "“left” over a unix socket")
    server.stop()


if __name__ == "__main__":
    asyncio.run(main())
