"""Words of a satellite, which is the `wyoming` client of PyPI, on the live page: part of `run`."""

import json
import subprocess

CLIENT = """
import asyncio, sys, wave
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncClient

async def main():
    async with AsyncClient.from_uri(sys.argv[1]) as client:
        with wave.open(sys.argv[2]) as file:
            form = (file.getframerate(), file.getsampwidth(), file.getnchannels())
            await client.write_event(AudioStart(*form).event())
            while audio := file.readframes(1024):
                await client.write_event(AudioChunk(*form, audio).event())
        await client.write_event(AudioStop().event())
        event = await asyncio.wait_for(client.read_event(), 20)
        print(event.type, event.data.get("name"))

asyncio.run(main())
"""


def judge(service, browser, check, within, picture, python, port, voice):
    """Judges the page of a service that has the word "rear center", and calls clients from this machine "kitchen"."""
    print("\nA satellite")
    text = lambda selector: browser.run(f"document.querySelector({json.dumps(selector)}).textContent")  # noqa: E731
    click = lambda selector: browser.run(f"document.querySelector({json.dumps(selector)}).click()")  # noqa: E731
    takes = lambda: json.loads(service.beckon("words", "--json", "--words", f"{service.folder}/words").splitlines()[0])["takes"]  # noqa: E731
    check(browser.run("!document.querySelector('#clients-section').hidden") and text("#clients") == "", "the page has a place for words of satellites")
    done = subprocess.run([python, "-c", CLIENT, f"tcp://127.0.0.1:{port}", str(voice)], capture_output=True, text=True)
    check(done.stdout == "detection rear center\n", f"the wyoming client is told of the word: {done.stdout}{done.stderr[-200:]}")
    check(within(20, lambda: "kitchen ·" in text("#clients") and "rear center" in text("#clients")), f"it is listed with the client's name: {text('#clients li')}")
    browser.run("misses.player.muted = true")
    click("#clients button[aria-label^='Play rear center of kitchen']")
    check(within(10, lambda: browser.run("misses.player.src !== '' && misses.player.duration > 1 && misses.player.currentTime > 0.2")), "its sound is played")
    for path in ("/misses", "/clients/1.wav"):
        answer = browser.run(f"fetch({json.dumps(path)}).then(answer => answer.status)")
        check(answer == 403, f"without a token: {path} is refused ({answer})")
    told = service.beckon("misses", "--json", "--socket", f"{service.folder}/control.socket")
    check("kitchen" not in told, "the control socket does not tell what was said to satellites")
    before = takes()
    browser.run("scrollTo(0, 0)")
    picture("satellites")
    use = "#clients button[aria-label='Add this to the takes of rear center']"
    browser.run(f"window.used = document.querySelector({json.dumps(use)}), used.click()")
    check(within(10, lambda: browser.run("used.textContent === '✓'")), f"it becomes a take by one click: {text('#message')}")
    check(within(5, lambda: takes() == before + 1), f"and is stored: {before} takes before, {takes()} now")
    click("#clients button[aria-label='This is not rear center']")
    check(within(10, lambda: "nothing was changed" in text("#message") and "beckon" not in text("#message")), f"the word itself cannot be its negative: {text('#message')}")
