"""The real Home Assistant with the microphone as its satellite: a word is said, and the command after it is recognised.

Usage: satellite.py FOLDER, with a configuration.yaml in it.
"""

import asyncio
import socket
import sys

import home
from peer import RATE, Checks, Service, free_port, within
from recogniser import Recogniser

check = Checks()


async def make_pipeline(hass, recogniser):
    """A voice assistant with this recogniser, which Home Assistant uses for all satellites."""
    store = hass.data["assist_pipeline"].pipeline_store
    pipeline = await store.async_create_item(
        {
            "name": "test", "language": "en", "conversation_engine": "conversation.home_assistant",
            "conversation_language": "en", "stt_engine": recogniser, "stt_language": "en", "tts_engine": None,
            "tts_language": None, "tts_voice": None, "wake_word_entity": None, "wake_word_id": None,
        }
    )  # fmt: skip
    store.async_set_preferred_item(pipeline.id)


async def main(folder):
    port, speech_port = free_port(), free_port()
    recogniser = Recogniser("never mind")
    await recogniser.start(speech_port)
    hass = await home.start(folder)
    check(True, f"Home Assistant {home.version} starts")
    job = hass.async_add_executor_job
    service = await job(lambda: Service({"wyoming": {"satellite": f"tcp://127.0.0.1:{port}", "satelliteWords": ["left"]}}))

    async def satellite():
        return (await job(service.status)).get("satellite", {})

    def is_in(state):
        async def condition():
            return (await satellite()).get("state") == state

        return condition

    flow = await home.add(hass, "wyoming", {"host": "127.0.0.1", "port": speech_port})
    check(flow["type"] == "create_entry", "a speech recogniser is there")
    stt = next(iter(home.states(hass, "stt.")))
    await make_pipeline(hass, stt)
    flow = await home.add(hass, "wyoming", {"host": "127.0.0.1", "port": port})
    title = f"beckon satellite on {socket.gethostname()}"
    check(flow["type"] == "create_entry" and flow["title"] == title, f"the config flow finds the satellite: {flow.get('title')}")
    mute = next((entity for entity in home.states(hass, "switch.") if entity.endswith("_mute")), None)
    check(mute, f"it has the switch {mute}")
    check(await within(20, is_in("ready")), "Home Assistant connects, and waits for a word")

    async def say(seconds=20):
        """Says a word and a command. Returns the command as the recogniser got it, and where the words are."""
        count = len(recogniser.commands)
        said = await job(lambda: service.microphone.say("Front_Left", "Rear_Center"))
        await within(seconds, lambda: len(recogniser.commands) > count)
        return (recogniser.commands[count] if len(recogniser.commands) > count else b""), said

    command, said = await say()
    word, order = said
    heard = await job(service.microphone.heard)
    begin = heard.find(command[: RATE // 2]) // 2 if command else -1
    check(command and heard[begin * 2 : begin * 2 + len(command)] == command, f"a word: {len(command) // 32} ms of audio reach the recogniser, sample for sample")
    check(abs(begin - word.end) < RATE // 2 and begin < order.begin, f"from {(begin - word.end) // 16} ms after the word's end on")
    check(order.samples in command, "with all of the command")
    check(await within(10, is_in("ready")), "the transcript ends the stream")
    counts = await satellite()
    check(counts["detections"] == 1, "one detection, and not of the command")

    await home.call(hass, "switch", "turn_on", mute)
    check(await within(10, is_in("paused")), "the mute switch pauses it")
    streamed = (await satellite())["streamedSeconds"]
    command, _ = await say(6)
    counts = await satellite()
    check(not command and counts["detections"] == 1 and counts["streamedSeconds"] == streamed, "a word sends nothing then")
    await home.call(hass, "switch", "turn_off", mute)
    check(await within(20, is_in("ready")), "the switch off: it waits for a word")
    command, _ = await say()
    check(command, "and the next word is followed by its command")

    await job(service.end)
    await job(service.start)
    check(await within(40, is_in("ready")), "after a restart of the service Home Assistant connects again")
    command, _ = await say()
    check(command, "and gets a command")
    await hass.async_stop(force=True)
    check(await within(10, is_in("alone")), "Home Assistant stops: nobody is connected")
    hass = await home.start(folder)
    job = hass.async_add_executor_job
    check(await within(40, is_in("ready")), "Home Assistant starts again: it connects")
    command, _ = await say()
    check(command, "and gets a command")
    entry = next(entry for entry in hass.config_entries.async_entries("wyoming") if entry.title == title)
    await hass.config_entries.async_remove(entry.entry_id)
    check(await within(10, is_in("alone")) and not home.states(hass, "beckon_satellite"), "removed from Home Assistant: nothing is left")
    await job(service.end)
    await hass.async_stop(force=True)


asyncio.run(main(sys.argv[1]))
