#!/usr/bin/env python3
"""Prints the words that a microphone hears, until Ctrl-C: microphone.py [DEVICE]

Needs the packages beckon, numpy and sounddevice (pip), and libportaudio2 (Debian).
"""

import queue
import signal
import sys

if len(sys.argv) > 2:
    sys.exit(__doc__.splitlines()[0])
# The reader may go early, as head does.
signal.signal(signal.SIGPIPE, signal.SIG_DFL)

import beckon
import sounddevice

device = sys.argv[1] if len(sys.argv) > 1 else None
rate = int(sounddevice.query_devices(device, "input")["default_samplerate"])
spotter = beckon.Spotter()
stream = spotter.stream(sample_rate=rate)
# The library is not called on the sound card's thread, which must not wait.
blocks = queue.Queue()


def receive(samples, frames, time, status):
    if status:
        print(status, file=sys.stderr)
    blocks.put(samples.copy())


print(f"Say one of: {', '.join(spotter.words)}", flush=True)
try:
    with sounddevice.InputStream(device=device, samplerate=rate, channels=1, dtype="float32", callback=receive):
        while True:
            for word in stream.push(blocks.get()):
                print(f"{word.start:8.2f} s  {word.word:8} {word.confidence:.2f}", flush=True)
except KeyboardInterrupt:
    pass
