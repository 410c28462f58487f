"""The real Home Assistant with the ESPHome satellite: set-up with a key, conversations with a stub for speech, announcements, the picker.

Usage: esphome.py FOLDER, with a configuration.yaml in it.
"""

import asyncio
import importlib.util
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import home
from peer import BECKON, RATE, Checks, Service, free_port, voice, within
from recogniser import Recogniser
from speaker_stub import Speaker

check = Checks()
if home.is_before(2024, 11) or not importlib.util.find_spec("aioesphomeapi"):
    check.skip("this Home Assistant has no voice satellites by ESPHome's protocol, or its client is not installed")
    sys.exit(0)

from homeassistant.components import conversation  # noqa: E402
from homeassistant.components.conversation.agent_manager import get_agent_manager  # noqa: E402
from homeassistant.helpers import entity_registry, intent  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "20"))


def agent_id(hass):
    """An agent is known by an entry of the configuration."""
    return hass.config_entries.async_entries("wyoming")[0].entry_id


class Agent(conversation.AbstractConversationAgent):
    """Understands everything, and asks back where it is told to."""

    supported_languages = "*"
    asks = False

    async def async_process(self, said):
        response = intent.IntentResponse(language=said.language)
        response.async_set_speech("which one?" if self.asks else "done")
        asks, self.asks = self.asks, False
        return conversation.ConversationResult(response, said.conversation_id, continue_conversation=asks)


async def make_pipeline(hass, recogniser, speaker):
    """A voice assistant with these, which Home Assistant uses for all satellites."""
    store = hass.data["assist_pipeline"].pipeline_store
    agent = Agent()
    get_agent_manager(hass).async_set_agent(agent_id(hass), agent)
    pipeline = await store.async_create_item(
        {
            "name": "test", "language": "en", "conversation_engine": agent_id(hass),
            "conversation_language": "en", "stt_engine": recogniser, "stt_language": "en", "tts_engine": speaker,
            "tts_language": "en", "tts_voice": None, "wake_word_entity": None, "wake_word_id": None,
        }
    )  # fmt: skip
    store.async_set_preferred_item(pipeline.id)
    return agent


class Satellite:
    def __init__(self, folder):
        self.folder = folder
        self.port, self.speech_port, self.voice_port = free_port(), free_port(), free_port()
        # Where the satellite fetches answers.
        with (Path(folder) / "configuration.yaml").open("a") as file:
            file.write(f"http:\n  server_port: {free_port()}\n")
        os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp()
        self.key = subprocess.run([BECKON, "esphome", "key"], capture_output=True, text=True).stdout.strip()
        self.service = Service(
            {
                "esphome": {"listen": f"tcp://127.0.0.1:{self.port}", "name": "Test box", "words": ["left", "right"]},
                "speaker": "out",
            }
        )

    async def start(self):
        self.recogniser = Recogniser("turn on the light")
        await self.recogniser.start(self.speech_port)
        self.speaker = Speaker(voice("Front_Center", before=0, after=0))
        await self.speaker.start(self.voice_port)
        self.hass = await home.start(self.folder)
        self.job = self.hass.async_add_executor_job

    async def status(self):
        return (await self.job(self.service.status)).get("esphome", {})

    def is_in(self, *states):
        async def condition():
            return (await self.status()).get("state") in states

        return condition

    async def say(self, seconds=30):
        """Says a word and a command. Returns the command as the recogniser got it, and where the words are."""
        commands = self.recogniser.commands
        count = len(commands)
        said = await self.job(self.service.microphone.say, "Front_Left", "Rear_Center")
        await within(seconds, lambda: len(commands) > count)
        return (commands[count] if len(commands) > count else b""), said

    async def first(self):
        await self.start()
        hass = self.hass
        # Addresses of answers that this machine reaches.
        hass.config.internal_url = f"http://127.0.0.1:{hass.http.server_port}"
        check(True, f"Home Assistant {home.version} starts")
        for port, what in [(self.speech_port, "a speech recogniser"), (self.voice_port, "a voice")]:
            flow = await home.add(hass, "wyoming", {"host": "127.0.0.1", "port": port})
            check(flow["type"] == "create_entry", f"{what} is there")
        agent = await make_pipeline(hass, next(iter(home.states(hass, "stt."))), next(iter(home.states(hass, "tts."))))
        flows = hass.config_entries.flow
        flow = await flows.async_init("esphome", context={"source": "user"})
        flow = await flows.async_configure(flow["flow_id"], {"host": "127.0.0.1", "port": self.port})
        check(flow["type"] == "form" and flow["step_id"] == "encryption_key", f"it asks for the key: {flow.get('step_id')}")
        flow = await flows.async_configure(flow["flow_id"], {"noise_psk": self.key})
        check(flow["type"] == "create_entry" and flow["title"] == "Test box", f"the satellite is set up: {flow.get('title')}")
        await hass.async_block_till_done()
        check(await within(20, self.is_in("idle")), "Home Assistant is connected, and waits for a word")
        registry = entity_registry.async_get(hass)
        kinds = sorted(entry.entity_id for entry in registry.entities.values() if entry.platform == "esphome")
        check(any(kind.startswith("assist_satellite.") for kind in kinds), f"its entities: {', '.join(kinds)}")
        satellite = next(kind for kind in kinds if kind.startswith("assist_satellite."))

        passed, lost, delays = 0, 0, []
        for number in range(ROUNDS):
            answers = self.speaker.said
            command, (word, order) = await self.say()
            heard = await self.job(self.service.microphone.heard)
            begin = heard.find(command[: 2 * RATE], 2 * (word.begin - RATE)) // 2
            whole = begin > 0 and begin < order.begin and order.samples[:-RATE] in command
            idle = await within(20, self.is_in("idle"))
            passed += bool(whole and idle and self.speaker.said == answers + 1)
            lost += not whole
            if begin > 0:
                delays.append((begin - word.end) // 16)
            check.none(not (whole and idle), f"conversation {number}: {len(command) // 32} ms from {begin}, order at {order.begin}; idle {idle}")
        check(passed == ROUNDS, f"{passed} of {ROUNDS} conversations, each with all of its command and an answer; audio begins {delays} ms after the word")

        for number in range(3):
            done = asyncio.create_task(home.call(hass, "assist_satellite", "announce", satellite, message="hello"))
            await asyncio.wait_for(done, 30)
        check(True, "three announcements are played to their end")
        done = asyncio.create_task(home.call(hass, "assist_satellite", "start_conversation", satellite, start_message="which room?"))
        commands = len(self.recogniser.commands)
        check(await within(10, self.is_in("listening")), "start_conversation listens after its question")
        await self.job(self.service.microphone.say, "Rear_Center")
        await within(20, lambda: len(self.recogniser.commands) > commands)
        await asyncio.wait_for(done, 30)
        check(len(self.recogniser.commands) == commands + 1, "and gets an answer")
        await within(20, self.is_in("idle"))

        passed = 0
        for number in range(ROUNDS):
            count = len(self.recogniser.commands)
            agent.asks = True
            await self.say()
            await within(20, lambda: len(self.recogniser.commands) > count)
            # Beckon listens again when its question was played.
            if await within(20, self.is_in("listening")):
                await self.job(self.service.microphone.say, "Rear_Center")
            await within(20, lambda: len(self.recogniser.commands) > count + 1)
            passed += len(self.recogniser.commands) == count + 2 and await within(20, self.is_in("idle"))
        check(passed == ROUNDS, f"{passed} of {ROUNDS} conversations continue without a word")

        picker = next((kind for kind in kinds if "wake_word" in kind), None)
        if picker:
            await home.call(hass, "select", "select_option", picker, option="right")
            check(await within(10, lambda: home.state(hass, picker) == "right"), "the picker chooses another word")
            count = len(self.recogniser.commands)
            await self.job(self.service.microphone.say, "Front_Left")
            await asyncio.sleep(4)
            check(len(self.recogniser.commands) == count, "then the first one starts nothing")
            await home.call(hass, "select", "select_option", picker, option="left")
        else:
            check.skip("the picker: this Home Assistant has none")
        mute = next(kind for kind in kinds if kind.startswith("switch.") and "mute" in kind)
        await home.call(hass, "switch", "turn_on", mute)
        check((await within(10, lambda: home.state(hass, mute) == "on")), "the switch mutes")
        await home.call(hass, "switch", "turn_off", mute)

        await self.job(self.service.end)
        await self.job(self.service.start)
        check(await within(60, self.is_in("idle")), "after a restart of the service Home Assistant connects again")
        command, _ = await self.say()
        check(command, "and gets a command")
        await within(20, self.is_in("idle"))
        await home.stop(hass)

    async def second(self):
        check.restart()
        check(await within(10, self.is_alone), "Home Assistant stops: nobody is connected")
        self.service.microphone.say("Front_Left")
        told = await within(10, lambda: "no Home Assistant is connected" in self.service.log.read_text())
        check(told, "a word is told to be lost then")
        await self.start()
        get_agent_manager(self.hass).async_set_agent(agent_id(self.hass), Agent())
        self.hass.config.internal_url = f"http://127.0.0.1:{self.hass.http.server_port}"
        check(await within(60, self.is_in("idle")), "Home Assistant starts again: it connects")
        command, _ = await self.say()
        check(command, "and gets a command")
        await self.job(self.service.end)
        log = await self.job(self.service.log.read_text)
        failed = log.count("cannot fetch")
        if shutil.which("ffmpeg"):
            check(not failed, f"all answers were fetched and played; {failed} were not")
        else:
            check.skip(f"answers: Home Assistant makes them with ffmpeg, which is not installed; {failed} could not be fetched")

    def is_alone(self):
        return self.service.status()["esphome"]["state"] == "alone"


satellite = Satellite(sys.argv[1])
home.run(satellite.first, satellite.second)
