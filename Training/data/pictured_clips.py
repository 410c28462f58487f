"""Writes clips that sound as the pictures of the training partition look: words that are missing as recordings, half of them commands.

    python -m Training.data.pictured_clips --data DIR --out DIR [--cache DIR]

They end at 4 kHz, as `data/pictures.py` says, so that whoever trains on them cuts other clips there too. With `--cache`, the folder of the decoded
recordings, they have noise above instead, as `data/upper_band.py` learns it there. Files are
`<word>/<speaker>_nohash_<n>.flac`; existing ones stay, so that an interrupted run continues.
"""

import os

import numpy as np
import soundfile

from Training.data import command_line, pictures, recordings, upper_band
from Training.data.audio import RATE
from Training.data.files import replacing
from Training.data.split import partition

# The peak of a file's samples at most, and the steps by which a waveform is found: fewer than for what is measured.
PEAK, STEPS = 0.99, (100, 25)


def main(arguments=None):
    parser = command_line.parser(__doc__, data=False)
    parser.add_argument("--data", required=True, action="append", help="folder of recordings; repeatable")
    parser.add_argument("--out", required=True, help="folder to write to")
    parser.add_argument("--cache", help="folder of the decoded recordings, for noise above 4 kHz")
    options = parser.parse_args(arguments)
    above = upper_band.learned(recordings.load_all(options.data, options.cache)).added if options.cache else lambda waves, _: waves
    path = lambda name: os.path.join(options.out, f"{name}.flac")
    wanted = lambda name: partition(name) == "training" and not os.path.exists(path(name))
    found = dict(sorted(pair for folder in options.data for pair in pictures.names_and_pictures(folder, wanted)))
    names = list(found)
    for begin in range(0, len(names), pictures.CHUNK):
        some = names[begin : begin + pictures.CHUNK]
        for name, wave in zip(some, above(pictures.waves_of([found[name] for name in some], STEPS), begin)):
            os.makedirs(os.path.dirname(path(name)), exist_ok=True)
            with replacing(path(name)) as unfinished:
                soundfile.write(unfinished, wave * min(1, PEAK / max(np.abs(wave).max(), 1e-9)), RATE, format="FLAC")
    print(f"{len(names)} clips written to {options.out}")


if __name__ == "__main__":
    main()
