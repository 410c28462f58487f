/// The part of the live page's script that draws the sound; it follows ``LivePageScript``, and starts the page.
enum LivePageSound {
    static let text = #"""
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
            if (part.first !== this.end) this.begin = this.end = this.shown = part.first;
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
          // Words may come before the first sound, so their place in it is not computed here.
          mark(event) {
            this.marks.push({ start: event.start, end: event.end, text: `${event.word || event.phrase} ${percent(event.confidence)}` });
            if (this.marks.length > 20) this.marks.shift();
          },
          // The columns of a marked word: both count from the service's start.
          columns(mark) { return [mark.start / this.columnSeconds, mark.end / this.columnSeconds]; },
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
            const [from, to] = sound.columns(mark), left = x(from), right = Math.max(left + 2, x(to));
            if (to < sound.begin || right < 0 || left > width) continue;
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
