"""A voice by the Wyoming protocol that says the same to everything."""

import asyncio

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Event, async_read_event, async_write_event
from wyoming.info import Describe

NAME = {"name": "stub", "attribution": {"name": "", "url": ""}, "installed": True, "description": "stub", "version": "1"}
INFO = {"asr": [], "tts": [{**NAME, "voices": [{**NAME, "languages": ["en"]}]}], "handle": [], "intent": [], "wake": []}


class Speaker:
    def __init__(self, samples):
        self.samples = samples
        # Texts that were said.
        self.said = 0

    async def start(self, port):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", port)

    async def serve(self, reader, writer):
        while event := await async_read_event(reader):
            if Describe.is_type(event.type):
                await async_write_event(Event("info", INFO), writer)
            elif event.type == "synthesize":
                self.said += 1
                await async_write_event(AudioStart(16000, 2, 1).event(), writer)
                await async_write_event(AudioChunk(16000, 2, 1, self.samples).event(), writer)
                await async_write_event(AudioStop().event(), writer)
        writer.close()
