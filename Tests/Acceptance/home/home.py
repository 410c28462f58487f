"""The real Home Assistant in this process: starting it, its entities, its integrations."""

import logging

from homeassistant import bootstrap
from homeassistant.const import __version__ as version
from homeassistant.helpers import device_registry, entity_registry
from homeassistant.runner import RuntimeConfig

# Only what is wrong; it would say that it has no frontend.
logging.basicConfig(level=logging.ERROR)


async def start(folder):
    hass = await bootstrap.async_setup_hass(RuntimeConfig(config_dir=folder, skip_pip=True))
    await hass.async_start()
    await hass.async_block_till_done()
    return hass


async def add(hass, domain, data):
    """Adds an integration as its dialogue does. Returns the flow's result."""
    flows = hass.config_entries.flow
    result = await flows.async_init(domain, context={"source": "user"})
    if result["type"] == "form":
        result = await flows.async_configure(result["flow_id"], data)
    await hass.async_block_till_done()
    return result


def states(hass, text):
    """The states of all entities whose id has this text, by id."""
    return {state.entity_id: state for state in hass.states.async_all() if text in state.entity_id}


def state(hass, entity):
    found = hass.states.get(entity)
    return found.state if found else None


def entities(hass, entry):
    """The entities of an integration's entry, by platform and the end of their unique ids."""
    return entity_registry.async_entries_for_config_entry(entity_registry.async_get(hass), entry.entry_id)


def devices(hass):
    return device_registry.async_get(hass)


async def call(hass, domain, service, entity, **data):
    await hass.services.async_call(domain, service, {"entity_id": entity, **data}, blocking=True)
