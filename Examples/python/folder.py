#!/usr/bin/env python3
"""Makes a table of the words in a folder of recordings: folder.py FOLDER [TABLE.csv]

Needs the packages beckon and pandas (pip).
"""

import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

if not 2 <= len(sys.argv) <= 3:
    sys.exit(__doc__.splitlines()[0])
# The reader may go early, as head does.
signal.signal(signal.SIGPIPE, signal.SIG_DFL)

import beckon
import pandas

spotter = beckon.Spotter()


def rows(path):
    try:
        return [{"file": str(path), **word._asdict()} for word in spotter.detect_file(path)]
    except beckon.AudioError as error:
        print(error, file=sys.stderr)
        return []


paths = sorted(path for path in Path(sys.argv[1]).rglob("*") if path.suffix.lower() in (".wav", ".flac", ".ogg", ".mp3"))
# Threads share the model, and Python's lock is not held while the library works.
with ThreadPoolExecutor() as threads:
    table = pandas.DataFrame([row for part in threads.map(rows, paths) for row in part], columns=["file", *beckon.Detection._fields])
if len(sys.argv) > 2:
    table.to_csv(sys.argv[2], index=False)
print(table.to_string(index=False))
print(table.groupby("word").confidence.agg(["count", "mean"]).to_string())
