"use strict";

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
  clear() { Object.assign(this, { end: 0, shown: 0, size: 0, marks: [], count: 0, rings: null, gain: 0.02, begin: 0 }); },
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
    const word = event.word || event.phrase;
    const text = `${word} ${percent(event.confidence)}`;
    this.marks.push({ start: event.start, end: event.end, word, text, number: this.count++ });
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
// The labels of the marked words, none missing: in one row where they have room, else the newest above the others, which take two
// rows in turns and are shortened to what is free before the next one.
const drawLabels = (context, marks, width) => {
  const rowHeight = 17, least = 60;
  context.font = "600 12px system-ui, sans-serif";
  const measure = (text) => context.measureText(text).width + 6;
  const place = (left, room) => Math.max(2, Math.min(left, width - room));
  const places = marks.map((mark) => place(mark.left, measure(mark.text)));
  const isOneRow = marks.every((mark, index) => index === 0 || places[index - 1] + measure(marks[index - 1].text) <= places[index]);
  const limits = [width, width, width];
  for (const mark of marks.toReversed()) {
    const isFree = isOneRow || mark === marks.at(-1);
    const row = isFree ? 0 : 1 + mark.number % 2, left = Math.max(2, mark.left);
    const room = isFree ? width - 4 : Math.max(limits[row] - left, Math.min(least, limits[row] - 2));
    const text = shorten(context, mark, room - 6);
    const at = isFree ? place(left, measure(text)) : Math.max(2, Math.min(left, limits[row] - measure(text)));
    limits[row] = at;
    context.fillStyle = style.paper;
    context.globalAlpha = 0.85;
    context.fillRect(at - 2, row * rowHeight + 2, measure(text) - 2, rowHeight - 1);
    context.globalAlpha = 1;
    context.fillStyle = style.mark;
    context.fillText(text, at, row * rowHeight + 14);
  }
};
// A label without its score, and with an ellipsis, as far as the room asks for it.
const shorten = (context, mark, room) => {
  const fits = (text) => context.measureText(text).width <= room;
  if (fits(mark.text)) return mark.text;
  let [text, end] = [mark.word, mark.word.length];
  while (end > 1 && !fits(text)) text = `${mark.word.slice(0, --end).trimEnd()}…`;
  return text;
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
  const visible = sound.marks.map((mark) => {
    const [from, to] = sound.columns(mark);
    return { ...mark, from, to, left: x(from), right: Math.max(x(from) + 2, x(to)) };
  }).filter((mark) => mark.to >= sound.begin && mark.right >= 0 && mark.left <= width);
  context.fillStyle = style.mark;
  context.globalAlpha = 0.18;
  for (const mark of visible) context.fillRect(mark.left, 0, mark.right - mark.left, height);
  context.globalAlpha = 1;
  drawLabels(context, visible, width);
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
// ---- Whose sound is shown and recorded: the microphone's, or that of a client of the wake-word server.

const sources = {
  // The number of a client; null for the microphone.
  chosen: null,
  list: [],
  hasMicrophone: true,
  get name() { return (this.list.find((one) => one.number === this.chosen) || {}).name; },
  show(service) {
    this.hasMicrophone = service.microphone !== false;
    this.list = service.clients || [];
    const isGone = this.chosen !== null && this.name === undefined;
    if (isGone) this.chosen = null;
    // Without a microphone there is nothing else to show.
    const first = this.hasMicrophone || this.chosen !== null ? undefined : this.list.find((one) => one.streaming);
    if (first) this.chosen = first.number;
    $("sources").hidden = this.list.length === 0;
    const none = this.hasMicrophone ? "the microphone" : "a satellite: choose one";
    const options = [["", none], ...this.list.map((one) => [String(one.number), one.name + (one.streaming ? "" : " (silent)")])];
    const key = JSON.stringify(options);
    if (this.shown !== key && document.activeElement !== $("source")) {
      this.shown = key;
      $("source").replaceChildren(...options.map(([value, text]) => make("option", { value, textContent: text })));
    }
    $("source").value = this.chosen === null ? "" : String(this.chosen);
    this.update();
    if (isGone || first) reopen();
  },
  update() {
    const isNaming = !$("source-name").hidden;
    $("name-source").hidden = this.chosen === null || !mayChange;
    $("name-source").textContent = isNaming ? "OK" : "Name it";
    if ($("name-source").hidden) $("source-name").hidden = true;
    teaching.showSource();
  },
};
$("source").addEventListener("change", () => {
  sources.chosen = $("source").value === "" ? null : Number($("source").value);
  $("source").blur();
  $("source-name").hidden = true;
  reopen();
});
$("sources").addEventListener("submit", async (event) => {
  event.preventDefault();
  const field = $("source-name");
  if (field.hidden) {
    field.value = sources.name || "";
    field.hidden = false;
    field.select();
  } else if (await send({ command: "teach", step: "name", client: sources.chosen, to: field.value.trim() })) {
    field.hidden = true;
  }
  sources.update();
});

follow();
