"use strict";
// ---- Teaching: the service's microphone, or a satellite, records takes of a word, for those who have the token.

const teaching = {
  state: null,
  // Seconds until the microphone records; 0 for none.
  countdown: 0,
  timer: 0,
  step: (step, rest = {}) => send({ command: "teach", step, ...rest }),
  // Loads how far it is, and again and again while a take is recorded.
  async load() {
    clearTimeout(this.timer);
    let state = null;
    try {
      const answer = mayChange ? await get("teaching") : null;
      if (answer && answer.ok) state = await answer.json();
    } catch { }
    this.show(state);
    if (state && state.recording) this.timer = setTimeout(() => this.load(), 200);
  },
  show(state) {
    const before = this.state;
    this.state = state;
    $("teach-section").hidden = !state;
    if (!state) return;
    const isOpen = state.word !== null;
    const isFree = !isOpen && state.typing === null;
    $("teach-begin").hidden = !isFree;
    $("teach-lesson").hidden = !isOpen;
    typing.show(state.typing, !isConnected);
    const own = [...state.taught.map((word) => this.taught(word, false, !isFree)),
      ...state.typed.map((word) => this.taught(word, true, !isFree))];
    $("taught").replaceChildren(...own);
    $("taught-title").hidden = own.length === 0;
    if (isOpen !== (before !== null && before.word !== null)) misses.reload(0);
    const saved = isOpen || !state.saved ? [] : state.estimate;
    $("saved").replaceChildren(...(saved.length ? [make("p", {}, "“", named(state.saved), "” is saved.")] : []),
      ...saved.map((line) => make("p", { className: "note" }, line)));
    this.showSource();
    if (!isOpen) return;
    const count = state.takes.length;
    $("teach-word").replaceChildren("“", named(state.word), "”");
    const isEnough = count >= state.wanted;
    const place = sources.name ? ` at ${sources.name}` : "";
    $("teach-prompt").textContent = this.countdown > 0 ? `${this.countdown}…`
      : state.recording ? (state.speech ? "Recording" : `Speak now: “${state.word}”${state.client ? ` at ${state.client}` : ""}`)
        : !this.hasSource ? "Choose the satellite to which the word is said, under Sound."
        : count === 0 ? `Press Record, wait for “Speak now”, and say the word once${place}, as you will to the device.`
          : isEnough ? "That is enough. More takes by everybody who will say it make it found more often."
            : `${count} of ${state.wanted} takes`;
    $("teach-prompt").className = state.recording ? "now" : "";
    $("teach-message").textContent = state.recording || this.countdown ? "" : state.message || "";
    const isBusy = state.recording || this.countdown > 0 || !isConnected;
    $("teach-record").disabled = isBusy || !this.hasSource;
    $("teach-record").textContent = count === 0 ? "Record" : `Record take ${count + 1}`;
    $("teach-save").disabled = isBusy || count === 0;
    if (this.asked !== count) this.asked = 0;
    $("teach-save").textContent = this.asked ? "Save all the same" : "Save";
    $("teach-save").classList.toggle("main", isEnough);
    $("teach-record").classList.toggle("main", !isEnough);
    const key = JSON.stringify(state.takes) + isBusy;
    if (this.shown !== key) {
      this.shown = key;
      $("takes").replaceChildren(...state.takes.map((take, index) => this.take(take, index, count, isBusy)));
    }
    $("estimate").replaceChildren(...state.estimate.map((line) => make("p", { className: "note" }, line)));
  },
  // The number of takes with which saving was asked about; 0 for none.
  asked: 0,
  // Whether there is something to record.
  get hasSource() { return sources.hasMicrophone || sources.chosen !== null; },
  showSource() {
    $("teach-note").textContent = sources.name
      ? `${sources.name} learns a word of yours from a few takes that you say there, as do all others.`
      : sources.hasMicrophone ? "The microphone of this service learns a word of yours from a few takes."
        : "All satellites learn a word of yours from a few takes that you say at one: choose it under Sound.";
    const isKnown = this.source === sources.chosen;
    this.source = sources.chosen;
    if (!isKnown && this.state && this.state.word !== null) this.show(this.state);
  },
  take(take, index, count, isBusy) {
    const picture = make("span", { className: "envelope" });
    picture.setAttribute("aria-hidden", "true");
    for (const level of take.envelope) {
      const bar = make("i", {});
      bar.style.setProperty("--level", level);
      picture.append(bar);
    }
    const play = make("button", { type: "button", textContent: "▶" });
    play.setAttribute("aria-label", `Play take ${index + 1}`);
    play.addEventListener("click", () => misses.play(`teaching/${index}`).catch(() => say("The take could not be played.")));
    const buttons = make("span", { className: "buttons" }, play);
    if (index === count - 1) {
      const redo = make("button", { type: "button", textContent: "Redo", disabled: isBusy });
      redo.setAttribute("aria-label", `Remove take ${index + 1} and record it again`);
      redo.addEventListener("click", async () => { if (await this.step("redo")) this.record(); });
      buttons.append(redo);
    }
    return make("li", {}, picture, make("small", {}, `${take.seconds.toFixed(2)} s · ${take.level} dB`.replace("-", "−")), buttons);
  },
  taught(word, isTyped, isOpen) {
    const more = make("button", { type: "button", textContent: "More takes", disabled: isOpen });
    more.setAttribute("aria-label", `More takes of ${word}`);
    more.addEventListener("click", () => this.begin(word, true));
    const forget = make("button", { type: "button", textContent: "Forget", disabled: isOpen });
    forget.setAttribute("aria-label", `Forget ${word}`);
    forget.addEventListener("click", async () => {
      // The takes cannot be had back.
      if (!forget.dataset.asked) {
        forget.dataset.asked = "yes";
        forget.textContent = "Really?";
        return;
      }
      if (await this.step("forget", { word })) setTimeout(() => this.load(), 1500);
    });
    const rename = make("button", { type: "button", textContent: "Rename", disabled: isOpen });
    rename.setAttribute("aria-label", `Rename ${word}`);
    const name = make("b", { className: "name" }, named(word), ...(isTyped ? [make("small", {}, "typed")] : []));
    const item = make("li", {}, name, make("span", { className: "buttons" }, more, rename, forget));
    rename.addEventListener("click", () => item.replaceChildren(this.naming(word)));
    return item;
  },
  // Another name of a word, to be written in its place.
  naming(word) {
    const name = make("input", { type: "text", value: word, maxLength: 100, required: true, autocomplete: "off" });
    name.setAttribute("aria-label", `New name of ${word}`);
    const back = make("button", { type: "button", textContent: "Cancel" });
    back.addEventListener("click", () => this.load());
    const form = make("form", {}, name, make("button", { type: "submit", textContent: "OK" }), back);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (!await this.step("rename", { word, to: name.value.trim() })) return;
      await this.load();
      // The service reads the file again within a second.
      setTimeout(() => this.load(), 1500);
    });
    setTimeout(() => name.select());
    return form;
  },
  async begin(word, more) {
    if (await this.step("begin", { word, more })) $("teach-name").value = "";
    await this.load();
  },
  async record() {
    for (this.countdown = 3; this.countdown > 0; this.countdown--) {
      await this.load();
      await new Promise((done) => setTimeout(done, 700));
    }
    await this.step("record", sources.chosen === null ? {} : { client: sources.chosen });
    await this.load();
  },
  async save() {
    const count = this.state.takes.length;
    if (this.state.before + count === 1 && this.asked !== count) {
      this.asked = count;
      say("One take shows little of how a word is said: it is missed more often, above all when others say it. "
        + "Three to five are better.");
      return this.show(this.state);
    }
    await this.step("save");
    await this.load();
    // The service reads the file again within a second.
    setTimeout(() => this.load(), 1500);
  },
  // What can be made of a recent word's recording.
  buttons(one) {
    const state = this.state;
    if (!state || !one.clip) return [];
    const button = (text, label, step, rest) => {
      const button = make("button", { type: "button", textContent: text });
      button.setAttribute("aria-label", label);
      button.addEventListener("click", async () => {
        button.disabled = true;
        const recorded = one.client === undefined ? { recent: one.number } : { client: one.number };
        if (await this.step(step, { ...recorded, ...rest })) button.textContent = "✓";
        else button.disabled = false;
        await this.load();
      });
      return button;
    };
    if (state.word !== null) return [button("Use", `Use this as a take of ${state.word}`, "take", {})];
    if (!state.taught.includes(one.word)) return [];
    return [
      button("Take", `Add this to the takes of ${one.word}`, "add", { word: one.word }),
      button("Wrong", `This is not ${one.word}`, "not", { word: one.word }),
    ];
  },
};
$("teach-begin").addEventListener("submit", (event) => {
  event.preventDefault();
  teaching.begin($("teach-name").value.trim(), false);
});
$("teach-record").addEventListener("click", () => teaching.record());
$("teach-save").addEventListener("click", () => teaching.save());
$("teach-cancel").addEventListener("click", async () => { await teaching.step("cancel"); await teaching.load(); });
