"""Music of other programs is made quiet while the voice satellite is used: players by MPRIS on a D-Bus of their own."""

import asyncio
import os
import subprocess
import tempfile

from aioesphomeapi import APIClient
from dbus_fast import PropertyAccess
from dbus_fast.aio import MessageBus
from dbus_fast.service import ServiceInterface, dbus_property, method
from peer import BECKON, Checks, Service, free_port, within

check = Checks()


class Player(ServiceInterface):
    """A music player. One that is fixed has a volume that cannot be set."""

    def __init__(self, fixed=False, state="Playing"):
        super().__init__("org.mpris.MediaPlayer2.Player")
        self.fixed, self.state, self.volume, self.volumes = fixed, state, 0.8, []

    @dbus_property()
    def Volume(self) -> "d":  # noqa: F722, F821, N802
        return self.volume

    @Volume.setter
    def set_volume(self, volume: "d"):  # noqa: F722, F821
        self.volumes.append(volume)
        if not self.fixed:
            self.volume = volume

    @dbus_property(access=PropertyAccess.READ)
    def PlaybackStatus(self) -> "s":  # noqa: F722, F821, N802
        return self.state

    @method()
    def Pause(self):  # noqa: N802
        self.state = "Paused"

    @method()
    def Play(self):  # noqa: N802
        self.state = "Playing"


async def serve(name, player):
    bus = await MessageBus().connect()
    bus.export("/org/mpris/MediaPlayer2", player)
    await bus.request_name(f"org.mpris.MediaPlayer2.{name}")
    return bus


async def main():
    daemon = subprocess.Popen(["dbus-daemon", "--session", "--nofork", "--print-address"], stdout=subprocess.PIPE, text=True)
    os.environ["DBUS_SESSION_BUS_ADDRESS"] = daemon.stdout.readline().strip()
    os.environ["XDG_STATE_HOME"] = tempfile.mkdtemp()
    usual, fixed, paused = Player(), Player(fixed=True), Player(state="Paused")
    buses = [await serve("one", usual), await serve("two", fixed), await serve("three", paused)]
    port = free_port()
    settings = {"listen": f"tcp://127.0.0.1:{port}", "words": ["left"], "encryption": False, "duckMusic": True}
    service = await asyncio.to_thread(Service, {"esphome": settings, "speaker": "out"})
    client = APIClient("127.0.0.1", port, None)
    await client.connect(login=True)

    async def start(*_):
        return 0

    async def nothing(*_):
        pass

    client.subscribe_voice_assistant(handle_start=start, handle_stop=nothing, handle_audio=nothing, handle_announcement_finished=nothing)

    async def talk(step):
        return (await asyncio.to_thread(service.command, "talk", step)).returncode == 0

    check(await within(10, lambda: talk("start")), "a button starts a command")
    check(await within(5, lambda: abs(usual.volume - 0.16) < 0.01 and fixed.state == "Paused"), f"music is made quiet ({usual.volume:.2f}), or paused")
    check(paused.volumes == [] and paused.state == "Paused", "what is not played stays as it is")
    await talk("stop")
    check(await within(5, lambda: abs(usual.volume - 0.8) < 0.01 and fixed.state == "Playing"), "and is as loud as before when the assistant waits")
    await talk("start")
    await within(5, lambda: usual.volume < 0.2)
    usual.volume = 0.5
    await talk("stop")
    check(await within(5, lambda: fixed.state == "Playing") and usual.volume == 0.5, "a volume that its user has set meanwhile stays")
    await talk("start")
    await within(5, lambda: usual.volume < 0.2)
    status = await asyncio.to_thread(service.end)
    check(status == 0 and abs(usual.volume - 0.5) < 0.01 and fixed.state == "Playing", "the end of the service makes it as loud as before")
    os.environ["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nowhere"
    service.environment["DBUS_SESSION_BUS_ADDRESS"] = "unix:path=/nowhere"
    await asyncio.to_thread(service.start)
    client = APIClient("127.0.0.1", port, None)
    await client.connect(login=True)
    client.subscribe_voice_assistant(handle_start=start, handle_stop=nothing, handle_audio=nothing, handle_announcement_finished=nothing)
    check(await within(10, lambda: talk("start")) and await within(5, lambda: "music goes on as it is" in service.log.read_text()), "without a D-Bus it is said, and the command goes on")
    service.end()
    for bus in buses:
        bus.disconnect()
    daemon.terminate()


asyncio.run(main())
