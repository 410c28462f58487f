#!/usr/bin/env python3
"""Shows what `beckon evaluate` found, by word and by speaker: clips.py CLIPS.csv PICTURE.png

    beckon evaluate -o clips.csv clips/

writes the table. The cells between the lines `# %%` also run one by one, as a notebook, in Jupyter, VS Code or Spyder. Needs the
packages pandas and matplotlib (pip).
"""

# %% The table: one row a clip
import signal
import sys

if len(sys.argv) != 3:
    sys.exit(__doc__.splitlines()[0])
# The reader may go early, as head does.
signal.signal(signal.SIGPIPE, signal.SIG_DFL)

import pandas
from matplotlib import pyplot

clips = pandas.read_csv(sys.argv[1], dtype={"said": str, "label": str, "heard": str, "speaker": str}, keep_default_na=False)
clips["right"] = clips.heard == clips.label

# %% The picture: how many are right in each word, and how sure the right and the wrong ones are
words = clips.groupby("said").agg(clips=("right", "size"), right=("right", "mean"), confidence=("confidence", "mean"))
figure, (left, right) = pyplot.subplots(1, 2, figsize=(10, 4), layout="constrained")
words.right.sort_values().plot.barh(ax=left, xlim=(0, 1), xlabel="share of clips labelled right", ylabel="")
bins = [step / 20 for step in range(21)]
for is_right, name in ((True, "right"), (False, "wrong")):
    right.hist(clips.confidence[clips.right == is_right], bins=bins, alpha=0.6, label=name)
right.set(xlabel="confidence", ylabel="clips", yscale="log")
right.legend()
figure.savefig(sys.argv[2], dpi=120)

# %% By word, and the speakers whose words are found least
print(words.sort_values("right").to_string(float_format="{:.3f}".format))
if "speaker" in clips:
    speakers = clips.groupby("speaker").right.agg(["size", "mean"]).sort_values(["mean", "size"])
    print(speakers.head(10).to_string(float_format="{:.3f}".format))

# %% The surest mistakes
wrong = clips[~clips.right].sort_values("confidence", ascending=False)
print(wrong[["file", "said", "heard", "confidence", "margin"]].head(20).to_string(index=False))
