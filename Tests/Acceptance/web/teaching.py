"""The live page teaches a word, on a page as large as a phone's: part of `run`."""

import array
import json
import random
import wave


def spoken(voice, path):
    """Writes a voice as a person says a word again and again: each time a little louder or lower, and with pauses."""
    with wave.open(str(voice)) as file:
        form, samples = file.getparams(), array.array("h", file.readframes(file.getnframes()))
    chance = random.Random(1)
    pause = [0] * round(form.framerate * 1.3)
    said = array.array("h")
    for gain in (0.9, 0.7, 0.5, 0.8, 0.6):
        said.extend(max(-32768, min(32767, round(one * gain + chance.gauss(0, 30)))) for one in [*samples, *pause])
    with wave.open(str(path), "wb") as file:
        file.setparams(form)
        file.writeframes(said.tobytes())


def judge(service, browser, check, within, picture):
    """Judges the page of a service that hears a voice say "rear center"."""
    print("\nTeaching a word at 390 × 844")
    text = lambda selector: browser.run(f"document.querySelector({json.dumps(selector)}).textContent")  # noqa: E731
    count = lambda selector: browser.run(f"document.querySelectorAll({json.dumps(selector)}).length")  # noqa: E731
    click = lambda selector: browser.run(f"document.querySelector({json.dumps(selector)}).click()")  # noqa: E731
    heard = "[...document.querySelectorAll('#heard li b')].filter(one => one.textContent === 'rear center').length"
    browser.view(390, 844, "screen", "light")

    def shown(name):
        # What was said last lies over the page until the next change or a touch.
        browser.run("scrollTo(0, 0); say('')")
        picture(name)

    browser.open(service.page)
    check(within(20, lambda: text("#status-text") == "Listening to mic"), "it listens")
    check(browser.run("document.querySelector('#teach-section').hidden"), "without a token: nothing can be taught")
    for path, body in [("/teaching", None), ("/teaching/0.wav", None), ("/control", {"command": "teach", "step": "record"})]:
        answer = browser.run(
            f"fetch({json.dumps(path)}, {{method: {json.dumps('POST' if body else 'GET')}, headers: {{'Content-Type': 'application/json'}}, "
            f"body: {json.dumps(json.dumps(body)) if body else 'undefined'}}}).then(answer => answer.status)"
        )
        check(answer == 403, f"without a token: {path} is refused ({answer})")
    browser.open("about:blank")
    browser.open(service.beckon("web", "link").strip())
    check(within(20, lambda: not browser.run("document.querySelector('#teach-section').hidden")), "with the token: words can be taught")
    browser.run("document.querySelector('#teach-name').focus()")
    browser.call("Input.insertText", text="rear center")
    browser.key("Enter", "Enter", "\r")
    check(within(10, lambda: text("#teach-word") == "“rear center”"), "the word has a name")
    for number in range(1, 5):
        # The voice does not wait until it is asked: a take that begins within the word is left out.
        left_out = []
        while len(left_out) < 6:
            click("#teach-record")
            counted = within(5, lambda: text("#teach-prompt").startswith("2"))
            asked = within(10, lambda: text("#teach-prompt").startswith(("Speak now", "Recording")))
            within(20, lambda: not browser.run("document.querySelector('#teach-record').disabled"))
            if not counted or not asked or count("#takes li") == number:
                break
            left_out.append(text("#teach-message"))
        check(counted and asked and count("#takes li") == number, f"take {number}: counted down, asked, recorded; {len(left_out)} left out {left_out[-1:]}")
        check(all(left_out), "and each that was left out has its reason")
    check(within(5, lambda: text("#teach-prompt").startswith("That is enough")), "four are enough")
    check("Said as in the takes" in text("#estimate"), f"the estimate in words: {text('#estimate')[:80]}…")
    heights = browser.run("[...document.querySelectorAll('#takes li:first-child i')].map(one => one.clientHeight)")
    check(len(heights) == 48 and max(heights) > 20 and min(heights) < 6, f"a take's picture has {len(heights)} bars, {min(heights)} to {max(heights)} px high")
    browser.run("misses.player.muted = true")
    click("#takes li:first-child button")
    check(within(10, lambda: browser.run("misses.player.currentTime > 0.2")), "a take is played")
    shown("teaching")
    click("#takes li:last-child button:last-child")
    check(within(10, lambda: count("#takes li") == 3 and text("#teach-prompt").startswith("2")), "the newest take is recorded again")
    within(20, lambda: not browser.run("document.querySelector('#teach-save').disabled"))
    click("#teach-save")
    check(within(10, lambda: "rear center" in text("#taught")), f"the word is stored {text('#message')}")
    check(within(20, lambda: browser.run(heard) > 0), "and heard")
    take = "#misses button[aria-label='Add this to the takes of rear center']"
    check(within(20, lambda: count(take) > 0), "a recent word can be made a take")
    shown("taught")
    browser.run(f"window.used = document.querySelector({json.dumps(take)}), used.click()")
    check(within(10, lambda: browser.run("used.textContent === '✓' || document.querySelector('#message').textContent !== ''")), "and is, by one click")
    check(browser.run("document.querySelector('#message').className === 'good'"), f"and the page says so: {text('#message')}")
    within(20, lambda: count("#misses button[aria-label='This is not rear center']") > 0)
    click("#misses button[aria-label='This is not rear center']")
    check(within(10, lambda: "nothing was changed" in text("#message")), f"the word itself cannot be made its negative: {text('#message')[:60]}…")
    where = browser.run("(box => [box.bottom <= innerHeight, box.left >= 0, box.right <= innerWidth])(document.querySelector('#message').getBoundingClientRect())")
    check(where == [True, True, True], f"what there is to say is in view, wherever the page is: {where}")
    click("#message")
    check(text("#message") == "", "and goes by a touch")


def judge_names(browser, check, within):
    """Judges other names of the taught word, and that it is forgotten."""
    text = lambda selector: browser.run(f"document.querySelector({json.dumps(selector)}).textContent")  # noqa: E731
    click = lambda selector: browser.run(f"document.querySelector({json.dumps(selector)}).click()")  # noqa: E731
    there = lambda selector: browser.run(f"document.querySelector({json.dumps(selector)}) !== null")  # noqa: E731

    def rename(name):
        click("#taught button[aria-label^='Rename ']")
        within(5, lambda: browser.run("document.activeElement.ariaLabel === 'New name of rear center'"))
        browser.call("Input.insertText", text=name)
        browser.key("Enter", "Enter", "\r")

    rename("left")
    check(within(10, lambda: "is a word that the model knows; choose another name" in text("#message")), f"a name that is in use is refused: {text('#message')}")
    click("#taught form button[type=button]")
    check(within(10, lambda: there("#taught button[aria-label='Rename rear center']")), "the word keeps its own then")
    rename("hey back")
    check(within(20, lambda: there("#taught button[aria-label='Rename hey back']")), f"another name is taken: {text('#message')}")
    heard = "[...document.querySelectorAll('#heard li b')].some(one => one.textContent === 'hey back')"
    check(within(20, lambda: browser.run(heard)), "and heard")
    for _ in range(2):
        click("#taught li button:last-child")
    check(within(10, lambda: "hey back" not in text("#taught")), "two presses forget it")
