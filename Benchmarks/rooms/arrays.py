"""Words that arrays of microphones hear: one channel, the mean of all, the best channel, and delay and sum.

    python -m Benchmarks.rooms.arrays --data DIR --cache DIR --work DIR

The ten words by the reporting half of the held-out speakers in simulated rooms (one for each scene of two to three minutes, up to six), by a circle
of microphones of 9 cm, in silence and with music from a loudspeaker, without echo cancellation. What is measured here is not in the program, but for a single channel
and "Beckon", which gets all channels and mixes them itself: the mean, in which opposite channels are turned and dead ones left out.
"""

import json
import shutil

import numpy as np
import pyroomacoustics
import soundfile

from Benchmarks.rooms import scenes
from Benchmarks.rooms.options import parser as options_of
from Training.data import recordings
from Training.data.audio import RATE, rms
from Training.evaluate import program
from Training.evaluate.held_out import HeldOut

RADIUS = 0.045
BLOCK = RATE // 10
# Largest difference of two arrivals, in samples: of an array of 20 cm.
REACH = 10
MODES = ("command", "spot")


def responses(count, number):
    """Impulse responses [2][count, n] from the talker and the loudspeaker to a circle of microphones, in a room as those of scenes.py."""
    draw = np.random.default_rng([49, number])
    size = np.array([draw.uniform(3, 7), draw.uniform(4, 7), draw.uniform(2.4, 3)])
    absorption, order = pyroomacoustics.inverse_sabine(0.2 + 0.1 * number, size)
    room = pyroomacoustics.ShoeBox(size, fs=RATE, materials=pyroomacoustics.Material(absorption), max_order=min(order, 25))
    center = np.array([draw.uniform(0.5, size[0] - 0.5), 0.4, 0.9])
    angles = 2 * np.pi * np.arange(count) / count
    circle = np.stack([np.cos(angles), np.sin(angles), 0 * angles])
    room.add_microphone_array(center[:, None] + RADIUS * circle)
    for distance in (draw.uniform(1, 2.5), draw.uniform(0.3, 1)):
        angle = draw.uniform(0.2, np.pi - 0.2)
        place = center + distance * np.array([np.cos(angle), np.sin(angle), 0.2])
        room.add_source(np.clip(place, 0.2, size - 0.2))
    room.compute_rir()
    length = min(len(one) for microphone in room.rir for one in microphone)
    of_source = np.array([[room.rir[m][source][:length] for m in range(count)] for source in range(2)])
    return [each / np.sqrt(np.mean(np.sum(each**2, axis=1))) for each in of_source]


def heard(stream, count, number, level, held_out, draw):
    """The channels [n, count]; `level` is how much louder the music is than the words, in dB; None for no music."""
    talker, loudspeaker = responses(count, number)
    speech = np.stack([scenes.through(one, stream.wave()) for one in talker], axis=1)
    channels = speech + draw.normal(0, scenes.NOISE, speech.shape)
    if level is not None:
        played = scenes.playback(held_out, "music", len(speech), draw)
        echo = np.stack([scenes.through(one, played) for one in loudspeaker], axis=1)
        channels += echo * stream.speech_level(speech[:, 0]) / rms(echo[:, 0]) * 10 ** (level / 20)
    return channels.astype(np.float32)


def one(channels):
    return channels[:, 0]


def mean(channels):
    return channels.mean(axis=1)


def energies(channels):
    """Of each block [blocks, channels], and the floor of each channel in the last ten seconds."""
    blocks = len(channels) // BLOCK
    power = (channels[: blocks * BLOCK].reshape(blocks, BLOCK, -1) ** 2).mean(axis=1) + 1e-12
    floor = np.stack([np.quantile(power[max(0, n - 99) : n + 1], 0.1, axis=0) for n in range(blocks)])
    return power, floor


def best(channels):
    """The channel with the largest ratio of the last second to its floor; it changes only in pauses."""
    power, floor = energies(channels)
    out, now = np.zeros(len(channels), np.float32), 0
    for n in range(len(power)):
        loudest = power[max(0, n - 9) : n + 1].max(axis=0)
        ratio, alive = loudest / floor[n], loudest > 1e-3 * np.median(loudest)
        quiet = power[n, now] < 4 * floor[n, now]
        if quiet or not alive[now]:
            now = int(np.where(alive, ratio, 0).argmax())
        out[n * BLOCK : (n + 1) * BLOCK] = channels[n * BLOCK : (n + 1) * BLOCK, now]
    return out


def beam(channels):
    """Delay and sum: delays and signs by whitened cross-correlation with the loudest channel, renewed in loud blocks. Dead channels are left out."""
    power, floor = energies(channels)
    count = channels.shape[1]
    padded = np.pad(channels, ((RATE + REACH, REACH), (0, 0)))
    out = np.zeros(len(channels), np.float32)
    delays, signs, weights = np.zeros(count, int), np.ones(count), np.ones(count)
    cross = None
    for n in range(len(power)):
        total = power[max(0, n - 9) : n + 1].mean(axis=0)
        weights = (total > 1e-3 * np.median(total)).astype(float)
        end = RATE + REACH + (n + 1) * BLOCK
        if power[n].max() > 4 * floor[n].max():
            spectra = np.fft.rfft(padded[end - 4096 : end] * np.hanning(4096)[:, None], axis=0)
            loudest = 0 if weights[0] else int(weights.argmax())
            new = spectra * np.conj(spectra[:, loudest : loudest + 1])
            new /= np.abs(new) + 1e-9
            cross = new if cross is None else 0.8 * cross + 0.2 * new
            lags = np.fft.irfft(cross, axis=0)
            near = np.concatenate([lags[-REACH:], lags[: REACH + 1]])
            peaks = np.abs(near).argmax(axis=0)
            delays, signs = peaks - REACH, np.sign(near[peaks, np.arange(count)])
        for c in range(count):
            start = RATE + REACH + n * BLOCK + delays[c]
            out[n * BLOCK : (n + 1) * BLOCK] += signs[c] * weights[c] / weights.sum() * padded[start : start + BLOCK, c]
    return out


def mixed_by_program(channels):
    return channels


# By their names in the table.
WAYS = {"one channel": one, "mean": mean, "Beckon": mixed_by_program, "best": best, "delay and sum": beam}


def inverted(channels):
    """The last one is inverted and, of more than two, the third one dead."""
    channels[:, -1] *= -1
    if channels.shape[1] > 2:
        channels[:, 2] *= 1e-3


def opposite(channels):
    channels[:, 1] = -channels[:, 0]


# Title, microphones, and what is amiss.
ARRAYS = (
    ("2", 2, None),
    ("4", 4, None),
    ("6", 6, None),
    ("8", 8, None),
    ("6, one dead, one inverted", 6, inverted),
    ("2, one inverted", 2, inverted),
    ("2, exactly opposite", 2, opposite),
)


def recall(options, folder):
    report = json.loads(program.run(options.beckon, "evaluate", "--stream", "--json", "--words", "none", "--model", options.model, folder))
    for mode in MODES:
        words = [w["figures"] for s in report["settings"] if s["mode"] == mode for w in s["words"]]
        yield f"{100 * sum(w['hits'] for w in words) / sum(w['said'] for w in words):.1f}"


def main():
    parser = options_of(__doc__)
    parser.add_argument("--minutes", default=8, type=float)
    parser.add_argument("--arrays", nargs="*", default=[], help="titles of the arrays to measure (default: all)")
    parser.add_argument("--ways", nargs="*", default=list(WAYS), choices=WAYS)
    options = parser.parse_args()
    held_out = HeldOut(recordings.load_all([str(options.data)], str(options.cache)), "report")
    draw = np.random.default_rng([49, 1])
    streams = dict(scenes.speeches(held_out, {"words": options.minutes, "talk": 0, "alone": 0}, draw))
    print("| array | music | way |" + "".join(f" {mode}: recall |" for mode in MODES))
    print("|---|---|---|" + "--:|" * len(MODES), flush=True)
    for title, count, fault in ARRAYS:
        if options.arrays and title not in options.arrays:
            continue
        for level in (None, -10):
            inputs = []
            for number, stream in enumerate(streams["words"]):
                channels = heard(stream, count, number % scenes.SIMULATED, level, held_out, np.random.default_rng([7, number]))
                if fault:
                    fault(channels)
                inputs.append((stream, channels))
            for name in options.ways:
                folder = options.work / "array"
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                for number, (stream, channels) in enumerate(inputs):
                    soundfile.write(folder / f"{number:03}.wav", np.clip(WAYS[name](channels), -1, 1), RATE, subtype="PCM_16")
                    with open(folder / f"{number:03}.txt", "w") as file:
                        file.writelines(f"{a / RATE:.6f}\t{b / RATE:.6f}\t{label}\n" for a, b, label in stream.labels)
                music = "none" if level is None else f"{level:+d} dB"
                print(f"| {title} | {music} | {name} |", *(f"{cell} |" for cell in recall(options, folder)), flush=True)


if __name__ == "__main__":
    main()
