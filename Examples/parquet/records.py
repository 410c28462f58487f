#!/usr/bin/env python3
"""Turns the records of `beckon classify` into two Parquet tables: one row a file, and one row a word.

    beckon classify --format records archive/ | python3 records.py words

writes words/files.parquet and words/events.parquet. Memory is flat, and the files appear whole or not at all. Needs pyarrow from
PyPI."""

import json
import os
import sys
from pathlib import Path

if len(sys.argv) != 2:
    sys.exit("records.py: give a folder for the tables; records come from standard input")

import pyarrow as pa
import pyarrow.parquet as pq

FILES = pa.schema([("file", pa.string()), ("seconds", pa.float64()), ("events", pa.int32()), ("error", pa.string())])
EVENTS = pa.schema(
    [("file", pa.string()), ("event", pa.string()), ("word", pa.string())]
    + [(name, pa.float64()) for name in ("confidence", "start", "end", "time")]
)


class Table:
    """Writes rows in groups, to a file that gets its name at the end."""

    def __init__(self, path, schema, group=50_000):
        self.path, self.schema, self.group, self.rows = path, schema, group, []
        self.temporary = path.with_suffix(".tmp")
        self.writer = pq.ParquetWriter(self.temporary, schema)

    def add(self, row):
        self.rows.append(row)
        if len(self.rows) >= self.group:
            self.flush()

    def flush(self):
        self.writer.write_table(pa.Table.from_pylist(self.rows, schema=self.schema))
        self.rows = []

    def close(self):
        self.flush()
        self.writer.close()
        os.replace(self.temporary, self.path)


def main():
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    files, events = Table(folder / "files.parquet", FILES), Table(folder / "events.parquet", EVENTS)
    for number, line in enumerate(sys.stdin, 1):
        try:
            record = json.loads(line)
            found = record.get("events", [])
            files.add({"file": record["file"], "seconds": record["seconds"], "events": len(found), "error": record.get("error")})
            for event in found:
                events.add({"file": record["file"], **event, "word": event.get("word") or event.get("phrase")})
        except (ValueError, KeyError, TypeError):
            sys.exit(f"records.py: line {number} is no record; give the output of beckon classify --format records")
    events.close()
    files.close()


main()
