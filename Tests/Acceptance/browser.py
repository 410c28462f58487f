"""Chromium with the DevTools protocol, for the judges of pages."""

import base64
import json
import os
import select
import subprocess
import sys
import urllib.parse


class Browser:
    """Chromium with the DevTools protocol over pipes: JSON messages that end with NUL."""

    def __init__(self, folder, *options):
        to_browser, self.send_end = os.pipe()
        self.receive_end, from_browser = os.pipe()
        # Chromium reads from descriptor 3 and writes to 4.
        command = (
            'exec chromium --headless --no-sandbox --disable-gpu --hide-scrollbars --remote-debugging-pipe --no-first-run '
            '--autoplay-policy=no-user-gesture-required --mute-audio "--user-data-dir=$1" "${@:4}" 3<&"$2" 4>&"$3"'
        )
        self.process = subprocess.Popen(
            ["bash", "-c", command, "bash", folder, str(to_browser), str(from_browser), *options],
            pass_fds=[to_browser, from_browser], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self.buffer, self.number, self.events, self.session = b"", 0, [], None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")
        self.call("Network.enable")

    def receive(self):
        while b"\0" not in self.buffer:
            if not select.select([self.receive_end], [], [], 120)[0]:
                sys.exit("browser: Chromium gives no answer for two minutes")
            part = os.read(self.receive_end, 1 << 20)
            if not part:
                sys.exit("browser: Chromium ended")
            self.buffer += part
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        data = json.dumps(message).encode() + b"\0"
        while data:
            data = data[os.write(self.send_end, data) :]
        while True:
            answer = self.receive()
            if answer.get("id") == self.number:
                if "error" in answer:
                    sys.exit(f"browser: {method}: {answer['error']}")
                return answer["result"]
            self.events.append(answer)

    def open(self, path):
        """Opens a page from disk, or an address; returns the addresses that it asked for."""
        self.events.clear()
        address = str(path) if ":" in str(path).split("/")[0] else "file://" + urllib.parse.quote(str(path))
        self.call("Page.navigate", url=address)
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self.receive())
        return [event["params"]["request"]["url"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]

    def run(self, code):
        result = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in result:
            return {"problems": [f"script: {result['exceptionDetails'].get('exception', {}).get('description', '?')}"]}
        return result["result"].get("value")

    def view(self, width, height, media, scheme):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", media=media, features=[{"name": "prefers-color-scheme", "value": scheme}])

    def picture(self, path, width, longest=4500):
        height = min(longest, int(self.run("document.documentElement.scrollHeight")))
        clip = {"x": 0, "y": 0, "width": width, "height": max(1, height), "scale": 1}
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=True, clip=clip)["data"]
        path.write_bytes(base64.b64decode(data))

    def key(self, key, code, text=None):
        for kind in ("keyDown", "keyUp"):
            extra = {"text": text} if text and kind == "keyDown" else {}
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code, **extra)

    def close(self):
        self.session = None
        self.call("Browser.close")
        self.process.wait(timeout=20)
