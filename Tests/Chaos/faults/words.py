"""Words that are taught and forgotten while the service listens."""

from ..schedule import fault


@fault("words", 3, 15)
def teach(chaos, seconds, choice):
    """A word is taught; the service reads it by itself."""
    chaos.words.teach(choice)
    chaos.wait(seconds)


@fault("words", 3, 15)
def forget(chaos, seconds, choice):
    """A word is forgotten."""
    chaos.words.forget(choice)
    chaos.wait(seconds)


@fault("words", 3, 10)
def teach_at_once(chaos, seconds, choice):
    """Several programs teach and forget at the same time."""
    chaos.words.at_once(choice)
    chaos.wait(seconds)


@fault("words", 2, 6)
def broken_store(chaos, seconds, choice):
    """The store is replaced by garbage for a while."""
    with chaos.words.replaced(choice.randbytes(choice.randint(0, 5000))):
        chaos.wait(seconds)
