"""The real Home Assistant as a client of the server: it finds it, lists its words, streams audio and gets the detection.

Usage: wake_server.py FOLDER, with a configuration.yaml in it.
"""

import asyncio
import socket
import subprocess
import sys

from homeassistant import bootstrap
from homeassistant.runner import RuntimeConfig
from peer import Checks, Server, free_port, voice, within
from zeroconf.asyncio import AsyncZeroconf

check = Checks()


def wake_entity(hass):
    state = hass.states.async_all("wake_word")[0]
    try:
        from homeassistant.helpers.entity_component import DATA_INSTANCES

        return hass.data[DATA_INSTANCES]["wake_word"].get_entity(state.entity_id)
    except (ImportError, KeyError):
        return hass.data["wake_word"].get_entity(state.entity_id)


async def stream(pcm):
    """Audio as Home Assistant's pipeline gives it: 10 ms at a time."""
    for place in range(0, len(pcm), 320):
        yield pcm[place : place + 320], place // 32
        await asyncio.sleep(0.001)


async def announced(job):
    """A server for the network is found by mDNS, if the daemon runs."""
    if subprocess.run(["pidof", "avahi-daemon"], stdout=subprocess.DEVNULL).returncode:
        return check.skip("mDNS: avahi-daemon does not run")
    port = free_port()
    server = await job(lambda: Server(f"tcp://0.0.0.0:{port}"))
    browser = AsyncZeroconf()

    async def is_found():
        name = f"beckon on {socket.gethostname()}._wyoming._tcp.local."
        info = await browser.async_get_service_info("_wyoming._tcp.local.", name, 1000)
        return info and info.port == port

    check(await within(10, is_found), f"a server for the network is announced by mDNS as beckon on {socket.gethostname()}")
    await browser.async_close()
    await job(server.stop)


async def main(folder):
    port = free_port()
    server = Server(f"tcp://127.0.0.1:{port}")
    hass = await bootstrap.async_setup_hass(RuntimeConfig(config_dir=folder, skip_pip=True))
    await hass.async_start()
    from homeassistant.const import __version__

    check(True, f"Home Assistant {__version__} starts")
    flow = await hass.config_entries.flow.async_init(
        "wyoming", context={"source": "user"}, data={"host": "127.0.0.1", "port": port}
    )
    check(flow["type"] == "create_entry" and flow["title"] == "beckon", f"the config flow finds the server: {flow.get('title')}")
    await hass.async_block_till_done()
    entity = wake_entity(hass)
    words = [word.id for word in await entity.get_supported_wake_words()]
    check({"left", "stop", "go"} <= set(words), f"its words are listed: {', '.join(words)}")
    found = await asyncio.wait_for(entity.async_process_audio_stream(stream(voice("Front_Left")), "left"), 30)
    check(found and found.wake_word_id == "left", f"audio is streamed, and “left” detected at {found and found.timestamp} ms")
    check(found and found.wake_word_phrase == "left", "with its phrase")
    found = await asyncio.wait_for(entity.async_process_audio_stream(stream(voice("Front_Left")), "right"), 30)
    check(found is None, "“left” does not wake an assistant that waits for “right”")
    found = await asyncio.wait_for(entity.async_process_audio_stream(stream(voice("Front_Right")), None), 30)
    check(found and found.wake_word_id == "right", "an assistant that waits for any word gets “right”")
    # Home Assistant does not let its loop wait for a process.
    job = hass.async_add_executor_job
    await job(server.teach, "rear center", "Rear_Center", "Rear_Center", "Rear_Center")

    async def is_listed():
        return "rear center" in [word.id for word in await entity.get_supported_wake_words()]

    # Since 2026 Home Assistant asks every 30 s.
    check(await within(40, is_listed), "a taught word is listed without a restart")
    found = await asyncio.wait_for(entity.async_process_audio_stream(stream(voice("Rear_Center")), "rear center"), 30)
    check(found and found.wake_word_id == "rear center", "and detected")
    status, _ = await job(server.stop)
    words = server.words
    server = await job(lambda: Server(f"tcp://127.0.0.1:{port}", words=words))
    found = await asyncio.wait_for(entity.async_process_audio_stream(stream(voice("Front_Left")), "left"), 30)
    check(status == 0 and found and found.wake_word_id == "left", "after a restart of the server “left” is detected")
    await job(server.stop)
    await announced(job)
    await hass.async_stop(force=True)


asyncio.run(main(sys.argv[1]))
