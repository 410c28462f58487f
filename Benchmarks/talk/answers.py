"""What detectors found in streams, kept by what was asked, so that a run that ended goes on where it was, and only what changed is asked again."""

import functools
import hashlib
import json
import os
from pathlib import Path


@functools.cache
def digest(path):
    """The SHA-256 of a file, or of all files of a folder with their names."""
    path, found = Path(path), hashlib.sha256()
    for file in sorted(path.rglob("*")) if path.is_dir() else [path]:
        if file.is_file():
            found.update(f"{file.relative_to(path)}\0".encode() + file.read_bytes())
    return found.hexdigest()


class Answers:
    """A folder of answers. An answer is a list of detections: their time in seconds, word, score, and maybe more."""

    def __init__(self, folder):
        self.folder = Path(folder)

    def _path(self, question, stream):
        return self.folder / f"{hashlib.sha256(json.dumps([*question, digest(stream)]).encode()).hexdigest()}.json"

    def __call__(self, question, streams, ask):
        """Detections by stream. `ask` gets the streams without an answer, and yields each of them with its detections."""
        self.folder.mkdir(parents=True, exist_ok=True)
        missing = [stream for stream in streams if not self._path(question, stream).exists()]
        for stream, found in ask(missing) if missing else ():
            kept = self._path(question, stream)
            kept.with_suffix(".new").write_text(json.dumps(found))
            os.replace(kept.with_suffix(".new"), kept)
        return {stream.stem: json.loads(self._path(question, stream).read_text()) for stream in streams}
