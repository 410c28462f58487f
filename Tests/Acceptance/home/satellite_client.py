"""The reference implementation of the protocol in Home Assistant's place: what the satellite sends after a word."""

import asyncio

from peer import RATE, Checks, Service, free_port, within
from wyoming.asr import Transcript
from wyoming.audio import AudioChunk
from wyoming.client import AsyncClient
from wyoming.error import Error
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.pipeline import PipelineStage, RunPipeline
from wyoming.satellite import PauseSatellite, RunSatellite
from wyoming.wake import Detection

check = Checks()


async def next_event(client, seconds=10):
    return await asyncio.wait_for(client.read_event(), seconds)


async def main():
    uri = f"tcp://127.0.0.1:{free_port()}"
    service = Service({"wyoming": {"satellite": uri}, "phrases": [{"phrase": "go left"}]})
    microphone = service.microphone
    client = AsyncClient.from_uri(uri)
    await client.connect()
    await client.write_event(Describe().event())
    info = Info.from_event(await next_event(client))
    check(info.satellite and info.satellite.installed and not info.satellite.has_vad, f"info: {info.satellite.name}")
    names = [model.name for model in info.wake[0].models]
    check({"left", "stop", "go left"} <= set(names) and info.satellite.active_wake_words == names, "with its words and phrases")
    await client.write_event(RunSatellite().event())
    await client.write_event(Ping(text="1").event())
    check(Pong.from_event(await next_event(client)).text == "1", "ping is echoed")

    word, _ = microphone.say("Front_Left", "Front_Right")
    detection = Detection.from_event(await next_event(client))
    check(detection.name == "left", f"“left” is told at {detection.timestamp} ms")
    run = RunPipeline.from_event(await next_event(client))
    check(run.start_stage == PipelineStage.ASR and run.end_stage == PipelineStage.HANDLE, "with run-pipeline from asr to handle")
    audio = b""
    while len(audio) < 3 * RATE * 2:
        chunk = AudioChunk.from_event(await next_event(client))
        check.none((chunk.rate, chunk.width, chunk.channels) != (RATE, 2, 1), "a chunk in another format")
        audio += chunk.audio
    begin = microphone.heard().find(audio) // 2
    end = word.end
    check(begin > 0, "three seconds follow, sample for sample what the card gave, without “right” as another detection")
    check(abs(begin - end) < RATE // 2, f"from {(begin - end) // 16} ms after the word's end on")
    await client.write_event(Transcript(text="x").event())
    await client.write_event(Ping(text="2").event())
    while (event := await next_event(client)).type == "audio-chunk":
        pass
    check(Pong.from_event(event).text == "2", "after the transcript nothing more is sent")

    other = AsyncClient.from_uri(uri)
    await other.connect()
    await other.write_event(RunSatellite().event())
    event = await next_event(other)
    check(Error.is_type(event.type) and await next_event(other) is None, f"a second Home Assistant: {Error.from_event(event).text}")
    await client.write_event(PauseSatellite().event())
    microphone.say("Front_Right")
    await asyncio.sleep(3)
    await client.write_event(Ping(text="3").event())
    check(Pong.from_event(await next_event(client)).text == "3", "while it is paused a word is not told")
    await client.write_event(RunSatellite().event())
    await asyncio.sleep(0.2)
    microphone.say("Front_Right")
    check(Detection.from_event(await next_event(client)).name == "right", "and told again when it runs")

    # A half-open connection: Home Assistant's machine has lost its power, and another one comes.
    async def takes_over():
        again = AsyncClient.from_uri(uri)
        try:
            await again.connect()
            await again.write_event(RunSatellite().event())
            await again.write_event(Ping(text="4").event())
            return Pong.is_type((await next_event(again)).type) and again
        except OSError:
            return False

    check(await within(15, takes_over), "a Home Assistant that has gone silent gives way to another one")
    check(service.end() == 0, "SIGTERM ends the service")


asyncio.run(main())
