private import Core

/// Plays the sound of a recording; a line moves over all charts with a ``Chart/time``, and times in tables are buttons.
///
/// Keys: space plays and stops, the arrow keys go a second back and forth (a tenth with Shift), Home and End to the ends. A
/// click into a chart goes to its time.
public struct Player: Sendable {
    private let sound: String
    private let type: String
    private let start: Double

    /// - Parameters:
    ///   - sound: an audio file, such as WAV.
    ///   - type: its media type, such as `audio/wav`.
    ///   - start: the time of its first sample in the charts, in seconds.
    public init(sound: [UInt8], type: String, start: Double) {
        self.sound = base64(sound)
        self.type = type
        self.start = start
    }

    /// The bar at the page's top.
    var bar: Markup {
        .element(
            "div",
            ["class": "player", "role": "region", "aria-label": "Player"],
            [
                .element(
                    "audio",
                    [
                        "controls": "", "preload": "auto", "src": "data:\(type);base64,\(sound)",
                        "data-start": short(start, places: 3),
                    ],
                    [.text("")]
                ),
                .element("output", ["class": "position"], [.text("")]),
                .element(
                    "span",
                    ["class": "keys"],
                    [
                        .text(
                            "Space plays and stops; ← and → go a second, with Shift a tenth. Click into a chart to go there."
                        )
                    ]
                ),
            ]
        )
    }

    var script: Markup { .element("script", [:], [Markup(source: Player.code)]) }

    /// It must not contain `<` or `&`, which XML would parse.
    static let code = """
        "use strict";
        (function () {
          const sound = document.querySelector("audio");
          const output = document.querySelector("output.position");
          const start = Number(sound.dataset.start);
          const heads = Array.from(document.querySelectorAll(".frame.timed"), function (frame) {
            const head = document.createElement("div");
            head.className = "playhead";
            frame.append(head);
            const from = Number(frame.dataset.from), to = Number(frame.dataset.to);
            frame.addEventListener("click", function (event) {
              const box = frame.getBoundingClientRect();
              go(from + (to - from) * (event.clientX - box.left) / box.width);
            });
            return { head: head, from: from, to: to };
          });
          const times = Array.from(document.querySelectorAll("[data-time]"), function (place) {
            const button = document.createElement("button");
            button.type = "button";
            button.textContent = place.textContent;
            button.title = "Play from here";
            button.addEventListener("click", function () { go(Number(place.dataset.time)); sound.play(); });
            place.replaceChildren(button);
            return { row: place.closest("tr"), time: Number(place.dataset.time) };
          });
          function go(time) {
            const last = isFinite(sound.duration) ? sound.duration : 0;
            sound.currentTime = Math.min(Math.max(0, time - start), last);
            show();
          }
          function show() {
            const now = start + sound.currentTime;
            for (const one of heads) {
              const place = (now - one.from) / (one.to - one.from);
              one.head.hidden = 0 > place || place > 1;
              one.head.style.left = 100 * place + "%";
            }
            let row = null;
            for (const one of times) { if (now >= one.time - 0.001) row = one.row; }
            for (const one of times) if (one.row) one.row.classList.toggle("now", one.row === row);
            output.textContent = now.toFixed(1) + " s";
          }
          function follow() { show(); if (!sound.paused) requestAnimationFrame(follow); }
          sound.addEventListener("play", follow);
          for (const name of ["seeked", "timeupdate", "loadedmetadata"]) sound.addEventListener(name, show);
          document.addEventListener("keydown", function (event) {
            if (event.ctrlKey || event.altKey || event.metaKey) return;
            const place = event.target;
            // The player's own keys, and the key that presses a button.
            if (place === sound) return;
            if (event.key === " " ? place.closest("button, summary, a") : false) return;
            const now = start + sound.currentTime, step = event.shiftKey ? 0.1 : 1;
            if (event.key === " ") { if (sound.paused) sound.play(); else sound.pause(); }
            else if (event.key === "ArrowLeft") go(now - step);
            else if (event.key === "ArrowRight") go(now + step);
            else if (event.key === "Home") go(start);
            else if (event.key === "End") go(start + sound.duration);
            else return;
            event.preventDefault();
          });
          show();
        })();

        """
}
