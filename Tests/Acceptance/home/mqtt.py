"""The real Home Assistant and a real broker: what the service publishes becomes a device, and what the device is told is done.

Usage: mqtt.py FOLDER, with a configuration.yaml in it. Needs Debian's mosquitto.
"""

import asyncio
import json
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
        path = Path(self.folder) / "mosquitto.conf"
        path.write_text(
            f"listener {self.port} 127.0.0.1\nallow_anonymous true\nuser root\n"
            f"persistence true\npersistence_location {self.folder}/\nautosave_interval 1\n"
        )
        self.command = [MOSQUITTO, "-c", str(path)]
        self.start()

    def start(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def stop(self):
        self.process.terminate()
        self.process.wait(10)

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


async def main(folder):
    if not Path(MOSQUITTO).exists():
        return check.skip("MQTT: mosquitto is not installed; apt install mosquitto")
    broker = Broker()
    settings = {"mqtt": {"host": "127.0.0.1", "port": broker.port, "name": "kitchen"}}
    hass = await home.start(folder)
    job = hass.async_add_executor_job
    check(True, f"Home Assistant {home.version} starts")
    flow = await home.add(hass, "mqtt", {"broker": "127.0.0.1", "port": broker.port})
    check(flow["type"] == "create_entry", "it is connected to the broker")
    service = await job(lambda: Service(settings))

    def has(entity, wanted):
        return lambda: home.state(hass, entity) == wanted

    word, mute, microphone = "event.kitchen_word", "switch.kitchen_mute", "binary_sensor.kitchen_microphone"
    slider = "number.kitchen_threshold_left"
    found = await within(20, lambda: home.state(hass, slider) not in (None, "unknown", "unavailable"))
    entities = home.states(hass, "kitchen")
    sliders = [entity for entity in entities if entity.startswith("number.")]
    check(found and word in entities and mute in entities, f"discovery makes {len(entities)} entities, {len(sliders)} of them sliders")
    check(await within(10, has(microphone, "off")) and home.state(hass, mute) == "off", "no problem with the microphone, and not muted")
    level = await within(10, lambda: home.state(hass, "sensor.kitchen_level") not in (None, "unknown", "unavailable"))
    check(level, f"the level is {home.state(hass, 'sensor.kitchen_level')} dB")
    device = next(device for device in home.devices(hass).devices.values() if device.name == "kitchen")
    fired = []
    unwatch = await watch(hass, device, "left", fired)

    def event():
        state = hass.states.get(word)
        return (state.state, state.attributes.get("event_type")) if state else (None, None)

    async def say(name, wanted, seconds=15):
        """Says a word. Returns whether its event came within the seconds."""
        before = event()[0]
        await job(service.microphone.say, name)
        return await within(seconds, lambda: event()[0] not in (before, "unavailable", "unknown") and event()[1] == wanted)

    check(await say("Front_Left", "left"), "a word that is said fires the event entity")
    attributes = hass.states.get(word).attributes
    check(0 < attributes.get("confidence", 0) <= 1, f"with its confidence, {attributes.get('confidence')}")
    check(fired == ["left"], "and the device trigger, once")
    check(await say("Front_Right", "right") and fired == ["left"], "another word fires the event, and not this trigger")

    await home.call(hass, "switch", "turn_on", mute)

    async def is_muted():
        return (await job(service.status)).get("state") == "muted"

    check(await within(10, is_muted) and await within(10, has(mute, "on")), "the mute switch mutes, and shows it")
    delivered = service.microphone.delivered
    check(not await say("Front_Left", "left", 4) and service.microphone.delivered == delivered, "the device is closed: nothing is read, no word is found")
    await home.call(hass, "switch", "turn_off", mute)
    check(await within(10, lambda: service.microphone.delivered > delivered + 16000) and await within(10, has(mute, "off")), "the switch off opens it again")
    check(await say("Front_Left", "left"), "and words are found")

    async def threshold():
        return (await job(service.status))["thresholds"].get("left")

    usual = home.state(hass, slider)

    async def set_slider(value):
        await home.call(hass, "number", "set_value", slider, value=value)

        async def is_set():
            return await threshold() == float(value)

        return await within(10, is_set) and await within(10, lambda: float(home.state(hass, slider)) == float(value))

    check(await set_slider(0.999), f"the slider sets the threshold of “left”, which was {usual}, to 0.999")
    before = len(fired)
    check(not await say("Front_Left", "left", 5), "“left” needs more than it has")
    check(await set_slider(usual) and await say("Front_Left", "left") and len(fired) == before + 1, "set back, it is found")

    await job(service.teach, "rear center", "Rear_Center", "Rear_Center", "Rear_Center")
    taught = await within(15, lambda: "rear center" in (hass.states.get(word).attributes.get("event_types") or []))
    # Home Assistant reads what is discovered anew about a second later.
    await asyncio.sleep(2)
    check(taught and await say("Rear_Center", "rear center"), "a taught word appears, and fires")

    before = len(fired)
    await job(broker.stop)
    check(await within(20, has(word, "unavailable")), "the broker is stopped: Home Assistant has no device")
    await job(service.microphone.say, "Front_Left")
    await asyncio.sleep(3)
    await job(broker.start)
    check(await within(90, lambda: event()[0] not in (None, "unavailable")), "the broker is back: the device too")
    await asyncio.sleep(3)
    check(len(fired) == before, "a word that was said meanwhile does not fire")
    check(await say("Front_Left", "left") and len(fired) == before + 1, "the next one does")

    await job(service.end, signal.SIGKILL)
    check(await within(20, has(word, "unavailable")), "the service is killed: the broker says so")
    await job(service.start)
    check(await within(20, lambda: event()[0] != "unavailable"), "the service starts: the device is there again")

    if unwatch:
        unwatch()
    fired.clear()
    await hass.async_stop(force=True)
    await asyncio.get_running_loop().run_in_executor(None, service.microphone.say, "Front_Left")
    await asyncio.sleep(3)
    hass = await home.start(folder)
    job = hass.async_add_executor_job
    unwatch = await watch(hass, next(device for device in home.devices(hass).devices.values() if device.name == "kitchen"), "left", fired)
    check(await within(20, has(mute, "off")) and await within(20, lambda: home.state(hass, slider) == usual), "Home Assistant is restarted: states are there")
    await asyncio.sleep(2)
    check(not fired, "and the word that was said meanwhile does not fire")
    check(await say("Front_Left", "left") and fired == ["left"], "the next one does")
    if unwatch:
        unwatch()

    service.configure({})
    await job(service.command, "reload")
    check(await within(20, lambda: not home.states(hass, "kitchen")), "taken out of the configuration: no entity is left")
    gone = await within(10, lambda: not any(device.name == "kitchen" for device in home.devices(hass).devices.values()))
    check(gone, "no device")
    kept = [topic for topic in await job(broker.kept) if not topic.startswith("$SYS")]
    check(not [topic for topic in kept if "kitchen" in topic], f"and no message at the broker: {json.dumps(kept)}")
    await job(service.end)
    await hass.async_stop(force=True)
    broker.stop()


asyncio.run(main(sys.argv[1]))
