#!/usr/bin/env python3
"""Draws a recording with the words that were found in it: plot.py RECORDING.wav PICTURE.png

The cells between the lines `# %%` also run one by one, as a notebook, in Jupyter, VS Code or Spyder. Needs the packages beckon, numpy
and matplotlib (pip).
"""

# %% The recording: one channel of 16-bit samples
import signal
import sys
import wave

if len(sys.argv) != 3:
    sys.exit(__doc__.splitlines()[0])
# The reader may go early, as head does.
signal.signal(signal.SIGPIPE, signal.SIG_DFL)

import beckon
import numpy
from matplotlib import pyplot

path = sys.argv[1]
with wave.open(path) as file:
    rate, channels = file.getframerate(), file.getnchannels()
    samples = numpy.frombuffer(file.readframes(file.getnframes()), dtype="int16").reshape(-1, channels)

# %% The words at two sensitivities
words = {name: beckon.Spotter(sensitivity=name).detect(samples, rate) for name in ("balanced", "eager")}

# %% The picture
figure, axes = pyplot.subplots(figsize=(9, 3), layout="constrained")
seconds = numpy.arange(len(samples)) / rate
axes.plot(seconds, samples.mean(axis=1) / 32_768, color="0.6", linewidth=0.5)
for word in words["eager"]:
    axes.axvspan(word.start, word.end, color="tab:green" if word in words["balanced"] else "tab:orange", alpha=0.3)
    axes.annotate(f"{word.word} {word.confidence:.2f}", (word.start, 0.9), xycoords=("data", "axes fraction"))
axes.set(xlabel="seconds", ylabel="amplitude", xlim=(0, len(samples) / rate), title=path)
figure.savefig(sys.argv[2], dpi=120)
for name, found in words.items():
    print(name, [(word.word, round(word.confidence, 2)) for word in found])
