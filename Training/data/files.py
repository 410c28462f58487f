"""Files that appear under their name only once they are complete."""

import contextlib
import json
import os


@contextlib.contextmanager
def replacing(path):
    """Yields the path of a temporary file beside `path`, which replaces it when the block ends without an error."""
    stem, ending = os.path.splitext(path)
    part = f"{stem}.part{ending}"
    yield part
    os.replace(part, path)


def write_json(path, value):
    """Writes a value as indented JSON."""
    with replacing(path) as part, open(part, "w") as file:
        json.dump(value, file, indent=1)
        file.write("\n")
