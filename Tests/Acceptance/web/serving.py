"""The page of `beckon serve`: the `wyoming` client of PyPI is a satellite, at which a word is taught from Chromium; part of `run`.

By itself: serving.py BECKON PYTHON, where PYTHON has the package wyoming."""

import json
import os
import random
import signal
import socket
import subprocess
import sys
import tempfile
import time
import wave
from pathlib import Path

VOICES = Path("/usr/share/sounds/alsa")

SATELLITE = """
import asyncio, sys, wave
from wyoming.audio import AudioChunk, AudioStart, AudioStop
from wyoming.client import AsyncClient
from wyoming.info import Attribution, Info, Satellite

async def main():
    async with AsyncClient.from_uri(sys.argv[1]) as client:
        if sys.argv[3]:
            about = Satellite(name=sys.argv[3], attribution=Attribution(name="test", url=""), installed=True, description="", version="1")
            await client.write_event(Info(satellite=about).event())
        with wave.open(sys.argv[2]) as file:
            form = (file.getframerate(), file.getsampwidth(), file.getnchannels())
            await client.write_event(AudioStart(*form).event())
            # As it is spoken.
            while audio := file.readframes(form[0] // 10):
                await client.write_event(AudioChunk(*form, audio).event())
                await asyncio.sleep(0.1)
        await client.write_event(AudioStop().event())
        event = await asyncio.wait_for(client.read_event(), 20)
        print(event.type, event.data.get("name"))

asyncio.run(main())
"""


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def spoken(voice, path, gain=1.0):
    """Writes a voice with quiet around it."""
    with wave.open(str(voice)) as file:
        form, samples = file.getparams(), memoryview(file.readframes(file.getnframes())).cast("h")
    noise = lambda seconds: [random.randint(-30, 30) for _ in range(int(form.framerate * seconds))]  # noqa: E731
    with wave.open(str(path), "wb") as file:
        file.setparams(form)
        file.writeframes(b"".join(int(one).to_bytes(2, "little", signed=True) for one in noise(1) + [one * gain for one in samples] + noise(1.5)))


def judge(folder, beckon, python, browser, check, within, picture=lambda name: None):
    print("\nA wake-word server without a microphone")
    server, page = free_port(), free_port()
    environment = {
        **os.environ, "XDG_CONFIG_HOME": str(folder), "XDG_STATE_HOME": str(folder), "XDG_RUNTIME_DIR": str(folder),
        "BECKON_WORDS": str(folder / "words"), "BECKON_SOCKET": "",
    }  # fmt: skip
    log = open(folder / "serve-log", "w")
    process = subprocess.Popen(
        [beckon, "serve", "--listen", f"tcp://127.0.0.1:{server}", "--web", f"tcp://127.0.0.1:{page}"], env=environment, stdout=log, stderr=log
    )
    tool = lambda *words: subprocess.run([beckon, *words], env=environment, capture_output=True, text=True).stdout  # noqa: E731
    text = lambda selector: browser.run(f"document.querySelector({json.dumps(selector)}).textContent")  # noqa: E731
    click = lambda selector: browser.run(f"document.querySelector({json.dumps(selector)}).click()")  # noqa: E731

    def say(voice, name="", gain=1.0):
        spoken(VOICES / f"{voice}.wav", folder / "said.wav", gain)
        return subprocess.Popen([python, "-c", SATELLITE, f"tcp://127.0.0.1:{server}", str(folder / "said.wav"), name], stdout=subprocess.PIPE, text=True)

    try:
        check(within(20, lambda: tool("web", "link").startswith("http://")), "the server says where its page is")
        browser.open(tool("web", "link").strip())
        check(within(10, lambda: "none has sent audio yet" in text("#status-text")), f"the page waits for satellites: {text('#status-text')}")
        check(say("Rear_Left", "Kitchen").communicate()[0] == "detection left\n", "the wyoming client is told of a word")
        check(within(10, lambda: "left at Kitchen" in text("#heard")), f"the page tells it with the satellite's name: {text('#heard')}")
        check("Kitchen: heard left (" in (folder / "serve-log").read_text(), "so does the log")
        check(within(10, lambda: "Kitchen" in text("#clients")), "it is among the recent words")
        satellite = say("Rear_Right", "Kitchen")
        check(within(10, lambda: "Listening to Kitchen" in text("#status-text")), f"the satellite is shown by itself: {text('#status-text')}")
        check(within(10, lambda: browser.run("[...document.querySelectorAll('.word .score')].some(one => parseInt(one.textContent) > 50)")), "with its scores")
        check(within(10, lambda: browser.run("sound.end > 0")), "and its sound")
        satellite.communicate()
        picture("satellite-chosen")

        browser.run("document.querySelector('#teach-name').value = 'rear center', document.querySelector('#teach-begin button').click()")
        check(within(10, lambda: "at Kitchen" in text("#teach-prompt")), f"a take is recorded there: {text('#teach-prompt')}")
        for count, gain in enumerate([1, 0.7, 0.5]):
            click("#teach-record")
            check(within(10, lambda: text("#teach-prompt").startswith("Speak now")), f"it asks to speak: {text('#teach-prompt')}")
            say("Rear_Center", "Kitchen", gain).communicate()
            check(within(20, lambda: browser.run("teaching.state.takes.length") == count + 1), f"take {count + 1} is what it heard next {text('#teach-message')}")
            if count == 0:
                click("#teach-save")
                check(within(5, lambda: "One take shows little" in text("#message") and text("#teach-save") == "Save all the same"), "saving one take asks first")
        check(within(5, lambda: "Said as in the takes" in text("#estimate")), f"there is an estimate: {text('#estimate')}")
        picture("satellite-taught")
        click("#teach-save")
        check(within(10, lambda: "is saved" in text("#saved") and "Said as in the takes" in text("#saved")), f"and after saving, too: {text('#saved')}")
        check(within(20, lambda: say("Rear_Center", "Kitchen").communicate()[0] == "detection rear center\n"), "the word is found at the satellite")
        browser.run("document.querySelector('#name-source').click()")
        browser.run("document.querySelector('#source-name').value = 'Larder', document.querySelector('#name-source').click()")
        check(within(10, lambda: "Larder" in text("#source")), f"the satellite gets another name: {text('#source')}")
        both = [say("Rear_Left"), say("Rear_Left")]
        check(within(10, lambda: "127.0.0.1 (2)" in text("#source")), f"streams of one address are told apart: {text('#source')}")
        check([one.communicate()[0] for one in both] == ["detection left\n"] * 2, "and both are answered")
    finally:
        process.send_signal(signal.SIGTERM)
        check(process.wait(10) == 0, "the server ends")


def main():
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
    from browser import Browser

    failed = []

    def check(passed, text):
        print("ok    " if passed else "FAILED", text, flush=True)
        if not passed:
            failed.append(text)

    def within(seconds, condition):
        end = time.monotonic() + seconds
        while True:
            value = condition()
            if value or time.monotonic() > end:
                return value
            time.sleep(0.1)

    with tempfile.TemporaryDirectory() as name:
        browser = Browser(f"{name}/profile")
        try:
            browser.view(390, 844, "screen", "light")
            judge(Path(name), sys.argv[1], sys.argv[2], browser, check, within)
        finally:
            browser.close()
    sys.exit(bool(failed))


if __name__ == "__main__":
    main()
