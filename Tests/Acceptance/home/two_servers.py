"""Two servers behind HAProxy: clients are spread, one server is killed, and nothing is lost but its open streams."""

import asyncio
import os
import signal
import subprocess
import tempfile
from pathlib import Path

from peer import Checks, Server, free_port, voice, within
from wyoming.client import AsyncClient
from wyoming.info import Describe, Info
from wyoming.wake import Detection
from wyoming_client import run

check = Checks()

CONFIGURATION = """
global
    log stdout format raw local0 notice
listen wyoming
    mode tcp
    bind 127.0.0.1:{port}
    balance leastconn
    timeout connect 2s
    timeout client 1h
    timeout server 1h
    option httpchk GET /readyz
    default-server check inter 200ms fall 2 rise 1
    server one 127.0.0.1:{one} port {web_one}
    server two 127.0.0.1:{two} port {web_two}
"""


def connections(server):
    """Established connections of a process, as the system sees them."""
    number = len([1 for entry in os.scandir(f"/proc/{server.process.pid}/fd") if "socket:" in os.readlink(entry.path)])
    return number


async def main():
    port, one, two, web_one, web_two = (free_port() for _ in range(5))
    servers = [
        Server(f"tcp://127.0.0.1:{wake}", options=("--web", f"tcp://127.0.0.1:{web}"))
        for wake, web in [(one, web_one), (two, web_two)]
    ]
    path = Path(tempfile.mkdtemp()) / "haproxy.cfg"
    path.write_text(CONFIGURATION.format(port=port, one=one, two=two, web_one=web_one, web_two=web_two))
    proxy = subprocess.Popen(["haproxy", "-db", "-f", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    async def is_up():
        try:
            async with AsyncClient.from_uri(f"tcp://127.0.0.1:{port}") as client:
                await client.write_event(Describe().event())
                return Info.from_event(await asyncio.wait_for(client.read_event(), 2)).wake
        except (OSError, AttributeError, asyncio.TimeoutError):
            return False

    check(await within(10, is_up), "a client reaches a server through HAProxy")
    before = [connections(server) for server in servers]
    clients = [AsyncClient.from_uri(f"tcp://127.0.0.1:{port}") for _ in range(20)]
    for client in clients:
        await client.connect()
    await asyncio.sleep(0.5)
    shares = [connections(server) - count for server, count in zip(servers, before)]
    check(min(shares) >= 8, f"20 clients are spread: {shares[0]} and {shares[1]}, besides the checks of HAProxy")
    events = await asyncio.gather(*(run(client, voice("Side_Left")) for client in clients))
    check(all(Detection.from_event(event).name == "left" for event in events), "each gets its detection")

    servers[0].process.send_signal(signal.SIGKILL)
    servers[0].process.wait()

    async def serve(client):
        try:
            event = await run(client, voice("Side_Right"))
            return event is not None and Detection.from_event(event).name == "right"
        except (OSError, asyncio.TimeoutError):
            return False

    survivors = await asyncio.gather(*(serve(client) for client in clients))
    check(survivors.count(True) >= 8, f"one server is killed: {survivors.count(True)} of 20 open streams go on")
    lost = [client for client, survived in zip(clients, survivors) if not survived]

    async def again():
        results = []
        for _ in lost:
            async with AsyncClient.from_uri(f"tcp://127.0.0.1:{port}") as client:
                results.append(await serve(client))
        return all(results)

    check(await within(10, again), f"the other {len(lost)} clients connect again, and are served by the other server")
    proxy.terminate()
    servers[1].stop()


asyncio.run(main())
