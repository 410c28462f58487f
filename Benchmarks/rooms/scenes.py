"""Makes the recordings: people in a room in which a loudspeaker plays, as a microphone hears them, and what is played.

A scene is a file of two channels, `SET/CONDITION/NNN.wav`: the microphone, and the reference, which is what the loudspeaker was given. Beside it is the
label track. A set `words` has each command of the reporting half of the held-out speakers once, `talk` their sentences without a command, and
`alone` nobody who speaks. The same seed gives the same scenes.
"""

from typing import NamedTuple

import numpy as np
import pyroomacoustics
import scipy.signal
import soundfile

from Training.data.audio import RATE, fade, rms, unit_rms
from Training.data.recordings import samples
from Training.evaluate import streams

# Two responses each of a home and two rooms: of the place of the talker, and of the loudspeaker.
MEASURED = (
    ("house/kitchen", "house/kitchen-true-stereo"),
    ("house/dining-room", "house/dining-room-true-stereo"),
    ("house/dining-living", "house/dining-living-true-stereo"),
    ("house/dining-far-kitchen", "house/dining-mid-kitchen"),
    ("house/cinema-diningroom", "house/cinema-room"),
    ("chromium/medium-room1", "chromium/medium-room2"),
)
SIMULATED = 6
# RMS of the microphone's own noise.
NOISE = 3e-4
# Seconds between what is played and its sound at the microphone: of drivers and of sound servers.
DELAY = (0.02, 0.25)
# Factor of the RMS above which a bad loudspeaker clips.
CLIP = 1.5


class Condition(NamedTuple):
    """What is played (None: nothing), how much louder than the words in dB, and what else is amiss."""

    playback: str | None = None
    level: float = 0
    # Parts per million by which the clock of the playback is faster than that of the microphone.
    drift: float = 0
    clips: bool = False

    @property
    def name(self):
        if self.playback is None:
            return "nothing"
        words = [self.playback, f"{self.level:+.0f} dB"]
        words += [f"drift {self.drift:g} ppm"] if self.drift else []
        return ", ".join(words + ["clipping"] * self.clips)


class Room(NamedTuple):
    """Impulse responses [n] from the talker and from the loudspeaker to the microphone."""

    name: str
    talker: np.ndarray
    loudspeaker: np.ndarray


def measured_rooms(table):
    responses = {name: samples(table, row) for row, name in enumerate(table["name"]) if table["kind"][row] == "room"}
    return [Room(a, normal(responses[a]), normal(responses[b])) for a, b in MEASURED]


def simulated_rooms():
    """Rooms of 12 to 50 m² with reverberation of 0.2 to 0.7 s; the loudspeaker stands 0.2 to 1 m from the microphone."""
    for number in range(SIMULATED):
        draw = np.random.default_rng([49, number])
        size = np.array([draw.uniform(3, 7), draw.uniform(4, 7), draw.uniform(2.4, 3)])
        reverberation = 0.2 + 0.1 * number
        absorption, order = pyroomacoustics.inverse_sabine(reverberation, size)
        room = pyroomacoustics.ShoeBox(
            size, fs=RATE, materials=pyroomacoustics.Material(absorption), max_order=min(order, 40)
        )
        microphone = np.array([draw.uniform(0.5, size[0] - 0.5), 0.4, 0.9])
        room.add_microphone(microphone)
        angle = draw.uniform(0.2, np.pi - 0.2)
        for distance in (draw.uniform(1, 2.5), draw.uniform(0.2, 1)):
            place = microphone + distance * np.array([np.cos(angle), np.sin(angle), 0.2])
            room.add_source(np.clip(place, 0.2, size - 0.2))
            angle = draw.uniform(0.2, np.pi - 0.2)
        room.compute_rir()
        talker, loudspeaker = room.rir[0]
        yield Room(f"simulated, {reverberation:.1f} s", normal(talker), normal(loudspeaker))


def normal(response):
    """The response with the energy of its direct sound and first 50 ms as 1."""
    first = max(0, int(np.abs(response).argmax()) - RATE // 1000)
    energy = np.sum(np.square(response[first : first + RATE // 20], dtype=np.float64))
    return (response[first:] / np.sqrt(energy)).astype(np.float32)


def through(response, wave):
    return scipy.signal.fftconvolve(wave, response)[: len(wave)].astype(np.float32)


def playback(held_out, kind, length, draw):
    """`length` samples of what is played, at RMS 1."""
    if kind == "speech":
        return unit_rms(held_out.talk(length, draw))
    music = unit_rms(music_of(held_out.table, length, draw))
    if kind == "music":
        return music
    sounds = held_out.noise(length, draw)
    return unit_rms(held_out.talk(length, draw) + 0.4 * music + 0.2 * sounds)


def music_of(table, length, draw):
    rows = [row for row, name in enumerate(table["name"]) if str(name).startswith("music/")]
    parts = []
    while sum(map(len, parts)) < length:
        wave = samples(table, draw.choice(rows))
        parts.append(fade(unit_rms(wave[draw.integers(len(wave) // 2) :])))
    return np.concatenate(parts)[:length]


def scene(stream, room, condition, held_out, draw):
    """Microphone and reference [n, 2] of a stream of speech (which may be silent)."""
    speech = through(room.talker, stream.wave())
    # Silent words are as loud as usual ones would be.
    level = stream.speech_level(speech) if stream.spans else streams.LEVEL
    microphone = speech + draw.normal(0, NOISE, len(speech)).astype(np.float32)
    reference = np.zeros_like(speech)
    if condition.playback is not None:
        delay = int(draw.uniform(*DELAY) * RATE)
        played = playback(held_out, condition.playback, len(speech) + RATE, draw)
        sound = np.clip(played, -CLIP, CLIP) if condition.clips else played
        echo = through(room.loudspeaker, np.pad(sound, (delay, 0)))[: len(speech)]
        microphone = microphone + echo * np.float32(level / rms(echo) * 10 ** (condition.level / 20))
        if condition.drift:
            played = scipy.signal.resample(played, round(len(played) / (1 + 1e-6 * condition.drift)))
        reference = played[: len(speech)]
    both = np.stack([microphone, 0.1 * reference], axis=1)
    return np.clip(both, -1, 1).astype(np.float32)


def silence(seconds):
    stream = streams.Stream()
    stream.add_silence(seconds)
    return stream


def speeches(held_out, minutes, draw):
    """Streams of each set, by the set's name."""
    makes = {"words": (held_out.commands, streams.words), "talk": (held_out.speech, streams.talk)}
    for name, (rows, make) in makes.items():
        found, left = [], minutes[name] * 60
        for group in streams.groups(held_out, rows, draw):
            if left <= 0:
                break
            found.append(make(held_out, group, draw))
            left -= found[-1].length / RATE
        yield name, found
    yield "alone", [silence(60)] * int(minutes["alone"])


def make(held_out, folder, conditions, minutes, seed=1):
    """Writes the scenes of all conditions."""
    rooms = [*measured_rooms(held_out.table), *simulated_rooms()]
    for name, found in speeches(held_out, minutes, np.random.default_rng([49, seed])):
        for condition in conditions:
            path = folder / condition.name / name
            for number, stream in enumerate(found):
                draw = np.random.default_rng([seed, number, len(name)])
                both = scene(stream, rooms[number % len(rooms)], condition, held_out, draw)
                write(path, number, both, stream)


def write(folder, number, both, stream):
    """Writes a scene, and its label track beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    soundfile.write(folder / f"{number:03}.wav", both, RATE, subtype="PCM_16")
    with open(folder / f"{number:03}.txt", "w") as file:
        file.writelines(f"{a / RATE:.6f}\t{b / RATE:.6f}\t{label}\n" for a, b, label in stream.labels)
