"""The real Home Assistant with the ESPHome satellite: discovery, set-up with a key, conversations with a stub for speech, announcements,
timers, the picker, restarts; how soon the audio comes, and the memory that it takes.

Usage: esphome.py FOLDER, with a configuration.yaml in it.
"""

import asyncio
import importlib.util
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
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
from homeassistant.components.esphome.assist_satellite import EsphomeAssistSatellite  # noqa: E402
from homeassistant.helpers import entity_registry, intent  # noqa: E402

ROUNDS = int(os.environ.get("ROUNDS", "20"))


def agent_id(hass):
    """An agent is known by an entry of the configuration."""
    return hass.config_entries.async_entries("wyoming")[0].entry_id


class Agent(conversation.AbstractConversationAgent):
    """Understands everything, and asks back where it is told to."""

    supported_languages = "*"
    asks = False
    # Each answer is another: Home Assistant keeps what a voice has said once.
    answers = 0

    async def async_process(self, said):
        response = intent.IntentResponse(language=said.language)
        self.answers += 1
        response.async_set_speech(f"which one? {self.answers}" if self.asks else f"done {self.answers}")
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


class Ear:
    """When Home Assistant gets the first audio of each command."""

    def __init__(self):
        self.times = []
        self.listens = False
        start, hear = EsphomeAssistSatellite.handle_pipeline_start, EsphomeAssistSatellite.handle_audio

        async def started(satellite, *arguments):
            self.listens = True
            return await start(satellite, *arguments)

        async def heard(satellite, *arguments):
            if self.listens:
                self.listens = False
                self.times.append(time.monotonic())
            return await hear(satellite, *arguments)

        EsphomeAssistSatellite.handle_pipeline_start, EsphomeAssistSatellite.handle_audio = started, heard


ear = Ear()


async def forgotten(knows):
    return not await knows()


def isolated():
    """Whether this runs in a network of its own with Avahi, where the satellite can be discovered."""
    return "OWN_NETWORK" in os.environ


class Satellite:
    def __init__(self, folder):
        self.folder = folder
        self.port, self.speech_port, self.voice_port = free_port(), free_port(), free_port()
        # Where the satellite fetches answers. In a network of its own the usual port is free; newer versions take back another one after
        # five minutes, if nobody confirms it on their page.
        with (Path(folder) / "configuration.yaml").open("a") as file:
            file.write("zeroconf:\n" if isolated() else f"http:\n  server_port: {free_port()}\n")
        os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp()
        self.key = subprocess.run([BECKON, "esphome", "key"], capture_output=True, text=True).stdout.strip()
        # A model that newer versions offer to satellites.
        words = Path(folder) / "custom_wake_words"
        words.mkdir()
        for name in ("alexa.json", "alexa.tflite"):
            shutil.copy(Path(os.environ["BECKON_MODEL"]).parent / "wake-words" / name, words)
        host = "0.0.0.0" if isolated() else "127.0.0.1"
        self.service = Service(
            {
                "esphome": {"listen": f"tcp://{host}:{self.port}", "name": "Test box", "words": ["left", "right"]},
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

        def discovered():
            found = flows.async_progress_by_handler("esphome")
            return [flow for flow in found if flow["context"]["source"] == "zeroconf"]

        if isolated():
            check(await within(30, discovered), f"it is discovered: {[flow['context'].get('title_placeholders') for flow in discovered()]}")
            flow = await flows.async_configure(discovered()[0]["flow_id"], {})
        else:
            check.skip("discovery by mDNS: needs root, iproute2, dbus and avahi-daemon")
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

        # The same service without the satellite.
        plain = await self.job(Service, {"speaker": "out"})
        await asyncio.sleep(8)
        (idle, idle_own), (without, without_own) = await self.job(self.service.memory), await self.job(plain.memory)
        await self.job(plain.end)
        more, own = idle - without, idle_own - without_own
        check(more <= 6, f"connected and before the first answer it takes {more:.1f} MB more memory, {own:.1f} MB its own, {idle:.1f} MB resident")

        passed, lost, delays, waits = 0, 0, [], []
        for number in range(ROUNDS):
            answers, times = self.speaker.said, len(ear.times)
            command, (word, order) = await self.say()
            if len(ear.times) > times:
                waits.append(ear.times[times] - self.service.microphone.time(word.end))
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

        # From the last loud sample of the word on, as the fake card gives it in real time.
        wait = 1000 * statistics.median(waits) if waits else float("inf")
        check(wait <= 150, f"from the word's end to the first audio at Home Assistant {wait:.0f} ms, the median of {len(waits)}; longest {1000 * max(waits, default=0):.0f}")

        passed = 0
        for number in range(ROUNDS):
            done = asyncio.create_task(home.call(hass, "assist_satellite", "announce", satellite, message=f"hello {number}"))
            await asyncio.wait_for(done, 30)
            passed += 1
        check(passed == ROUNDS, f"{passed} of {ROUNDS} announcements are played to their end")
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

        # With libcurl and its libraries, which fetch answers, and which other programs have in memory, too.
        resident, own = await self.job(self.service.memory)
        more, own = resident - without, own - without_own
        check(own <= 6 and more <= 12, f"after {2 * ROUNDS} conversations {more:.1f} MB more, {own:.1f} MB of them its own, {resident:.1f} MB resident")

        await self.timers(hass, registry.async_get(satellite).device_id)
        commands = len(self.recogniser.commands)
        done = await self.job(self.service.command, "talk")
        check(done.returncode == 0 and await within(10, self.is_in("listening")), "beckon talk starts a command without a word")
        await self.job(self.service.microphone.say, "Rear_Center")
        check(await within(20, lambda: len(self.recogniser.commands) > commands), "whose audio Home Assistant gets")
        await within(20, self.is_in("idle"))

        picker = next((kind for kind in kinds if "wake_word" in kind), None)
        if picker:
            await home.call(hass, "select", "select_option", picker, option="right")
            check(await within(10, lambda: home.state(hass, picker) == "right"), "the picker chooses another word")
            count = len(self.recogniser.commands)
            await self.job(self.service.microphone.say, "Front_Left")
            await asyncio.sleep(4)
            check(len(self.recogniser.commands) == count, "then the first one starts nothing")
            await home.call(hass, "select", "select_option", picker, option="left")
            await self.offered(hass, picker)
        else:
            check.skip("the picker: this Home Assistant has none")
        mute = next(kind for kind in kinds if kind.startswith("switch.") and "mute" in kind)
        await home.call(hass, "switch", "turn_on", mute)
        check((await within(10, lambda: home.state(hass, mute) == "on")), "the switch mutes")
        await home.call(hass, "switch", "turn_off", mute)

        passed = 0
        for number in range(max(1, ROUNDS // 4)):
            await self.job(self.service.end)
            await self.job(self.service.start)
            connected = await within(60, self.is_in("idle"))
            command, _ = await self.say()
            passed += bool(connected and command) and bool(await within(20, self.is_in("idle")))
        check(passed == max(1, ROUNDS // 4), f"after {passed} restarts of the service Home Assistant connects again, and gets a command")
        # Home Assistant forgets it when it stops.
        device = registry.async_get(satellite).device_id
        await intent.async_handle(hass, "test", "HassStartTimer", {"seconds": {"value": 30}}, device_id=device)
        await asyncio.sleep(1)
        await home.stop(hass)

    async def offered(self, hass, picker):
        """A word whose model Home Assistant offers."""
        if "Alexa" not in hass.states.get(picker).attributes["options"]:
            return check.skip("models that Home Assistant offers: this one offers none")

        async def knows():
            return "alexa" in str((await self.job(self.service.status)).get("thresholds"))

        await home.call(hass, "select", "select_option", picker, option="Alexa")
        check(await within(20, knows), "a word that Home Assistant offers is chosen: its model is fetched and used")
        await self.job(self.service.end)
        await self.job(self.service.start)
        check(await within(60, self.is_in("idle")) and await knows(), "also after a restart")
        await within(10, lambda: home.state(hass, picker) == "Alexa")
        await home.call(hass, "select", "select_option", picker, option="left")
        check(await within(20, lambda: forgotten(knows)), "another word is chosen: the model is forgotten")

    async def timers(self, hass, device):
        """Three timers that Home Assistant is told to set ring here; one of them after the service was restarted meanwhile."""
        for seconds in (3, 4, 5):
            await intent.async_handle(hass, "test", "HassStartTimer", {"seconds": {"value": seconds}}, device_id=device)
            ringing = await within(seconds + 5, self.is_in("timer"))
            await asyncio.sleep(1)
            done = await self.job(self.service.command, "talk", "stop")
            stopped = await within(5, self.is_in("idle"))
            check(ringing and stopped, f"a timer of {seconds} s rings, until it is stopped: {done.stderr.strip()}")
        await intent.async_handle(hass, "test", "HassStartTimer", {"seconds": {"value": 40}}, device_id=device)
        await asyncio.sleep(1)
        await self.job(self.service.end)
        await self.job(self.service.start)
        check(await within(60, self.is_in("timer")), "a timer rings that runs over a restart of the service")
        await self.job(self.service.command, "talk", "stop")
        check(await within(60, self.is_in("idle")), "until it is stopped")

    async def second(self):
        check.restart()
        check(await within(10, self.is_alone), "Home Assistant stops: nobody is connected")
        self.service.microphone.say("Front_Left")
        told = await within(10, lambda: "no Home Assistant is connected" in self.service.log.read_text())
        check(told, "a word is told to be lost then")
        rings = await within(60, lambda: self.service.status()["esphome"]["state"] == "timer")
        check(rings, "a timer rings that Home Assistant had set before it stopped")
        self.service.command("talk", "stop")
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
