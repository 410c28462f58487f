"""A speech recogniser by the Wyoming protocol that understands the same in everything, and keeps what it got."""

from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.event import Event, async_read_event, async_write_event
from wyoming.info import Describe

import asyncio

NAME = {"name": "stub", "attribution": {"name": "", "url": ""}, "installed": True, "description": "stub", "version": "1"}
INFO = {"asr": [{**NAME, "models": [{**NAME, "languages": ["en"]}]}], "tts": [], "handle": [], "intent": [], "wake": []}


class Recogniser:
    def __init__(self, text):
        self.text = text
        # The audio of each command, 16-bit samples at 16 kHz.
        self.commands = []

    async def start(self, port):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", port)

    async def serve(self, reader, writer):
        audio = b""
        while event := await async_read_event(reader):
            if Describe.is_type(event.type):
                await async_write_event(Event("info", INFO), writer)
            elif AudioStart.is_type(event.type):
                audio = b""
            elif AudioChunk.is_type(event.type):
                audio += AudioChunk.from_event(event).audio
            elif AudioStop.is_type(event.type):
                self.commands.append(audio)
                await async_write_event(Event("transcript", {"text": self.text}), writer)
        writer.close()
