#!/usr/bin/env python3
"""Prints the words of a program that records, in an event loop: listen_async.py RATE PROGRAM [ARGUMENT…]

    listen_async.py 16000 arecord --quiet -t raw -f S16_LE -c 1 -r 16000

The program writes 16-bit samples of one channel. Other tasks of the loop go on meanwhile. Needs the package beckon (pip).
"""

import array
import asyncio
import signal
import sys

if len(sys.argv) < 3:
    sys.exit(__doc__.splitlines()[0])
# The reader may go early, as head does.
signal.signal(signal.SIGPIPE, signal.SIG_DFL)

import beckon


async def words(spotter, reader, rate):
    """Yields the words of samples that a reader gives."""
    with spotter.stream(rate) as stream:
        block = 2 * rate // 10
        while True:
            try:
                data = await reader.readexactly(block)
            except asyncio.IncompleteReadError as end:
                data = end.partial[: len(end.partial) // 2 * 2]
            # Off the loop's thread: a call takes milliseconds.
            for word in await asyncio.to_thread(stream.push, array.array("h", data)):
                yield word
            if len(data) < block:
                break
        for word in await asyncio.to_thread(stream.finish):
            yield word


async def main(rate, command):
    recorder = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        async for word in words(beckon.Spotter(), recorder.stdout, rate):
            print(f"{word.start:8.2f} s  {word.word:8} {word.confidence:.2f}", flush=True)
    finally:
        if recorder.returncode is None:
            recorder.terminate()
        await recorder.wait()


try:
    asyncio.run(main(int(sys.argv[1]), sys.argv[2:]))
except KeyboardInterrupt:
    pass
