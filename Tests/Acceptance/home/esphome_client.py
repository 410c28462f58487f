"""The client of ESPHome's devices, aioesphomeapi, in Home Assistant's place: each message of the voice satellite."""

import asyncio
import base64
import contextlib
import http.server
import os
import signal
import socket
import subprocess
import sys
import threading
import time

from aioesphomeapi import APIClient
from aioesphomeapi.core import InvalidEncryptionKeyAPIError, RequiresEncryptionAPIError
from aioesphomeapi.model import VoiceAssistantEventType as Event
from aioesphomeapi.model import VoiceAssistantTimerEventType as Timer
from peer import BECKON, RATE, VOICES, Checks, Service, free_port, within

check = Checks()
FEATURES = 1 | 4 | 8 | 16 | 32


class Sounds(http.server.BaseHTTPRequestHandler):
    """A web server with the voices of alsa-utils."""

    asked = []

    def do_GET(self):
        Sounds.asked.append(self.path)
        path = VOICES / self.path.strip("/")
        if self.path == "/endless":
            self.send_response(200)
            self.end_headers()
            with contextlib.suppress(OSError):
                while True:
                    self.wfile.write(bytes(100_000))
        elif path.is_file():
            body = path.read_bytes()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        else:
            self.send_error(404)

    def log_message(self, *_):
        pass


class Home:
    """A Home Assistant: what the satellite has told it."""

    def __init__(self, port, key):
        self.client = APIClient("127.0.0.1", port, None, noise_psk=key)
        self.starts, self.stops, self.finished, self.states = [], [], [], {}
        self.audio = b""
        self.first_audio = None
        self.accepts = True

    async def connect(self, subscribe=True):
        await self.client.connect(login=True)
        self.info = await self.client.device_info()
        self.entities = {entity.object_id: entity for entity in (await self.client.list_entities_services())[0]}
        self.client.subscribe_states(lambda state: self.states.__setitem__(state.key, state))
        if subscribe:
            self.unsubscribe = self.client.subscribe_voice_assistant(
                handle_start=self.start, handle_stop=self.stop, handle_audio=self.hear, handle_announcement_finished=self.end
            )
        return self

    async def start(self, conversation, flags, settings, phrase):
        self.audio, self.first_audio = b"", None
        self.starts.append(phrase)
        return 0 if self.accepts else None

    async def stop(self, abort):
        self.stops.append(abort)

    async def hear(self, data, *_):
        self.first_audio = self.first_audio or time.monotonic()
        self.audio += data

    async def end(self, finished):
        self.finished.append(finished.success)

    def state(self, name):
        return self.states.get(self.entities[name].key)

    def tell(self, kind, **data):
        self.client.send_voice_assistant_event(kind, data)


async def main():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Sounds)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    web = f"http://127.0.0.1:{server.server_port}"
    port = free_port()
    state = subprocess.run(["mktemp", "-d"], capture_output=True, text=True).stdout.strip()
    os.environ["XDG_STATE_HOME"] = state
    key = subprocess.run([BECKON, "esphome", "key"], capture_output=True, text=True).stdout.strip()
    check(len(base64.b64decode(key)) == 32, "beckon esphome key prints a key of 32 bytes")
    settings = {"esphome": {"listen": f"tcp://127.0.0.1:{port}", "name": "Test box", "words": ["left"]}, "speaker": "out"}
    service = Service(settings)
    microphone = service.microphone

    wrong = Home(port, base64.b64encode(bytes(32)).decode())
    try:
        await wrong.connect()
        check(False, "another key is let in")
    except InvalidEncryptionKeyAPIError:
        check(True, "another key is refused, as the client knows it")
    try:
        await Home(port, None).connect()
        check(False, "a client without a key is let in")
    except RequiresEncryptionAPIError:
        check(True, "a client without a key is told to use one")

    first = await Home(port, key).connect(subscribe=False)
    await first.client.disconnect()
    service.end()
    service.start()
    home = await Home(port, key).connect()
    check(home.info.mac_address == first.info.mac_address, "a restart before anything was set leaves it the same device")
    check(home.info.name == "test-box" and home.info.friendly_name == "Test box", f"it is called {home.info.name}")
    flags = home.info.voice_assistant_feature_flags
    check(flags == FEATURES, f"with all features of a satellite with a speaker: {flags:b}")
    names = {"mute", "speaker", "last_word", "microphone_level", "last_word_snr", "threshold_left"}
    check(names <= set(home.entities), f"its entities: {', '.join(home.entities)}")
    check(await within(5, lambda: len(home.states) == len(home.entities)), "and their states")

    configuration = await home.client.get_voice_assistant_configuration(5)
    words = [word.id for word in configuration.available_wake_words]
    check(words == ["left"] and configuration.active_wake_words == ["left"] and configuration.max_active_wake_words == 2, f"the picker: {words}")

    # A word and its command in one breath.
    word, order = await asyncio.to_thread(microphone.say, "Front_Left", "Rear_Center")
    check(await within(15, lambda: home.starts == ["left"]), "a word is told, with its phrase")
    home.tell(Event.VOICE_ASSISTANT_RUN_START)
    check(await within(10, lambda: len(home.audio) >= 2 * RATE * 2), "and followed by audio")
    heard = microphone.heard()
    begin = heard.find(home.audio[: 2 * RATE * 2]) // 2
    check(begin > 0, "sample for sample what the card gave")
    check(abs(begin - word.end) < RATE // 2 and begin < order.begin, f"from {(begin - word.end) // 16} ms after the word's end on, with all of the command")
    status = (await asyncio.to_thread(service.status))["esphome"]
    check(status["state"] == "listening" and status["commands"] == 1, f"the status: {status['state']}")
    home.tell(Event.VOICE_ASSISTANT_STT_VAD_END)
    home.tell(Event.VOICE_ASSISTANT_STT_END, text="x")
    await asyncio.sleep(0.5)
    count = len(home.audio)
    await asyncio.sleep(0.5)
    check(len(home.audio) == count, "the end of the command ends the audio")
    home.tell(Event.VOICE_ASSISTANT_INTENT_END, conversation_id="1", continue_conversation="1")
    home.tell(Event.VOICE_ASSISTANT_TTS_START, text="x")
    home.tell(Event.VOICE_ASSISTANT_TTS_END, url=f"{web}/Front_Center.wav")
    home.tell(Event.VOICE_ASSISTANT_RUN_END)
    check(await within(10, lambda: home.finished == [True]), "the answer is fetched, played and told")
    check(Sounds.asked == ["/Front_Center.wav"], "once")
    check(await within(5, lambda: home.starts == ["left", ""] or home.starts == ["left", None]), "and the conversation continues without a word")
    check(await within(5, lambda: len(home.audio) > RATE // 2), "with audio")
    home.tell(Event.VOICE_ASSISTANT_ERROR, code="stt-no-text-recognized", message="nothing")
    home.tell(Event.VOICE_ASSISTANT_RUN_END)

    home.finished.clear()
    await home.client.send_voice_assistant_announcement_await_response(f"{web}/Rear_Left.wav", 20, "x", preannounce_media_id=f"{web}/Noise.wav")
    check(Sounds.asked[1:] == ["/Noise.wav", "/Rear_Left.wav"], "an announcement is played after what comes before it")
    home.starts.clear()
    await home.client.send_voice_assistant_announcement_await_response(f"{web}/Rear_Left.wav", 20, "x", start_conversation=True)
    check(await within(5, lambda: len(home.starts) == 1), "and may start a conversation")
    home.tell(Event.VOICE_ASSISTANT_ERROR, code="stt-no-text-recognized", message="nothing")
    home.tell(Event.VOICE_ASSISTANT_RUN_END)
    finished = await home.client.send_voice_assistant_announcement_await_response(f"{web}/none.wav", 20, "x")
    check(not finished.success, "one that cannot be fetched is told as not played")
    check("404" in service.log.read_text(), "and logged")

    # The media player.
    player = home.entities["speaker"].key
    home.client.media_player_command(player, volume=0.25)
    check(await within(3, lambda: abs(home.state("speaker").volume - 0.25) < 0.01), "the volume is set")
    home.client.media_player_command(player, media_url=f"{web}/Side_Left.wav")
    check(await within(5, lambda: home.state("speaker").state.name == "PLAYING"), "the media player plays")
    check(await within(10, lambda: home.state("speaker").state.name == "IDLE"), "until the end")
    home.client.switch_command(home.entities["mute"].key, True)
    check(await within(5, lambda: home.state("mute").state), "the switch mutes the microphone")
    home.client.switch_command(home.entities["mute"].key, False)
    check(await within(5, lambda: not home.state("mute").state), "and opens it again")
    home.client.number_command(home.entities["threshold_left"].key, 0.5)
    check(await within(5, lambda: abs(home.state("threshold_left").state - 0.5) < 0.001), "a threshold is set")

    # Timers, and stop.
    home.client.send_voice_assistant_timer_event(Timer.VOICE_ASSISTANT_TIMER_STARTED, "t", "tea", 60, 60, True)
    home.client.send_voice_assistant_timer_event(Timer.VOICE_ASSISTANT_TIMER_FINISHED, "t", "tea", 60, 0, False)

    async def state(wanted):
        return (await asyncio.to_thread(service.status))["esphome"]["state"] == wanted

    check(await within(5, lambda: state("timer")), "a timer rings")
    service.microphone.say("Front_Left")
    check(await within(10, lambda: len(home.starts) == 2) and home.starts[-1] == "left", "a word ends that, and starts a command")
    home.tell(Event.VOICE_ASSISTANT_ERROR, code="intent-failed", message="no")
    home.tell(Event.VOICE_ASSISTANT_RUN_END)
    check(await within(5, lambda: "intent-failed" in service.log.read_text()), "an error is logged with its code")
    check(await within(5, lambda: home.state("last_word").state == "left"), "the last word is shown")

    # Another one may look; the first keeps the satellite.
    other = await Home(port, key).connect()
    check(len(other.entities) == len(home.entities), "a second Home Assistant may look")
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(300)]
    await asyncio.sleep(6)
    home.starts.clear()
    service.microphone.say("Front_Left")
    check(await within(10, lambda: home.starts == ["left"]) and not other.starts, "the first one keeps the satellite, beside 300 idle connections")
    for one in idle:
        one.close()
    home.tell(Event.VOICE_ASSISTANT_RUN_END)
    await home.client.disconnect()
    check(await within(15, lambda: state("idle")), "when it leaves the second one has the satellite")
    service.microphone.say("Front_Left")
    check(await within(10, lambda: other.starts == ["left"]), "and hears the next word")
    other.tell(Event.VOICE_ASSISTANT_RUN_END)

    # One that does not read any more.
    slow = subprocess.Popen([sys.executable, __file__, "look", str(port), key], stdout=subprocess.PIPE, text=True)
    check(await asyncio.to_thread(slow.stdout.readline) == "connected\n", "a client looks")
    slow.send_signal(signal.SIGSTOP)
    await asyncio.sleep(5)
    other.starts.clear()
    service.microphone.say("Front_Left")
    check(await within(10, lambda: other.starts == ["left"]), "and changes nothing when it does not read any more")
    other.tell(Event.VOICE_ASSISTANT_RUN_END)
    slow.kill()
    await other.client.disconnect()

    # The network is cut in each state.
    for name in ("listening", "thinking", "speaking", "timer"):
        home = await Home(port, key).connect()
        if name == "timer":
            home.client.send_voice_assistant_timer_event(Timer.VOICE_ASSISTANT_TIMER_FINISHED, "t", "tea", 60, 0, False)
        else:
            service.microphone.say("Front_Left")
            await within(10, lambda: home.starts)
            home.tell(Event.VOICE_ASSISTANT_RUN_START)
        if name in ("thinking", "speaking"):
            home.tell(Event.VOICE_ASSISTANT_STT_VAD_END)
            home.tell(Event.VOICE_ASSISTANT_STT_END, text="x")
        if name == "speaking":
            home.tell(Event.VOICE_ASSISTANT_TTS_END, url=f"{web}/Front_Center.wav")
        check(await within(10, lambda: state(name)), f"it is {name} when the network is cut")
        await home.client.disconnect(force=True)
        if name == "timer":
            await asyncio.sleep(3)
            check(await state("timer"), "a timer goes on ringing")
            service.microphone.say("Front_Left")
        check(await within(20, lambda: state("alone")), "and waits for a Home Assistant after it")
    other = await Home(port, key).connect()
    service.microphone.say("Front_Left")
    check(await within(10, lambda: other.starts == ["left"]), "which is told to the next one")
    other.tell(Event.VOICE_ASSISTANT_RUN_END)

    # The picker, over a restart.
    await other.client.set_voice_assistant_configuration([])
    configuration = await other.client.get_voice_assistant_configuration(5)
    check(configuration.active_wake_words == [], "the picker turns all words off")
    address = other.info.mac_address
    await other.client.disconnect()
    check(service.end() == 0, "SIGTERM ends the service")
    service.start()
    home = await Home(port, key).connect()
    configuration = await home.client.get_voice_assistant_configuration(5)
    check(configuration.active_wake_words == [] and home.info.mac_address == address, "which a restart does not forget, nor its address")
    check(abs((await within(5, lambda: home.state("speaker"))).volume - 0.25) < 0.01, "nor the volume")
    await home.client.disconnect()
    service.end()
    for line in service.log.read_text().splitlines():
        check.none("Fatal" in line, line)


async def look(port, key):
    """Connects, gets the states, and says so."""
    await Home(int(port), key).connect(subscribe=False)
    print("connected", flush=True)
    await asyncio.sleep(600)


asyncio.run(look(*sys.argv[2:]) if sys.argv[1:2] == ["look"] else main())
