/// The live page's script: reads the stream of messages, draws, and sends changes.
enum LivePageScript {
    static let text = #"""
        "use strict";
        const $ = (id) => document.getElementById(id);
        const root = document.documentElement;
        const percent = (share) => `${Math.round(share * 100)} %`;

        // ---- The token: from a link's fragment, which no server sees, or from this browser's storage.

        const store = {
          get token() { try { return localStorage.getItem("token") || ""; } catch { return this.kept || ""; } },
          set token(text) {
            this.kept = text;
            try { text ? localStorage.setItem("token", text) : localStorage.removeItem("token"); } catch { }
          },
        };
        const takeFragment = () => {
          const given = /^#token=([0-9a-f]{64})$/.exec(location.hash);
          if (given) { store.token = given[1]; history.replaceState(null, "", location.pathname); }
          return !!given;
        };
        takeFragment();
        let mayChange = false;
        let opening = null;

        const showAccess = () => {
          $("unlock").hidden = mayChange;
          $("unlocked").hidden = !mayChange;
          $("picture").classList.toggle("locked", !mayChange);
          $("mute").disabled = !mayChange;
          $("mute").title = mayChange ? "" : "needs the token";
          for (const row of rows) if (row.slider) row.slider.disabled = !mayChange || row.inSession;
        };

        $("unlock").addEventListener("submit", (event) => {
          event.preventDefault();
          store.token = $("token").value.trim();
          $("token").value = "";
          say("");
          reopen();
        });
        $("lock").addEventListener("click", () => { store.token = ""; reopen(); });
        addEventListener("hashchange", () => { if (takeFragment()) reopen(); });
        const say = (text) => { $("message").textContent = text; };

        const send = async (change) => {
          try {
            const answer = await fetch("/control", {
              method: "POST",
              headers: { "Content-Type": "application/json", "X-Beckon-Token": store.token },
              body: JSON.stringify(change),
            });
            const text = await answer.text();
            if (answer.ok) { say(""); return true; }
            let reason = text.trim();
            try { reason = JSON.parse(text).error || reason; } catch { }
            say(reason);
          } catch { say("The change could not be sent."); }
          return false;
        };

        // ---- The stream of messages. EventSource cannot send the token, so the stream is read by hand.

        let retry = 500;
        const reopen = () => { if (opening) opening.abort(); };
        const follow = async () => {
          for (;;) {
            opening = new AbortController();
            try { await read(opening.signal); } catch { }
            if (opening.signal.aborted) { retry = 500; continue; }
            setStatus("bad", "No connection to the service; trying again");
            await new Promise((done) => setTimeout(done, retry));
            retry = Math.min(retry * 2, 5000);
          }
        };
        const read = async (signal) => {
          const token = store.token;
          const answer = await fetch("/live", { signal, headers: token ? { "X-Beckon-Token": token } : {} });
          if (answer.status === 403 && token) {
            store.token = "";
            say("The token is not valid any more.");
            retry = 0;
            return;
          }
          if (!answer.ok) return say((await answer.text()).trim());
          const reader = answer.body.getReader();
          const decoder = new TextDecoder();
          let rest = "";
          sound.clear();
          $("heard").replaceChildren();
          for (;;) {
            const part = await reader.read();
            if (part.done) return;
            const messages = (rest + decoder.decode(part.value, { stream: true })).split("\n\n");
            rest = messages.pop();
            for (const message of messages) {
              const [, kind, data] = /^event: (\w+)\ndata: (.*)$/s.exec(message) || [];
              if (receivers[kind]) receivers[kind](JSON.parse(data));
            }
            retry = 500;
          }
        };

        const receivers = {
          access: (access) => { mayChange = access.token; showAccess(); },
          service: (service) => {
            $("machine").textContent = service.machine;
            document.title = `Beckon on ${service.machine}`;
            $("about").textContent = `Beckon ${service.version} · model ${service.model} · ${service.mode} mode ·`;
            showWords(service.classes);
          },
          state: (state) => showState(state),
          heard: (event) => showHeard(event),
          sound: (part) => sound.add(part),
        };

        // ---- State

        const setStatus = (kind, text) => {
          $("status").className = kind;
          if ($("status-text").textContent !== text) $("status-text").textContent = text;
        };
        let isMuted = null;
        const held = { peak: -120, time: 0 };
        const showState = (state) => {
          isMuted = state.muted;
          $("mute").hidden = isMuted === null;
          $("mute").setAttribute("aria-pressed", String(isMuted === true));
          $("mute").textContent = isMuted ? "Muted" : "Mute";
          const source = state.source || "a microphone";
          if (state.muted) setStatus("", "Muted: the microphone is closed");
          else if (state.problem) setStatus("bad", `${source}: ${state.problem}`);
          else if (state.session) setStatus("good", `${source} · after “${state.session}”`);
          else setStatus("good", state.position === null ? `Listening to ${source}` : `Playing ${source}`);
          const now = performance.now();
          if (state.peak >= held.peak || now - held.time > 1500) Object.assign(held, { peak: state.peak, time: now });
          const share = (level) => Math.max(0, Math.min(1, 1 + level / 70));
          $("level-fill").style.setProperty("--share", share(state.level));
          $("level-peak").style.setProperty("--share", share(held.peak));
          $("level").classList.toggle("loud", state.peak > -0.1);
          $("level").setAttribute("aria-valuenow", Math.max(-70, Math.round(state.level)));
          $("level-text").textContent = state.peak > -0.1 ? "too loud"
            : state.level <= -119 ? "no sound" : `${Math.round(state.level).toString().replace("-", "−")} dB`;
          const scores = new Map(state.scores);
          rows.forEach((row, index) => row.show(scores.get(index) || 0));
        };
        $("mute").addEventListener("click", () => send({ command: isMuted ? "unmute" : "mute" }));

        // ---- Words

        let rows = [];
        const titles = { _unknown_: "other speech", _silence_: "silence" };
        const make = (tag, properties, ...children) => {
          const element = Object.assign(document.createElement(tag), properties);
          element.append(...children);
          return element;
        };
        class Row {
          constructor(one) {
            Object.assign(this, one, { moved: -Infinity });
            const title = titles[one.name] || one.name;
            const note = one.kind === "taught" ? "taught" : one.inSession ? "in sessions"
              : one.kind === "word" && one.threshold === null ? "off" : "";
            const name = make("span", { className: "name" }, title);
            if (note) name.append(make("small", {}, note));
            if (one.threshold === null) {
              this.bar = make("div", { className: "bar" });
              this.bar.setAttribute("role", "meter");
              this.bar.setAttribute("aria-valuemin", "0");
              this.bar.setAttribute("aria-valuemax", "100");
            } else {
              this.slider = this.bar = make("input",
                { className: "bar", type: "range", min: "0", max: "1", step: "0.01", value: one.threshold });
              this.slider.addEventListener("input", () => { this.moved = performance.now(); this.note(); });
              this.slider.addEventListener("change", async () => {
                const value = Math.max(0.01, Math.min(0.99, Number(this.slider.value)));
                if (await send({ command: "set", words: { [one.name]: value } })) return;
                this.moved = -Infinity;
                this.take(this);
              });
            }
            this.bar.setAttribute("aria-label", this.slider ? `Threshold of ${title}` : `Score of ${title}`);
            this.value = make("span", {}, "0 %");
            this.need = make("small", {});
            this.element = make("div", { className: `word ${one.kind}` }, name, this.bar,
              make("span", { className: "score" }, this.value, this.need));
            this.note();
          }
          note() {
            if (!this.slider) return;
            this.need.textContent = `≥ ${percent(this.slider.value)}`;
            this.slider.setAttribute("aria-valuetext", percent(this.slider.value));
          }
          show(score) {
            this.follow();
            this.bar.style.setProperty("--score", score.toFixed(3));
            if (!this.slider) this.bar.setAttribute("aria-valuenow", Math.round(score * 100));
            this.value.textContent = percent(score);
            this.element.classList.toggle("fires", this.slider !== undefined && score >= Number(this.slider.value));
          }
          take(one) {
            this.threshold = one.threshold;
            this.follow();
          }
          follow() {
            if (!this.slider || Math.abs(this.slider.value - this.threshold) < 0.006) return;
            // What is being moved stays under the finger, and is not set back by what was in force before.
            if (this.slider.matches(":active") || performance.now() - this.moved < 1500) return;
            this.slider.value = this.threshold;
            this.note();
          }
        }
        const showWords = (classes) => {
          const kind = (one) => `${one.name}|${one.kind}|${one.inSession}|${one.threshold === null}`;
          if (classes.length === rows.length && classes.every((one, index) => kind(one) === kind(rows[index]))) {
            classes.forEach((one, index) => rows[index].take(one));
          } else {
            rows = classes.map((one) => new Row(one));
            $("words").replaceChildren(...rows.map((row) => row.element));
          }
          showAccess();
        };

        // ---- Events

        const kinds = { "session-start": "session begins", "session-end": "session ends", "session-timeout": "session ends" };
        const showHeard = (event) => {
          const date = new Date(event.date);
          const time = make("time", { dateTime: event.date }, date.toLocaleTimeString([], { hourCycle: "h23" }));
          const isPart = event.event === "phrase-partial";
          const name = make("b", {}, event.word || event.phrase || event.session);
          if (isPart || kinds[event.event]) name.append(make("span", { className: "part" }, isPart ? " …" : ` ${kinds[event.event]}`));
          const isNew = Date.now() - date < 5000;
          const item = make("li", { className: isNew ? "new" : "" }, time, name,
            make("span", {}, kinds[event.event] ? "" : percent(event.confidence)));
          $("heard").prepend(item);
          while ($("heard").children.length > 12) $("heard").lastChild.remove();
          if (isNew && !isPart && !kinds[event.event]) sound.mark(event);
        };

        // ---- The last ten seconds: columns in rings, drawn at the speed of sound.

        const colours = [[68, 1, 84], [72, 40, 120], [62, 74, 137], [49, 104, 142], [38, 130, 142], [31, 158, 137],
          [53, 183, 121], [110, 206, 88], [181, 222, 43], [253, 231, 37]];
        const palette = new Uint32Array(256);
        for (let i = 0; i < 256; i++) {
          const place = i / 255 * (colours.length - 1), low = Math.min(colours.length - 2, Math.floor(place));
          const [r, g, b] = colours[low].map((one, k) => Math.round(one + (colours[low + 1][k] - one) * (place - low)));
          palette[i] = 255 << 24 | b << 16 | g << 8 | r;
        }
        const sound = {
          clear() { Object.assign(this, { end: 0, shown: 0, size: 0, marks: [], rings: null, gain: 0.02, begin: 0 }); },
          add(part) {
            const bytes = Uint8Array.from(atob(part.data), (one) => one.charCodeAt(0));
            const values = new DataView(bytes.buffer), width = 2 + part.bands;
            if (!this.rings || this.bands !== part.bands || this.columnSeconds !== part.columnSeconds) this.start(part);
            const count = Math.floor(bytes.length / 2 / width);
            // After a hole, what was before it is dropped.
            if (part.first !== this.end) { this.begin = this.end = this.shown = part.first; this.marks = []; }
            for (let column = 0; column < count; column++) {
              const place = this.end % this.size;
              const at = (index) => values.getInt16((column * width + index) * 2, true);
              this.rings.low[place] = at(0) / 32767;
              this.rings.high[place] = at(1) / 32767;
              for (let band = 0; band < this.bands; band++) this.rings.mel[place * this.bands + band] = at(2 + band) / 256;
              this.end++;
            }
            this.begin = Math.max(this.begin, this.end - this.size);
            this.measure();
            this.paint();
          },
          start(part) {
            this.bands = part.bands;
            this.columnSeconds = part.columnSeconds;
            this.visible = Math.round(10 / part.columnSeconds);
            // Some more than are visible: the newest ones wait until they scroll in.
            this.size = this.visible + 40;
            this.rings = {
              low: new Float32Array(this.size), high: new Float32Array(this.size), mel: new Float32Array(this.size * this.bands),
            };
            this.image = make("canvas", { width: this.size, height: Math.max(1, this.bands) });
            this.begin = this.end = this.shown = part.first;
            $("mel").parentElement.hidden = this.bands === 0;
          },
          // The loudest sample, and the range of the spectrogram's values.
          measure() {
            let peak = 0.02;
            const values = [];
            for (let column = this.begin; column < this.end; column++) {
              const place = column % this.size;
              peak = Math.max(peak, -this.rings.low[place], this.rings.high[place]);
              if (column % 4 === 0)
                for (let band = 0; band < this.bands; band += 3) values.push(this.rings.mel[place * this.bands + band]);
            }
            this.gain = Math.min(1, peak);
            values.sort((a, b) => a - b);
            const at = (share) => values.length ? values[Math.floor(share * (values.length - 1))] : 0;
            this.low = at(0.1);
            this.span = Math.max(1.5, at(0.998) - this.low);
          },
          paint() {
            if (!this.bands) return;
            const context = this.image.getContext("2d");
            const image = context.createImageData(this.size, this.bands);
            const pixels = new Uint32Array(image.data.buffer);
            for (let column = this.begin; column < this.end; column++) {
              const place = column % this.size;
              for (let band = 0; band < this.bands; band++) {
                const share = (this.rings.mel[place * this.bands + band] - this.low) / this.span;
                pixels[(this.bands - 1 - band) * this.size + place] = palette[Math.max(0, Math.min(255, Math.round(share * 255)))];
              }
            }
            context.putImageData(image, 0, 0);
          },
          mark(event) {
            if (!this.rings) return;
            // The service counts both in hops since its start; if not, the word was decided just now.
            const time = event.time / this.columnSeconds;
            const decided = Math.abs(time - this.end) < 2 / this.columnSeconds ? time : this.end;
            const from = decided + (event.start - event.time) / this.columnSeconds;
            const to = decided + (event.end - event.time) / this.columnSeconds;
            this.marks.push({ from, to, text: `${event.word || event.phrase} ${percent(event.confidence)}` });
            if (this.marks.length > 20) this.marks.shift();
          },
        };
        sound.clear();

        let style = {};
        const readStyle = () => {
          const all = getComputedStyle(root);
          for (const name of ["wave", "grid", "mark", "ink", "paper"]) style[name] = all.getPropertyValue(`--${name}`);
        };
        matchMedia("(prefers-color-scheme: dark)").addEventListener("change", readStyle);
        readStyle();
        const prepare = (canvas) => {
          const scale = devicePixelRatio || 1;
          const width = Math.round(canvas.clientWidth * scale), height = Math.round(canvas.clientHeight * scale);
          if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
          const context = canvas.getContext("2d");
          context.setTransform(scale, 0, 0, scale, 0, 0);
          context.clearRect(0, 0, canvas.clientWidth, canvas.clientHeight);
          return context;
        };
        const drawWave = (canvas, x) => {
          const context = prepare(canvas), width = canvas.clientWidth, height = canvas.clientHeight;
          context.fillStyle = style.grid;
          for (let second = 2; second < 10; second += 2) context.fillRect(second / 10 * width, 0, 1, height);
          context.fillRect(0, height / 2, width, 1);
          context.fillStyle = style.wave;
          const step = width / sound.visible, middle = height / 2, reach = (height / 2 - 4) / sound.gain;
          for (let column = Math.max(sound.begin, Math.floor(sound.shown) - sound.visible); column < sound.shown; column++) {
            const place = column % sound.size;
            const top = middle - sound.rings.high[place] * reach, bottom = middle - sound.rings.low[place] * reach;
            context.fillRect(x(column), top, Math.max(1, step + 0.3), Math.max(1, bottom - top));
          }
          context.font = "600 12px system-ui, sans-serif";
          // The newest first: where there is no room for all labels, the older ones are left out.
          let limit = Infinity;
          for (const mark of sound.marks.toReversed()) {
            const left = x(mark.from), right = Math.max(left + 2, x(mark.to));
            if (right < 0 || left > width) continue;
            context.globalAlpha = 0.18;
            context.fillStyle = style.mark;
            context.fillRect(left, 0, right - left, height);
            context.globalAlpha = 1;
            const room = context.measureText(mark.text).width;
            const at = Math.max(2, Math.min(left, width - room - 2));
            if (at + room + 4 > limit) continue;
            limit = at;
            context.fillStyle = style.paper;
            context.fillRect(at - 2, 2, room + 4, 16);
            context.fillStyle = style.mark;
            context.fillText(mark.text, at, 14);
          }
          $("scale").textContent = `±${sound.gain < 0.1 ? sound.gain.toFixed(2) : sound.gain.toFixed(1)}`;
        };
        const drawMel = (canvas, x) => {
          const context = prepare(canvas), height = canvas.clientHeight;
          if (!sound.bands) return;
          context.imageSmoothingEnabled = true;
          const first = Math.max(sound.begin, Math.floor(sound.shown) - sound.visible), last = Math.ceil(sound.shown);
          // The ring as one or two pieces.
          for (let from = first; from < last;) {
            const place = from % sound.size, count = Math.min(last - from, sound.size - place);
            context.drawImage(sound.image, place, 0, count, sound.bands, x(from), 0, x(from + count) - x(from), height);
            from += count;
          }
        };
        const isCalm = matchMedia("(prefers-reduced-motion: reduce)");
        let before = performance.now();
        const draw = (now) => {
          const passed = (now - before) / 1000;
          before = now;
          if (sound.rings && mayChange) {
            // A little behind, so that it moves evenly; parts come ten times a second.
            const target = sound.end - (isCalm.matches ? 0 : 0.15 / sound.columnSeconds);
            const next = sound.shown + passed / sound.columnSeconds;
            const isAway = isCalm.matches || Math.abs(target - next) > 0.5 / sound.columnSeconds;
            sound.shown = Math.min(sound.end, isAway ? target : next + (target - next) * 0.02);
            for (const [id, paint] of [["wave", drawWave], ["mel", drawMel]]) {
              const canvas = $(id), step = canvas.clientWidth / sound.visible;
              paint(canvas, (column) => canvas.clientWidth - (sound.shown - column) * step);
            }
          }
          requestAnimationFrame(draw);
        };
        showAccess();
        requestAnimationFrame(draw);
        follow();
        """#
}
