"""The satellite with a speaker: it plays what the reference implementation sends in Home Assistant's place, and does not act on words in it."""

import asyncio
import random
import time

from peer import RATE, Checks, Service, free_port, voice
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncClient
from wyoming.info import Describe, Info
from wyoming.ping import Ping, Pong
from wyoming.pipeline import PipelineStage, RunPipeline
from wyoming.satellite import RunSatellite
from wyoming.snd import Played
from wyoming.wake import Detection

check = Checks()


async def next_event(client, seconds=30):
    return await asyncio.wait_for(client.read_event(), seconds)


async def speak(client, audio):
    """Sends speech as fast as the satellite takes it. Returns the other events until it was played, and the seconds that it took."""
    begin = time.monotonic()
    form = {"rate": RATE, "width": 2, "channels": 1}

    async def send():
        await client.write_event(AudioStart(**form).event())
        for start in range(0, len(audio), 2048):
            await client.write_event(AudioChunk(**form, audio=audio[start : start + 2048]).event())
        await client.write_event(AudioStop().event())

    sending = asyncio.create_task(send())
    others = []
    while not Played.is_type((event := await next_event(client)).type):
        others.append(event)
    await sending
    return others, time.monotonic() - begin


async def words(reference):
    """The first word that is told: “left” is in an answer, which the microphone hears a quarter of a second later, “right” is said after it."""
    uri = f"tcp://127.0.0.1:{free_port()}"
    echo = {"echo": {"reference": "speaker"}} if reference else {}
    service = Service({"speaker": "out", "wyoming": {"satellite": uri, "satelliteWords": ["left", "right"]}, **echo})
    client = AsyncClient.from_uri(uri)
    await client.connect()
    await client.write_event(RunSatellite().event())
    chance = random.Random(1)
    # The delay of the echo is found in the first seconds of sound.
    noise = b"".join(int(chance.gauss(0, 3000)).to_bytes(2, "little", signed=True) for _ in range(6 * RATE))
    answer = noise + voice("Front_Left", before=1, after=1) + voice("Front_Left", before=0, after=1)
    begin = service.microphone.hear(answer, gain=0.5)
    await asyncio.sleep(begin - 0.25 - time.monotonic())
    others, _ = await speak(client, answer)
    service.microphone.say("Front_Right")
    found = [event for event in others if Detection.is_type(event.type)]
    while not found:
        found = [event for event in [await next_event(client)] if Detection.is_type(event.type)]
    status = service.status()
    removed = status.get("echo", {}).get("cancelledDecibels")
    # What is late does not come a quarter of a second before its echo.
    check.none(status["speaker"]["underruns"] > 0, "the machine was too busy: the speaker ran out of audio")
    check.none(service.end() != 0, "SIGTERM ends the service")
    return Detection.from_event(found[0]).name, removed


async def main():
    uri = f"tcp://127.0.0.1:{free_port()}"
    service = Service({"speaker": "out", "wyoming": {"satellite": uri}})
    client = AsyncClient.from_uri(uri)
    await client.connect()
    await client.write_event(Describe().event())
    info = Info.from_event(await next_event(client))
    check(len(info.snd) == 1 and info.snd[0].installed, f"info names the speaker's format: {info.snd[0].snd_format.rate} Hz")
    await client.write_event(RunSatellite().event())
    await asyncio.sleep(0.2)
    service.microphone.say("Front_Left")
    check(Detection.is_type((await next_event(client)).type), "a word is told")
    run = RunPipeline.from_event(await next_event(client))
    check(run.end_stage == PipelineStage.TTS, "and a spoken answer is asked for, beside the audio of the command")
    answer = voice("Front_Center", before=0, after=0)
    others, seconds = await speak(client, answer * 6)
    check(any(AudioChunk.is_type(event.type) for event in others), "the microphone is streamed while the answer is played")
    length = 6 * len(answer) / 2 / RATE
    check(length <= seconds < length + 1, f"an answer of {length:.1f} s is played in {seconds:.1f} s")
    await client.write_event(Ping(text="1").event())
    while not Pong.is_type((event := await next_event(client)).type):
        pass
    check(Pong.from_event(event).text == "1", "and pings are answered after it")
    check(service.end() == 0, "SIGTERM ends the service")

    found, _ = await words(reference=False)
    check(found == "left", f"without a reference a word in the answer is told: “{found}”")
    found, removed = await words(reference=True)
    check(found == "right", f"with it only what is said after the answer: “{found}”; {removed} dB of the echo were removed")


asyncio.run(main())
