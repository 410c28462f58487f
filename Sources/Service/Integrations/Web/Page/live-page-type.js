"use strict";
// ---- Typing: a word is made from its name. The service says how it is pronounced and what to expect, before anything is said.

const typing = {
  state: null,
  // The ways to say it: their sounds, whether they are chosen, and their number in the service's list; null for none.
  ways: [],
  // Whether the service has what is written here.
  isCurrent: true,
  show(state, isBusy) {
    const isNew = state !== null && (this.state === null || this.state.word !== state.word);
    this.state = state;
    $("type-lesson").hidden = state === null;
    if (state === null) return;
    if (isNew) {
      this.ways = state.pronunciations.map((one, number) => ({ sounds: one.sounds, isChosen: true, number }));
      this.isCurrent = true;
    }
    $("type-word").replaceChildren("“", named(state.word), "”");
    const key = JSON.stringify([this.ways, state.pronunciations, isBusy]);
    if (this.shown !== key) {
      this.shown = key;
      $("ways").replaceChildren(...this.ways.map((way, index) => this.way(way, index, isBusy)));
    }
    $("way-add").disabled = isBusy;
    $("type-silence").hidden = !state.silence;
    $("type-silence").textContent = state.silence || "";
    $("type-refusal").textContent = this.isCurrent && state.refusal ? `It cannot be saved: ${state.refusal}.` : "";
    $("promise").hidden = !this.isCurrent;
    const rate = (one) => one.falseAcceptsPerHour < 0.05 ? "hardly any" : one.falseAcceptsPerHour.toFixed(1);
    for (const old of [...$("promise").tBodies]) old.remove();
    $("promise").append(make("tbody", {}, ...state.expected.map((one) => make("tr", {},
      make("td", {}, one.sensitivity), make("td", { className: "figure" }, percent(one.found)),
      make("td", { className: "figure" }, rate(one))))));
    const remarks = this.isCurrent ? state.remarks : [];
    $("type-remarks").replaceChildren(...remarks.map((line) => make("p", { className: "note" }, line)));
    $("type-save").disabled = isBusy || !this.isCurrent || state.refusal !== null;
    $("type-save").classList.toggle("main", state.refusal === null);
    $("type-cancel").disabled = isBusy;
  },
  way(way, index, isBusy) {
    const chosen = make("input", { type: "checkbox", checked: way.isChosen, disabled: isBusy });
    chosen.setAttribute("aria-label", `Listen for way ${index + 1}`);
    chosen.addEventListener("change", () => { way.isChosen = chosen.checked; this.check(); });
    const text = make("input",
      { type: "text", value: way.sounds, autocomplete: "off", spellcheck: false, maxLength: 200, disabled: isBusy });
    text.setAttribute("aria-label", `Sounds of way ${index + 1}`);
    text.addEventListener("input", () => { this.isCurrent = false; $("type-save").disabled = true; });
    text.addEventListener("change", () => {
      way.sounds = text.value.trim();
      way.isChosen = way.sounds !== "";
      this.check();
    });
    const one = way.number === null ? undefined : this.state.pronunciations[way.number];
    const play = make("button", { type: "button", textContent: "▶", disabled: isBusy || !one || !one.playable });
    play.setAttribute("aria-label", `Play way ${index + 1}`);
    play.addEventListener("click", () => misses.play(`teaching/${way.number}`).catch(() => say("It could not be played.")));
    return make("li", {}, chosen, text, play);
  },
  // Lets the service see what is chosen.
  async check() {
    const chosen = this.ways.filter((way) => way.isChosen && way.sounds !== "");
    this.isCurrent = false;
    for (const way of this.ways) way.number = null;
    if (chosen.length === 0) {
      say("Choose at least one way to say it.");
    } else if (await teaching.step("type", { word: this.state.word, sounds: chosen.map((way) => way.sounds) })) {
      chosen.forEach((way, number) => { way.number = number; });
      this.isCurrent = true;
    }
    await teaching.load();
    // As the service writes them.
    if (!this.isCurrent || this.state === null) return;
    chosen.forEach((way, number) => { way.sounds = this.state.pronunciations[number].sounds; });
    this.show(this.state, !isConnected);
  },
  async begin(word) {
    if (word === "") return $("teach-name").reportValidity();
    if (await teaching.step("type", { word })) $("teach-name").value = "";
    await teaching.load();
  },
};
$("type-begin").addEventListener("click", () => typing.begin($("teach-name").value.trim()));
$("way-add").addEventListener("click", () => {
  typing.ways.push({ sounds: "", isChosen: false, number: null });
  typing.show(typing.state, !isConnected);
  $("ways").lastElementChild.querySelector("input[type=text]").focus();
});
$("type-save").addEventListener("click", async () => {
  await teaching.step("save");
  await teaching.load();
  // The service reads the file again within a second.
  setTimeout(() => teaching.load(), 1500);
});
$("type-cancel").addEventListener("click", async () => { await teaching.step("cancel"); await teaching.load(); });
