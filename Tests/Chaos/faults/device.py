"""What sound cards and their drivers do wrong."""

from ..schedule import fault
from ..world import RATE


def lasting(chaos, text, seconds):
    chaos.card.fail(text)
    try:
        chaos.wait(seconds)
    finally:
        chaos.card.fail("")


@fault("device", 1, 1)
def overrun(chaos, seconds, choice):
    """The card reports an overrun."""
    lasting(chaos, "xrun", seconds)


@fault("device", 2, 2)
def overruns(chaos, seconds, choice):
    """One overrun after the other, without a frame in between; from the sixth on, the service gives the card up."""
    lasting(chaos, f"storm {choice.randint(2, 14)}", seconds)


@fault("device", 1, 1)
def suspend(chaos, seconds, choice):
    """The card is suspended, and can be resumed."""
    lasting(chaos, "suspend", seconds)


@fault("device", 1, 1)
def skipped_frames(chaos, seconds, choice):
    """Frames are lost without an error."""
    lasting(chaos, f"skip {choice.randint(RATE // 4, 3 * RATE)}", seconds)


@fault("device", 0.5, 12)
def unplug(chaos, seconds, choice):
    """The card is pulled out and put in again."""
    lasting(chaos, "gone", seconds)


@fault("device", 0.5, 8)
def input_error(chaos, seconds, choice):
    """Reads give EIO, and the card cannot be opened."""
    lasting(chaos, "eio", seconds)


@fault("device", 0.4, 8)
def silence(chaos, seconds, choice):
    """The card delivers nothing, and reports no error."""
    lasting(chaos, "stall", seconds)


@fault("device", 0.5, 6)
def hang(chaos, seconds, choice):
    """Calls of the driver do not return."""
    lasting(chaos, "hang", seconds)


@fault("device", 2, 8)
def taken(chaos, seconds, choice):
    """The card is pulled out; when it is back, another program has it for a while."""
    lasting(chaos, "gone", seconds / 2)
    lasting(chaos, "busy", seconds / 2)


@fault("device", 0.5, 8)
def mute(chaos, seconds, choice):
    """Somebody mutes the service, and unmutes it."""
    try:
        chaos.insist("mute")
        chaos.wait(seconds)
    finally:
        chaos.insist("unmute")
