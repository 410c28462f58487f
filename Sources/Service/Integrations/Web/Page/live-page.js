"use strict";
const $ = (id) => document.getElementById(id);
const root = document.documentElement;
const percent = (share) => `${Math.round(share * 100)} %`;

// ---- The token: from a link's fragment, which no server sees, or from this browser's storage.

const store = {
  get token() { try { return localStorage.getItem("beckon-token") || ""; } catch { return this.kept || ""; } },
  set token(text) {
    this.kept = text;
    try { text ? localStorage.setItem("beckon-token", text) : localStorage.removeItem("beckon-token"); } catch { }
  },
};
const takeFragment = () => {
  const given = /^#token=([0-9a-f]{64})$/.exec(location.hash);
  if (given) { store.token = given[1]; history.replaceState(null, "", location.pathname); }
  return !!given;
};
takeFragment();
let mayChange = false;
// Whether the service sends; without it, what is shown is old and nothing can be changed.
let isConnected = false;
// Behind a proxy that knows the user, the token has no place.
let isProxied = false;
let opening = null;

const showAccess = () => {
  $("unlock").hidden = mayChange;
  $("unlocked").hidden = !mayChange || isProxied;
  $("access-title").hidden = isProxied;
  $("picture").classList.toggle("locked", !mayChange);
  $("mute").disabled = !mayChange || !isConnected;
  $("mute").title = mayChange ? "" : "needs the token";
  document.body.classList.toggle("stale", !isConnected);
  $("marks-note").textContent = mayChange ? "Drag a mark, or move it with the arrow keys, to change the threshold."
    : "With the token, marks can be dragged.";
  for (const row of rows) if (row.slider) row.slider.disabled = !mayChange || !isConnected || row.inSession;
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
// What there is to say lies over the page, as on a phone it would be out of sight elsewhere: until the next change or a touch, and
// what went well for a while.
let saying = 0;
const say = (text, isGood = false) => {
  clearTimeout(saying);
  $("message").textContent = text;
  $("message").className = isGood ? "good" : "";
  if (isGood) saying = setTimeout(() => say(""), 15000);
};
$("message").addEventListener("click", () => say(""));

const send = async (change) => {
  try {
    const answer = await fetch("control", {
      method: "POST",
      headers: { "Content-Type": "application/json", "X-Beckon-Token": store.token },
      body: JSON.stringify(change),
    });
    const text = await answer.text();
    if (answer.ok) {
      let note = "";
      try { note = JSON.parse(text).note || ""; } catch { }
      say(note, true);
      return true;
    }
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
    showEnd();
    await new Promise((done) => setTimeout(done, retry));
    retry = Math.min(Math.max(500, retry * 2), 5000);
  }
};
const showEnd = () => {
  isConnected = false;
  showAccess();
  setStatus("bad", "No connection to the service; trying again");
  showLevel(-120, -120);
  $("level-text").textContent = "–";
  for (const row of rows) row.show(0);
  // The service has the recordings.
  for (const button of document.querySelectorAll("#misses button, #clients button, #teach-section button")) button.disabled = true;
};
const read = async (signal) => {
  const token = store.token;
  const path = sources.chosen === null ? "live" : `live/${sources.chosen}`;
  const answer = await fetch(path, { signal, headers: token ? { "X-Beckon-Token": token } : {} });
  if (answer.status === 403 && token) {
    store.token = "";
    say("The token is not valid any more.");
    retry = 0;
    return;
  }
  // A proxy's own page of an error is not for this line.
  if (!answer.ok) return /^text\/plain/.test(answer.headers.get("Content-Type")) && say((await answer.text()).trim());
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  let rest = "";
  sound.clear();
  $("heard").replaceChildren();
  isLive = false;
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

// Whether the words come that are spoken now: the first state comes after those that were heard before.
let isLive = false;
const receivers = {
  access: (access) => {
    [mayChange, isProxied, isConnected] = [access.token, access.proxy === true, true];
    showAccess();
    misses.reload(0);
    teaching.load();
    pairing.load();
  },
  service: (service) => {
    $("machine").replaceChildren(named(service.machine));
    document.title = `Beckon on ${service.machine}`;
    const confirm = service.confirm === "none" ? "" : ` · confirm ${service.confirm}`;
    $("about").textContent = `Beckon ${service.version} · model ${service.model} · ${service.mode} mode${confirm} ·`;
    const missing = service.missing || [];
    $("missing").hidden = missing.length === 0;
    $("missing").textContent = missing.map((text) => `Not loaded: ${text}`).join("\n");
    showWords(service.classes);
    sources.show(service);
  },
  state: (state) => { showState(state); isLive = true; },
  heard: (event) => showHeard(event),
  sound: (part) => sound.add(part),
  misses: () => misses.reload(1500),
};

// ---- State

const setStatus = (kind, text) => {
  $("status").className = kind;
  if ($("status-text").textContent !== text) $("status-text").textContent = text;
};
let isMuted = null;
const held = { peak: -120, time: 0 };
const showLevel = (level, peak) => {
  const share = (one) => Math.max(0, Math.min(1, 1 + one / 70));
  $("level-fill").style.setProperty("--share", share(level));
  $("level-peak").style.setProperty("--share", share(peak));
  $("teach-level-fill").style.setProperty("--share", share(level));
  $("level").setAttribute("aria-valuenow", Math.max(-70, Math.round(level)));
};
// Said while something is played, if an echo is removed.
const removed = (state) => state.echo === undefined ? "" : ` · ${Math.round(Math.max(0, state.echo))} dB of echo are removed`;
const showState = (state) => {
  isMuted = state.muted;
  $("mute").hidden = isMuted === null;
  $("mute").setAttribute("aria-pressed", String(isMuted === true));
  $("mute").textContent = isMuted ? "Muted" : "Mute";
  const source = state.source || (sources.hasMicrophone ? "a microphone" : "the wake-word server");
  if (!sources.hasMicrophone && sources.chosen === null && !state.problem)
    setStatus("good", sources.list.length ? "Serving satellites" : "Serving satellites; none has sent audio yet");
  else if (state.muted) setStatus("", "Muted: the microphone is closed");
  else if (state.problem) setStatus("bad", `${source}: ${state.problem}`);
  else if (state.session) setStatus("good", `${source} · after “${state.session}”`);
  else setStatus("good", (state.position === null ? `Listening to ${source}` : `Playing ${source}`) + removed(state));
  const now = performance.now();
  if (state.peak >= held.peak || now - held.time > 1500) Object.assign(held, { peak: state.peak, time: now });
  showLevel(state.level, held.peak);
  $("level").classList.toggle("loud", state.peak > -0.1);
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
// A name that is written from right to left leaves what stands beside it in its place.
const named = (name) => make("bdi", {}, name);
class Row {
  constructor(one) {
    Object.assign(this, one, { moved: -Infinity });
    const title = titles[one.name] || one.name;
    const note = one.kind === "taught" ? "taught" : one.inSession ? "in sessions"
      : one.kind === "word" && one.threshold === null ? "off" : "";
    const name = make("span", { className: "name" }, named(title));
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
      make("span", { className: "score figure" }, this.value, this.need));
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

// A word on which another device of the group acts.
const isYielded = (event) => event.event === "yielded";
const kinds = { "session-start": "session begins", "session-end": "session ends", "session-timeout": "session ends" };
// Both parts of a confidence, where networks confirmed the word.
const parts = (event) => event.confirmed === undefined ? ""
  : `proposed ${percent(event.proposed)}, confirmed ${percent(event.confirmed)}`;
const showHeard = (event) => {
  const date = new Date(event.date);
  const time = make("time", { dateTime: event.date }, date.toLocaleTimeString([], { hourCycle: "h23" }));
  const isPart = event.event === "phrase-partial";
  const name = make("b", { className: "name" }, named(event.word || event.phrase || event.session));
  if (event.client !== undefined) name.append(make("span", { className: "part" }, " at ", named(event.client)));
  if (isYielded(event)) name.append(make("span", { className: "part" }, " ", named(event.to), " acts"));
  if (event.ownSpeech) name.append(make("span", { className: "part" }, " the loudspeaker said it"));
  if (isPart || kinds[event.event]) name.append(make("span", { className: "part" }, isPart ? " …" : ` ${kinds[event.event]}`));
  const item = make("li", { className: isLive ? "new" : "" }, time, name,
    make("span", { className: "figure", title: parts(event) }, kinds[event.event] ? "" : percent(event.confidence)));
  $("heard").prepend(item);
  // Or it would flash again when the list is shown again.
  setTimeout(() => item.classList.remove("new"), 1700);
  while ($("heard").children.length > 12) $("heard").lastChild.remove();
  if (!isPart && !kinds[event.event]) sound.mark(event);
};

// ---- Recent words and near misses, for those who have the token. Their recordings end a moment after the word.

const get = (path) => fetch(path, { headers: { "X-Beckon-Token": store.token } });
const misses = {
  timer: 0,
  // When the list must be loaded again. Not put off by what comes meanwhile: words may come faster than that.
  due: 0,
  reload(wait) {
    this.due = Math.max(this.due, performance.now() + wait);
    if (this.timer && wait) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.turn(), wait);
  },
  turn() {
    this.load().catch(() => { });
    const rest = this.due - performance.now();
    this.timer = rest > 1 ? setTimeout(() => this.turn(), rest) : 0;
  },
  async load() {
    const answer = mayChange ? await get("misses") : null;
    const list = answer && answer.ok ? await answer.json() : { on: false };
    $("misses-section").hidden = !list.on;
    if (list.on) $("misses").replaceChildren(...list.misses.slice(0, 8).map((one) => this.row(one)));
    const clients = list.clients || null;
    $("clients-section").hidden = !clients;
    if (clients) $("clients").replaceChildren(...this.newest(clients).map((one) => this.row(one)));
  },
  // The newest of each client, so that one that talks all the time leaves room for the others.
  newest(words) {
    const counts = new Map();
    const count = (one) => counts.set(one.client, (counts.get(one.client) || 0) + 1).get(one.client);
    return words.filter((one) => count(one) <= 4).slice(0, 16);
  },
  row(one) {
    const time = new Date(one.date).toLocaleTimeString([], { hourCycle: "h23" });
    // With a decimal, because they are near each other.
    const exact = (share) => `${(share * 100).toFixed(1)} %`;
    const isFound = one.event === "word";
    const score = make("span", { className: "figure" }, exact(one.confidence));
    if (one.threshold !== null) score.append(make("small", {}, `${isFound ? "≥" : "<"} ${exact(one.threshold)}`));
    const button = make("button", { type: "button", textContent: "▶", disabled: !one.clip });
    const client = one.client === undefined ? "" : `${one.client} · `;
    button.setAttribute("aria-label", `Play ${one.word} of ${client}${time}`);
    button.addEventListener("click", () =>
      this.play(`${client ? "clients" : "misses"}/${one.number}`).catch(() => say("The recording could not be played.")));
    const note = make("small", {}, ...(client ? [named(one.client), " · "] : []), `${time} · ${isFound ? "found" : "near miss"}`);
    return make("li", { className: isFound ? "found" : "near" },
      make("span", { className: "name" }, make("b", {}, named(one.word)), note), score,
      make("span", { className: "buttons" }, button, ...teaching.buttons(one)));
  },
  player: new Audio(),
  async play(path) {
    const answer = await get(`${path}.wav`);
    if (!answer.ok) return say((await answer.text()).trim());
    URL.revokeObjectURL(this.player.src);
    this.player.src = URL.createObjectURL(await answer.blob());
    await this.player.play();
  },
};
