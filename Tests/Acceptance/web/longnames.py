"""Names that are long, have no blanks, or are written from right to left, on the live page at the widths of phones and desks: nothing
leaves its card, and no name runs into the figure beside it.

The page's own files are served here, with a service that has such names: python3 Tests/Acceptance/web/longnames.py [FOLDER for pictures]
"""

import http.server
import json
import sys
import tempfile
import threading
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent)]

from browser import Browser  # noqa: E402

PAGE = HERE.parent.parent.parent / "Sources/Service/Integrations/Web/Page"
WIDTHS = [(320, 800), (390, 844), (768, 1024), (1400, 1000)]
NAMES = ["stop", "backward", "x" * 100, "wonderful_computer_" * 5, "שלום" * 20, "حاسوب رائع", "你好世界" * 25, "turn the light in the kitchen on "]
DATE = "2026-11-28T10:20:30.000Z"


def stream():
    words = [
        {"name": name, "kind": "taught" if index % 2 else "word", "inSession": index == 3, "threshold": 0.8}
        for index, name in enumerate(NAMES * 4)
    ]
    service = {"machine": "y" * 64, "version": "0", "model": "z" * 100, "mode": "spot", "confirm": "none", "classes": words}
    state = {
        "muted": False, "source": "hw:CARD=" + "Q" * 90 + ",DEV=0", "problem": None, "session": None, "position": None,
        "level": -30, "peak": -20, "scores": [[index, 0.941] for index in range(len(words))],
    }  # fmt: skip
    messages = [("access", {"token": True}), ("service", service)]
    for index, name in enumerate(NAMES):
        event = {"event": "word", "word": name, "date": DATE, "confidence": 1.0, "start": 0, "end": 0}
        if index % 3 == 1:
            event |= {"event": "yielded", "to": "k" * 60}
        if index % 3 == 2:
            event["ownSpeech"] = True
        messages.append(("heard", event))
    messages.append(("state", state))
    return "".join(f"event: {kind}\ndata: {json.dumps(data)}\n\n" for kind, data in messages).encode()


def recent(client):
    words = []
    for index, name in enumerate(NAMES):
        one = {"number": index, "word": name, "event": "word" if index % 2 else "near-miss", "confidence": 0.9876}
        one |= {"threshold": 1.0, "date": DATE, "clip": "/" + "f" * 90}
        if client:
            one["client"] = "c" * 80 if index % 2 else f"client {index}"
        words.append(one)
    return words


def lesson(is_open, is_typing):
    state = {"word": None, "taught": NAMES, "takes": [], "wanted": 5, "recording": False, "speech": False, "estimate": []}
    state |= {"typed": NAMES, "typing": None}
    if is_typing:
        ways = [{"sounds": "h eɪ " * 30, "playable": True}, {"sounds": "h", "playable": False}]
        promise = [{"sensitivity": name, "found": 0.9, "falseAcceptsPerHour": 0.6} for name in ("strict", "balanced", "eager")]
        state["typing"] = {"word": "x" * 100, "pronunciations": ways, "expected": promise, "remarks": ["r" * 120], "refusal": "f" * 120, "silence": "s" * 120}
    if is_open:
        takes = [{"envelope": [0.5] * 40, "seconds": 1.2, "note": "w" * 90}] * 3
        state |= {"word": "x" * 100, "takes": takes, "message": "m" * 120, "estimate": ["e" * 120]}
    return state


class Handler(http.server.BaseHTTPRequestHandler):
    is_open = is_typing = False

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = self.path.split("?")[0].strip("/") or "live-page.html"
        answers = {
            "live": ("text/event-stream", stream),
            "misses": ("application/json", lambda: json.dumps({"on": True, "misses": recent(False), "clients": recent(True)}).encode()),
            "teaching": ("application/json", lambda: json.dumps(lesson(Handler.is_open, Handler.is_typing)).encode()),
        }
        file = PAGE / path
        if path in answers:
            kind, make = answers[path]
            body = make()
        elif file.is_file():
            kind = {"html": "text/html", "css": "text/css", "js": "text/javascript"}[file.suffix[1:]]
            body = file.read_bytes()
        else:
            return self.send_error(404)
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.end_headers()
        self.wfile.write(body)
        # The stream of messages stays open.
        if path == "live":
            self.wfile.flush()
            threading.Event().wait(600)


# What leaves its card or the page, and names that lie over the figures and buttons of their row.
PROBLEMS = """(() => {
  const found = [], say = (text, one) => found.push(text + ": " + one.textContent.slice(0, 30));
  const inked = (one) => { const range = document.createRange(); range.selectNodeContents(one); return [...range.getClientRects()]; };
  const isShown = (one) => one.getClientRects().length > 0;
  if (document.documentElement.scrollWidth > innerWidth) found.push("the page is wider than the window");
  for (const card of document.querySelectorAll("section, header, footer")) {
    const edge = card.getBoundingClientRect();
    for (const one of card.querySelectorAll("*")) {
      if (!isShown(one) || one.closest("[hidden]")) continue;
      for (const ink of inked(one))
        if (ink.width > 0.5 && (ink.right > edge.right + 1 || ink.left < edge.left - 1)) { say(`leaves ${card.id || card.tagName}`, one); break; }
    }
  }
  for (const row of document.querySelectorAll("#words .word, #heard li, #misses li, #clients li, #taught li, #takes li, #ways li")) {
    if (!isShown(row)) continue;
    const parts = [...row.children].filter(isShown);
    for (const [index, one] of parts.entries()) for (const other of parts.slice(index + 1))
      for (const a of inked(one)) for (const b of [...inked(other), other.getBoundingClientRect()])
        if (a.width > 0.5 && b.width > 0.5 && a.right > b.left + 1 && b.right > a.left + 1 && a.bottom > b.top + 1 && b.bottom > a.top + 1) {
          say(`lies over its neighbour in ${row.parentElement.id}`, one); }
  }
  return [...new Set(found)];
})()"""


def judge(browser, check, folder=None):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    for shown in ("page", "lesson", "typing"):
        Handler.is_open, Handler.is_typing = shown == "lesson", shown == "typing"
        for scheme in ("light", "dark"):
            for width, height in WIDTHS:
                browser.view(width, height, "screen", scheme)
                browser.open(f"http://127.0.0.1:{server.server_address[1]}/")
                browser.run(
                    "new Promise((done) => { const look = () => document.querySelectorAll('#misses li').length"
                    " && document.querySelectorAll('#taught li').length ? setTimeout(done, 300) : setTimeout(look, 50); look(); })"
                )
                problems = browser.run(PROBLEMS)
                problems = problems["problems"] if isinstance(problems, dict) else problems
                what = f"long names at {width} px, {scheme}, {shown}"
                check(not problems, what + "".join(f"\n          {one}" for one in problems[:12]))
                if folder:
                    browser.picture(Path(folder) / f"names-{width}-{scheme}-{shown}.png", width, 9000)
    server.shutdown()


if __name__ == "__main__":
    failed = []

    def tell(passed, text):
        print("ok    " if passed else "FAILED", text)
        failed.extend([] if passed else [text])

    with tempfile.TemporaryDirectory() as profile:
        page = Browser(profile)
        judge(page, tell, sys.argv[1] if len(sys.argv) > 1 else None)
        page.close()
    sys.exit(1 if failed else 0)
