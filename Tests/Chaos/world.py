"""What the card plays: words at random places in a loop, and which of them the detector finds when nothing goes wrong."""

import array
import json
import random
import subprocess
import wave
from dataclasses import dataclass
from pathlib import Path

RATE = 48_000
# Debian's package alsa-utils has these voices.
VOICES = Path("/usr/share/sounds/alsa")
UTTERANCES = ["Front_Left", "Rear_Left", "Side_Left", "Front_Right", "Rear_Right", "Side_Right"]
LOOP_SECONDS = 90
# The service's blocks may begin anywhere in the loop, so the truth is asked for this many places within a block.
PHASES = 5


@dataclass(frozen=True)
class Word:
    """A word that the detector finds in the loop, decided at `time` seconds from the loop's begin."""

    name: str
    time: float
    # Whether it is found wherever the blocks begin, by some margin, and with or without taught words.
    is_certain: bool


def samples(path):
    with wave.open(str(path)) as file:
        if (file.getframerate(), file.getnchannels(), file.getsampwidth()) != (RATE, 1, 2):
            raise SystemExit(f"{path}: not 48 kHz, one channel, 16 bits")
        return array.array("h", file.readframes(file.getnframes()))


def write(path, frames):
    with wave.open(str(path), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(frames.tobytes())


class World:
    def __init__(self, folder, seed):
        """Writes the loop to FOLDER/world.wav; a seed always gives the same one."""
        choice = random.Random(f"world {seed}")
        voices = {name: samples(VOICES / f"{name}.wav") for name in UTTERANCES}
        # Noise of -8 to 7 steps.
        noise = choice.randbytes(LOOP_SECONDS * RATE).translate(bytes((value // 16 - 8) % 256 for value in range(256)))
        frames = array.array("h", array.array("b", noise))
        place = RATE
        while True:
            voice = voices[choice.choice(UTTERANCES)]
            if place + len(voice) > len(frames) - RATE:
                break
            for index, sample in enumerate(voice):
                frames[place + index] = max(-32768, min(32767, frames[place + index] + sample))
            place += len(voice) + int(choice.uniform(0.8, 2.5) * RATE)
        self.path = folder / "world.wav"
        write(self.path, frames)
        self.frames = frames
        self.folder = folder
        self.words = []

    def learn(self, beckon, taught):
        """Finds out which words the detector finds. TAUGHT are stores of words that the service may have meanwhile."""
        found = []
        runs = 0
        path = self.folder / "phase.wav"
        for store in ["none", *taught]:
            for phase in range(PHASES):
                # The loop twice, so that its end meets its begin; counted is what is decided in the middle.
                shift = phase * RATE // 10 // PHASES
                write(path, self.frames[shift:] + self.frames[: RATE * 20 + shift])
                text = subprocess.run(
                    [beckon, "classify", "--json", "--mode", "spot", "--words", store, *thresholds(), str(path)],
                    check=True, capture_output=True, text=True,
                ).stdout
                runs += 1
                for event in map(json.loads, text.splitlines()):
                    time = event["time"] + shift / RATE
                    if 10 <= time < LOOP_SECONDS + 10:
                        found.append((event["word"], time % LOOP_SECONDS, event["confidence"]))
        path.unlink()
        self.words = list(clusters(sorted(found), runs))

    def between(self, begin, end):
        """The words decided between two positions, in seconds since the card's first start, with their positions."""
        for turn in range(int(begin // LOOP_SECONDS), int(end // LOOP_SECONDS) + 1):
            for word in self.words:
                if begin <= (time := turn * LOOP_SECONDS + word.time) < end:
                    yield time, word


# Lower than the words' own thresholds, so that these are the ones in question; the same for service and truth.
THRESHOLD = 0.6


def thresholds():
    return ["--word", f"left={THRESHOLD}", "--word", f"right={THRESHOLD}"]


def clusters(found, runs):
    """Puts detections of the same utterance together."""
    group = []
    for name, time, confidence in [*found, (None, 0, 0)]:
        if group and (name != group[0][0] or time - group[0][1] > 0.6):
            times = [time for _, time, _ in group]
            least = min(confidence for _, _, confidence in group)
            certain = len(group) == runs and max(times) - min(times) < 0.35 and least > THRESHOLD + 0.05
            yield Word(group[0][0], sum(times) / len(times), certain)
            group = []
        group.append((name, time, confidence))
