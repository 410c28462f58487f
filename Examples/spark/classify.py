#!/usr/bin/env python3
"""Finds words in a corpus with Apache Spark: each partition of the names is read by a `beckon classify --worker`.

    spark-submit classify.py --manifest names.txt --output words --parts 64

writes Parquet: `words/files`, one row a file, and `words/events`, one row a word, both in folders `part=…`. A file's part is a
hash of its name. Running it again replaces both tables and gives the same rows, however often a task or a machine fails. Needs
pyspark from PyPI, and beckon on each machine.
"""

import argparse
import json
import os
import select
import subprocess
import time
import zlib


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    source = parser.add_mutually_exclusive_group(required=True)
    source.add_argument("--manifest", help="a list of names, one a line, which every machine can open")
    source.add_argument("--files", help="a path or pattern for Spark's binaryFiles, such as hdfs://host/talks/*/*.flac")
    parser.add_argument("--output", required=True, help="folder for files and events, in any file system that Spark writes")
    parser.add_argument("--parts", type=int, default=64, help="folders part=…, by a hash of the name; keep it the same")
    parser.add_argument("--tasks", type=int, default=0, help="partitions of the work (default: four times the cores)")
    parser.add_argument("--beckon", default="beckon", help="the program on each machine")
    parser.add_argument("--timeout", type=float, default=600, help="seconds for one file")
    parser.add_argument("options", nargs="*", help="options for beckon classify, after --, such as -- --sensitivity strict")
    return parser.parse_args()


# Before Spark is loaded, which takes a while.
arguments = options() if __name__ == "__main__" else None

from pyspark.sql import Row, SparkSession
from pyspark.sql import functions as f
from pyspark.sql import types as t

EVENT = t.StructType(
    [
        t.StructField("event", t.StringType()),
        t.StructField("word", t.StringType()),
        t.StructField("confidence", t.DoubleType()),
        t.StructField("start", t.DoubleType()),
        t.StructField("end", t.DoubleType()),
        t.StructField("time", t.DoubleType()),
    ]
)
RECORD = t.StructType(
    [
        t.StructField("file", t.StringType()),
        t.StructField("part", t.IntegerType()),
        t.StructField("seconds", t.DoubleType()),
        t.StructField("error", t.StringType()),
        t.StructField("events", t.ArrayType(EVENT)),
    ]
)


def part_of(name, parts):
    return zlib.crc32(name.encode()) % parts


class Worker:
    """A `beckon classify --worker`, which is started again when it died or gives no answer."""

    def __init__(self, command, timeout):
        self.command, self.timeout, self.process = command, timeout, None

    def ask(self, request, audio=b""):
        """The answer to a request; two workers may die of it."""
        data = json.dumps(request).encode() + b"\n" + audio
        for attempt in range(2):
            try:
                return json.loads(self._exchange(data))
            except (OSError, EOFError, TimeoutError) as error:
                self.close(kill=True)
                reason = str(error) or type(error).__name__
        return {"error": f"the worker gave no answer, twice: {reason}"}

    def _exchange(self, data):
        if self.process is None:
            self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
            os.set_blocking(self.process.stdin.fileno(), False)
        source, target = self.process.stdout.fileno(), self.process.stdin.fileno()
        end, line, rest = time.monotonic() + self.timeout, b"", memoryview(data)
        # Reads while it writes: a worker that refuses a request answers before it has read all of its audio.
        while not line.endswith(b"\n"):
            left = end - time.monotonic()
            readable, writable, _ = select.select([source], [target] if rest else [], [], max(0, left))
            if left <= 0:
                raise TimeoutError(f"no answer in {self.timeout} s")
            if writable:
                rest = rest[os.write(target, rest[: 1 << 16]) :]
            if readable:
                more = os.read(source, 1 << 16)
                if not more:
                    raise EOFError("the worker ended")
                line += more
        return line

    def close(self, kill=False):
        if self.process is None:
            return
        if kill:
            self.process.kill()
        self.process.stdin.close()
        self.process.stdout.close()
        self.process.wait()
        self.process = None


def classify(command, timeout, parts):
    """For mapPartitions: names, or pairs of a name and its bytes, become records."""

    def run(items):
        worker = Worker(command, timeout)
        try:
            for item in items:
                name, audio = item if isinstance(item, tuple) else (item, None)
                if audio is None:
                    answer = worker.ask({"file": name})
                else:
                    answer = worker.ask({"name": name, "bytes": len(audio)}, bytes(audio))
                events = [
                    Row(
                        event=event["event"],
                        word=event.get("word") or event.get("phrase"),
                        confidence=float(event["confidence"]),
                        start=float(event["start"]),
                        end=float(event["end"]),
                        time=float(event["time"]),
                    )
                    for event in answer.get("events", [])
                ]
                yield Row(file=name, part=part_of(name, parts), seconds=float(answer.get("seconds", 0)), error=answer.get("error"), events=events)
        finally:
            worker.close(kill=True)

    return run


def main():
    spark = SparkSession.builder.appName("beckon").getOrCreate()
    context = spark.sparkContext
    tasks = arguments.tasks or 4 * context.defaultParallelism
    command = [arguments.beckon, "classify", "--worker", *arguments.options]
    if arguments.manifest:
        with open(arguments.manifest, encoding="utf-8") as manifest:
            names = sorted({line.rstrip("\r\n") for line in manifest} - {""})
        items = context.parallelize(names, tasks)
    else:
        items = context.binaryFiles(arguments.files, tasks)
    records = spark.createDataFrame(items.mapPartitions(classify(command, arguments.timeout, arguments.parts)), RECORD)

    # The records are written once, and both tables are made from them: an executor that is lost later costs no second pass.
    staging = f"{arguments.output}/_records"
    records.write.mode("overwrite").parquet(staging)
    records = spark.read.schema(RECORD).parquet(staging)
    files = records.select("file", "seconds", f.size("events").alias("events"), "error", "part")
    events = records.select("file", f.explode("events").alias("event"), "part").select("file", "event.*", "part")
    for table, name in ((files, "files"), (events, "events")):
        # A part lies in one Parquet file, in the order of names.
        order = ["file"] + (["time", "start"] if name == "events" else [])
        table.repartition("part").sortWithinPartitions("part", *order).write.mode("overwrite").partitionBy("part").parquet(
            f"{arguments.output}/{name}"
        )
    summary = files.agg(f.count("*"), f.sum("seconds"), f.sum("events"), f.count("error")).first()
    print(f"beckon: {summary[0]} files, {summary[1] / 3600:.2f} h, {summary[2]} words, {summary[3]} files with errors")
    path = context._jvm.org.apache.hadoop.fs.Path(staging)
    path.getFileSystem(context._jsc.hadoopConfiguration()).delete(path, True)
    spark.stop()


if __name__ == "__main__":
    main()
