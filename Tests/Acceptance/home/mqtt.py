"""The real Home Assistant and a real broker: what the service publishes becomes a device, and what the device is told is done.

Usage: mqtt.py FOLDER, with a configuration.yaml in it. Needs Debian's mosquitto.
"""

import asyncio
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import home
import paho.mqtt.client as paho
from homeassistant.components.mqtt import device_trigger
from homeassistant.helpers import trigger as triggers
from peer import Checks, Service, free_port, within

check = Checks()
MOSQUITTO = shutil.which("mosquitto") or "/usr/sbin/mosquitto"


class Broker:
    """A mosquitto that keeps its messages over a restart, as one in a home does."""

    def __init__(self):
        self.port = free_port()
        self.folder = tempfile.mkdtemp()
        self.identifier = Path(self.folder) / "pid"
        path = Path(self.folder) / "mosquitto.conf"
        path.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\nuser root\npid_file {self.identifier}\n"
            f"persistence true\npersistence_location {self.folder}/\nautosave_interval 1\n"
        )
        self.command = [MOSQUITTO, "-c", str(path)]
        self.start()

    def start(self):
        subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        """Ends it, whichever process started it."""
        pid = int(self.identifier.read_text())
        os.kill(pid, signal.SIGTERM)
        while Path(f"/proc/{pid}/exe").exists():
            time.sleep(0.05)

    def kept(self):
        """The topics whose messages the broker keeps."""
        version = getattr(paho, "CallbackAPIVersion", None)
        client = paho.Client(version.VERSION2) if version else paho.Client()
        topics = []
        client.on_message = lambda _, __, message: topics.append(message.topic) if message.retain else None
        client.connect("127.0.0.1", self.port)
        client.subscribe("#")
        end = time.monotonic() + 1.5
        while time.monotonic() < end:
            client.loop(0.1)
        client.disconnect()
        return sorted(topics)


async def watch(hass, device, word, fired):
    """Notes whenever the device's trigger for a word fires. Returns a function that ends it."""
    found = await device_trigger.async_get_triggers(hass, device.id)
    config = next(trigger for trigger in found if trigger["subtype"] == word)
    valid = await triggers.async_validate_trigger_config(hass, [config])

    async def note(variables, context=None):
        fired.append(word)

    return await triggers.async_initialize_triggers(hass, valid, note, "test", "test", lambda *_, **__: None)


WORD, MISS, MUTE, MICROPHONE = "event.kitchen_word", "event.kitchen_near_miss", "switch.kitchen_mute", "binary_sensor.kitchen_microphone"
LEVEL, SLIDER = "sensor.kitchen_level", "number.kitchen_threshold_left"


class Kitchen:
    """The broker, the service and Home Assistant, in one or another of the processes that run it."""

    def __init__(self, folder):
        self.folder = folder
        self.broker = Broker()
        settings = {"host": "127.0.0.1", "port": self.broker.port, "name": "kitchen"}
        # The discovery of whole devices came with 2024.11.
        if home.is_before(2024, 11):
            settings["discoveryForm"] = "components"
        self.service = Service({"mqtt": settings, "misses": {"dir": tempfile.mkdtemp(), "margin": 0.4}})
        # The words whose trigger fired.
        self.fired = []

    async def start(self):
        self.hass = await home.start(self.folder)
        self.job = self.hass.async_add_executor_job

    def has(self, entity, wanted):
        return lambda: home.state(self.hass, entity) == wanted

    def is_known(self, entity):
        return lambda: home.state(self.hass, entity) not in (None, "unknown", "unavailable")

    @property
    def device(self):
        return next((device for device in home.devices(self.hass, "mqtt") if device.name == "kitchen"), None)

    @property
    def event(self):
        """When the last word was told, and which."""
        state = self.hass.states.get(WORD)
        return (state.state, state.attributes.get("event_type")) if state else (None, None)

    async def say(self, name, wanted, seconds=15):
        """Says a word. Returns whether its event came within the seconds."""
        before = self.event[0]

        def is_told():
            return self.event[0] not in (before, "unavailable", "unknown") and self.event[1] == wanted

        await self.job(self.service.microphone.say, name)
        return await within(seconds, is_told)

    async def fires(self, count):
        """Whether the trigger has fired so often; its message follows that of the event."""
        return await within(3, lambda: len(self.fired) == count)

    async def set_slider(self, value):
        await home.call(self.hass, "number", "set_value", SLIDER, value=value)

        async def is_set():
            threshold = (await self.job(self.service.status))["thresholds"].get("left")
            return threshold == float(value) and float(home.state(self.hass, SLIDER)) == float(value)

        return await within(10, is_set)

    async def first(self):
        await self.start()
        hass, service, fired = self.hass, self.service, self.fired
        check(True, f"Home Assistant {home.version} starts")
        newer = {"other_settings": {"set_client_cert": False, "set_ca_cert": "off"}}
        flow = await home.add(hass, "mqtt", {"broker": "127.0.0.1", "port": self.broker.port}, newer)
        check(flow["type"] == "create_entry", "it is connected to the broker")
        found = await within(20, self.is_known(SLIDER))
        entities = home.states(hass, "kitchen")
        sliders = [entity for entity in entities if entity.startswith("number.")]
        ok = found and WORD in entities and MUTE in entities
        form = ", each by a message of its own" if home.is_before(2024, 11) else ""
        check(ok, f"discovery makes {len(entities)} entities, {len(sliders)} of them sliders{form}")
        if not ok:
            return None
        is_well = await within(10, self.has(MICROPHONE, "off")) and home.state(hass, MUTE) == "off"
        check(is_well, "no problem with the microphone, and not muted")
        check(await within(10, self.is_known(LEVEL)), f"the level is {home.state(hass, LEVEL)} dB")
        await watch(hass, self.device, "left", fired)

        check(await self.say("Front_Left", "left"), "a word that is said fires the event entity")
        confidence = hass.states.get(WORD).attributes.get("confidence", 0)
        check(0 < confidence <= 1, f"with its confidence, {confidence}")
        level, ratio = (hass.states.get(WORD).attributes.get(name) for name in ("level", "snr"))
        is_clear = level is not None and -60 < level < 0 and ratio is not None and ratio > 10
        check(is_clear, f"and its level, {level} dB, {ratio} dB above the noise")
        check(await self.fires(1), "and the device trigger, once")
        is_told = await self.say("Front_Right", "right")
        check(is_told and not await within(1, lambda: len(fired) > 1), "another word fires the event, and not this trigger")

        await home.call(hass, "switch", "turn_on", MUTE)

        async def is_muted():
            return (await self.job(service.status)).get("state") == "muted"

        check(await within(10, is_muted) and await within(10, self.has(MUTE, "on")), "the mute switch mutes, and shows it")
        delivered = service.microphone.delivered
        is_told = await self.say("Front_Left", "left", 4)
        is_closed = service.microphone.delivered == delivered
        check(is_closed and not is_told, "the device is closed: nothing is read, no word is found")
        await home.call(hass, "switch", "turn_off", MUTE)
        is_open = await within(10, lambda: service.microphone.delivered > delivered + 16000)
        check(is_open and await within(10, self.has(MUTE, "off")), "the switch off opens it again")
        check(await self.say("Front_Left", "left"), "and words are found")

        usual = home.state(hass, SLIDER)
        check(await self.set_slider(0.999), f"the slider sets the threshold of “left”, which was {usual}, to 0.999")
        before = len(fired)
        check(not await self.say("Front_Left", "left", 5), "“left” needs more than it has")
        missed = hass.states.get(MISS).attributes
        is_missed = missed.get("event_type") == "left" and missed["confidence"] < missed["threshold"] == 0.999
        check(is_missed, f"which is a near miss: {missed.get('confidence')} of {missed.get('threshold')}")
        check(await self.set_slider(usual), f"and back to {usual}")
        check(await self.say("Front_Left", "left") and await self.fires(before + 1), "where it is found")

        await self.job(service.teach, "rear center", "Rear_Center", "Rear_Center", "Rear_Center")
        taught = await within(15, lambda: "rear center" in (hass.states.get(WORD).attributes.get("event_types") or []))
        # Home Assistant reads what is discovered anew about a second later.
        await asyncio.sleep(2)
        check(taught and await self.say("Rear_Center", "rear center"), "a taught word appears, and fires")

        before = len(fired)
        await self.job(self.broker.stop)
        check(await within(20, self.has(WORD, "unavailable")), "the broker is stopped: Home Assistant has no device")
        await self.job(service.microphone.say, "Front_Left")
        await asyncio.sleep(3)
        await self.job(self.broker.start)
        check(await within(90, lambda: self.event[0] not in (None, "unavailable")), "the broker is back: the device too")
        await asyncio.sleep(3)
        check(len(fired) == before, "a word that was said meanwhile does not fire")
        check(await self.say("Front_Left", "left") and await self.fires(before + 1), "the next one does")

        await self.job(service.end, signal.SIGKILL)
        check(await within(20, self.has(WORD, "unavailable")), "the service is killed: the broker says so")
        await self.job(service.start)
        check(await within(20, lambda: self.event[0] != "unavailable"), "the service starts: the device is there again")
        await home.stop(hass)

    async def second(self):
        if not (Path(self.folder) / ".storage/core.device_registry").exists():
            return
        check.restart()
        self.service.microphone.say("Front_Left")
        await asyncio.sleep(3)
        await self.start()
        hass = self.hass
        there = await within(20, self.is_known(SLIDER)) and await within(20, self.has(MUTE, "off"))
        check(there, "Home Assistant is restarted: the device is there with its states")
        if not there:
            return
        await watch(hass, self.device, "left", self.fired)
        await asyncio.sleep(3)
        check(not self.fired, "a word that was said meanwhile does not fire")
        check(await self.say("Front_Left", "left") and await self.fires(1), "the next one does")

        self.service.configure({})
        await self.job(self.service.command, "reload")
        check(await within(20, lambda: not home.states(hass, "kitchen")), "taken out of the configuration: no entity is left")
        check(await within(10, lambda: not self.device), "no device")
        kept = [topic for topic in await self.job(self.broker.kept) if "kitchen" in topic]
        check(not kept, f"and no message at the broker{''.join(' ' + topic for topic in kept)}")
        await self.job(self.service.end)
        await self.job(self.broker.stop)


if Path(MOSQUITTO).exists():
    kitchen = Kitchen(sys.argv[1])
    home.run(kitchen.first, kitchen.second)
else:
    check.skip("MQTT: mosquitto is not installed; apt install mosquitto")
