"""The live page makes a word from its name alone, on a page as large as a phone's: part of `run`."""

import json
import shutil


def judge(service, browser, check, within, picture):
    """Judges the page of a service that hears a voice say "rear center", with the token."""
    print("\nTyping a word at 390 × 844")
    text = lambda selector: browser.run(f"document.querySelector({json.dumps(selector)}).textContent")  # noqa: E731
    click = lambda selector: browser.run(f"document.querySelector({json.dumps(selector)}).click()")  # noqa: E731
    sounds = lambda: browser.run("[...document.querySelectorAll('#ways input[type=text]')].map(one => one.value)")  # noqa: E731
    is_hidden = lambda selector: browser.run(f"document.querySelector({json.dumps(selector)}).hidden")  # noqa: E731
    is_disabled = lambda selector: browser.run(f"document.querySelector({json.dumps(selector)}).disabled")  # noqa: E731

    def write(number, value):
        browser.run(
            f"(way => {{ way.value = {json.dumps(value)}; way.dispatchEvent(new Event('input')); way.dispatchEvent(new Event('change')); }})"
            f"(document.querySelectorAll('#ways input[type=text]')[{number}])"
        )

    def type_name(name):
        browser.run(f"document.querySelector('#teach-name').value = {json.dumps(name)}")
        click("#type-begin")
        return within(20, lambda: text("#type-word") == f"“{name}”" and not is_hidden("#type-lesson"))

    check(type_name("hi"), "a short name is typed")
    check("2 sounds" in text("#type-refusal") and "teach it by voice" in text("#type-refusal"), f"and refused, with what helps: {text('#type-refusal')}")
    check(is_disabled("#type-save"), "it cannot be saved")
    click("#type-cancel")
    check(within(10, lambda: is_hidden("#type-lesson") and not is_hidden("#teach-begin")), "another one can be tried")
    check(type_name("rear center"), "a longer name is typed")
    check(sounds()[:1] == ["ɹ ɪ ɹ s ɛ n t ɝ"], f"it is pronounced: {sounds()}")
    rows = browser.run("[...document.querySelectorAll('#promise tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
    check([row[0] for row in rows] == ["strict", "balanced", "eager"] and all("%" in row[1] for row in rows), f"each sensitivity promises: {rows}")
    check("Nearest in" in text("#type-remarks"), f"what sounds nearest: {text('#type-remarks')[:80]}…")
    if shutil.which("espeak-ng") or shutil.which("flite"):
        browser.run("misses.player.muted = true")
        click("#ways li:first-child button")
        check(within(10, lambda: browser.run("misses.player.currentTime > 0.1")), "it is played")
    else:
        check("espeak-ng or flite" in text("#type-silence"), "how it could be played")
    browser.run("scrollTo(0, 0); say('')")
    picture("typing")
    click("#way-add")
    count = len(sounds())
    write(count - 1, "R IH1 R S EH1 N T AH0")
    check(within(20, lambda: sounds()[-1] == "ɹ ɪ ɹ s ɛ n t ʌ" and not is_disabled("#type-save")), f"another way is written in ARPAbet: {sounds()}")
    write(count - 1, "5")
    check(within(20, lambda: "'5'" in text("#message")) and is_disabled("#type-save"), f"sounds that cannot be read are told: {text('#message')}")
    write(count - 1, "ɹɪɹsɛntə")
    check(within(20, lambda: sounds()[-1] == "ɹ ɪ ɹ s ɛ n t ə" and not is_disabled("#type-save")), f"and corrected in IPA: {sounds()}")
    chosen = f"document.querySelectorAll('#ways input[type=checkbox]')[{count - 1}]"
    browser.run(f"{chosen}.click()")
    told = "fetch('teaching', {headers: {'X-Beckon-Token': store.token}}).then(answer => answer.json()).then(state => state.typing.pronunciations.length)"
    check(within(20, lambda: browser.run(told) == count - 1 and not is_disabled("#type-save")), "a way is left out")
    check(len(sounds()) == count and not browser.run(f"{chosen}.checked"), "and may be chosen again")
    # The voice says it all the time; what was taught by voice was forgotten before.
    newest = lambda: browser.run("(document.querySelector('#heard li b') || {}).textContent")  # noqa: E731
    check(newest() != "rear center", f"it is not heard yet: {newest()}")
    click("#type-save")
    check(within(20, lambda: "rear center" in text("#taught")), f"the word is stored {text('#message')}")
    check(within(30, lambda: newest() == "rear center"), "and heard")
    check("typed" in text("#taught") and "More takes" not in text("#taught"), f"it is shown as typed: {text('#taught')}")
    for _ in range(2):
        click("#taught li button:last-child")
    check(within(10, lambda: "rear center" not in text("#taught")), "two presses forget it")
