"""Taught words: taught and forgotten by the program's commands; what they answered says which words there must be."""

import contextlib
import json
import os
import subprocess

from .world import VOICES

TAKES = [str(VOICES / "Front_Center.wav"), str(VOICES / "Rear_Center.wav")]
MOST = 5


class TaughtWords:
    def __init__(self, beckon, environment, store):
        self.beckon = beckon
        self.environment = environment
        self.store = store
        self.names = set()
        self.count = 0
        self.refused = 0

    def command(self, *arguments):
        return subprocess.Popen(
            [self.beckon, *arguments], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )

    def teaching(self, name):
        # All words are the same recordings.
        return self.command("enroll", name, "--force", "--from", *TAKES)

    def teach(self, choice):
        if len(self.names) >= MOST:
            return self.forget(choice)
        self.count += 1
        name = f"chaos {self.count}"
        self.finish({name: self.teaching(name)}, {})

    def store_of_one(self, path):
        """Teaches a word into another store, as the faults do."""
        environment = {**self.environment, "BECKON_WORDS": str(path)}
        command = [self.beckon, "enroll", "chaos", "--from", *TAKES]
        subprocess.run(command, env=environment, check=True, stdout=subprocess.DEVNULL)
        return str(path)

    def forget(self, choice):
        if not self.names:
            return self.teach(choice)
        name = choice.choice(sorted(self.names))
        self.finish({}, {name: self.command("forget", name)})

    def at_once(self, choice):
        """Forgets two words and teaches two, all at the same time."""
        old = sorted(self.names)[:2]
        new = [f"chaos {self.count + number}" for number in (1, 2)]
        self.count += 2
        taught = {name: self.teaching(name) for name in new}
        self.finish(taught, {name: self.command("forget", name) for name in old})

    def finish(self, taught, forgotten):
        for name, process in taught.items():
            if process.wait(60) == 0:
                self.names.add(name)
            else:
                self.refused += 1
        for name, process in forgotten.items():
            if process.wait(60) == 0:
                self.names.discard(name)
            else:
                self.refused += 1

    @contextlib.contextmanager
    def replaced(self, data):
        """Garbage in place of the store; nothing if there is no store yet, or no room on its disk."""
        if not self.store.exists():
            yield
            return
        away = self.store.with_suffix(".away")
        owner = self.store.stat()
        os.rename(self.store, away)
        try:
            with contextlib.suppress(OSError):
                self.store.write_bytes(data)
                os.chown(self.store, owner.st_uid, owner.st_gid)
            yield
        finally:
            os.rename(away, self.store)

    def listed(self):
        """The words that the program lists."""
        text = subprocess.run(
            [self.beckon, "words", "--json"], env=self.environment, capture_output=True, text=True, check=True
        ).stdout
        return {json.loads(line)["word"] for line in text.splitlines()}
