"""The real Home Assistant in this process: starting it, its entities, its integrations."""

import asyncio
import logging
import os
import sys
import traceback

from homeassistant import bootstrap
from homeassistant.const import __version__ as version
from homeassistant.helpers import device_registry
from homeassistant.runner import RuntimeConfig

# Its pages are 200 MB, and nobody looks at them; without them it would go into a recovery mode.
bootstrap.CRITICAL_INTEGRATIONS = set()
logging.basicConfig(level=logging.ERROR)


def run(*phases):
    """Runs coroutine functions one after the other, each in a process of its own, as Home Assistant cannot be started twice in one."""
    for phase in phases:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            try:
                # Not asyncio.run, which would wait for all that Home Assistant does besides.
                asyncio.new_event_loop().run_until_complete(phase())
                sys.stdout.flush()
                os._exit(0)
            except BaseException:
                traceback.print_exc()
                os._exit(1)
        if os.waitpid(child, 0)[1]:
            sys.exit(1)


async def start(folder):
    hass = await bootstrap.async_setup_hass(RuntimeConfig(config_dir=folder, skip_pip=True))
    await hass.async_start()
    await hass.async_block_till_done()
    return hass


async def stop(hass):
    """Lets it write what it keeps, as at its end; the process ends without waiting for what it does besides."""
    hass.bus.async_fire("homeassistant_final_write")
    await asyncio.sleep(2)


async def add(hass, domain, data, newer=None):
    """Adds an integration as its dialogue does, with what newer versions' dialogues ask besides. Returns the flow's result."""
    flows = hass.config_entries.flow
    result = await flows.async_init(domain, context={"source": "user"})
    if result["type"] == "form":
        asked = set(map(str, result["data_schema"].schema))
        data |= {key: value for key, value in (newer or {}).items() if key in asked}
        result = await flows.async_configure(result["flow_id"], data)
    await hass.async_block_till_done()
    return result


def is_before(year, month):
    return tuple(int(part) for part in version.split(".")[:2]) < (year, month)


def states(hass, text):
    """The states of all entities whose id has this text, by id."""
    return {state.entity_id: state for state in hass.states.async_all() if text in state.entity_id}


def state(hass, entity):
    found = hass.states.get(entity)
    return found.state if found else None


def devices(hass, domain):
    """The devices of an integration."""
    registry = device_registry.async_get(hass)
    entries = hass.config_entries.async_entries(domain)
    return [device for entry in entries for device in device_registry.async_entries_for_config_entry(registry, entry.entry_id)]


async def call(hass, domain, service, entity, **data):
    await hass.services.async_call(domain, service, {"entity_id": entity, **data}, blocking=True)
