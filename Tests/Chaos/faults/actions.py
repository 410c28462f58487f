"""Actions that fail."""

from ..schedule import fault


def program(chaos, mode, seconds):
    chaos.program.mode(mode)
    try:
        chaos.wait(seconds)
    finally:
        chaos.program.mode("work")


def server(chaos, mode, seconds):
    chaos.hook.released.clear()
    chaos.hook.mode = mode
    try:
        chaos.wait(seconds)
    finally:
        chaos.hook.mode = "work"
        chaos.hook.released.set()


@fault("program", 5, 40)
def killed_program(chaos, seconds, choice):
    """SIGKILL ends the action's program."""
    program(chaos, "kill", seconds)


@fault("program", 5, 20)
def failing_program(chaos, seconds, choice):
    """The action's program exits with status 3."""
    program(chaos, "fail", seconds)


@fault("program", 5, 90)
def hanging_program(chaos, seconds, choice):
    """The action's program does not end, until its time-out ends it; further actions find no room."""
    program(chaos, "hang", seconds)


@fault("program", 5, 40)
def stubborn_program(chaos, seconds, choice):
    """The action's program ignores SIGTERM."""
    program(chaos, "stubborn", seconds)


@fault("program", 5, 40)
def program_with_child(chaos, seconds, choice):
    """The action's program leaves a process in the background."""
    program(chaos, "leave", seconds)


@fault("web-server", 5, 60)
def hanging_server(chaos, seconds, choice):
    """The web server takes the request and does not answer."""
    server(chaos, "hang", seconds)


@fault("web-server", 5, 30)
def refusing_server(chaos, seconds, choice):
    """The web server answers 503."""
    server(chaos, "refuse", seconds)


@fault("web-server", 5, 30)
def mad_server(chaos, seconds, choice):
    """The web server answers with something that is not HTTP, or just closes the connection."""
    server(chaos, choice.choice(["garbage", "close"]), seconds)
