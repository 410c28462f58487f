"""The installed package on the recorded voices of alsa-utils.

BECKON, if set, is the program whose answers the package must give: `beckon classify` with the same model.
"""

import array
import gc
import json
import math
import os
import subprocess
import tempfile
import threading
import unittest
import wave
from pathlib import Path

import beckon

try:
    import numpy
except ImportError:
    numpy = None

VOICES = Path("/usr/share/sounds/alsa")
LEFT = VOICES / "Front_Left.wav"


def recording(path):
    """The 16-bit samples of a recording with one channel, and its rate."""
    with wave.open(str(path)) as file:
        return array.array("h", file.readframes(file.getnframes())), file.getframerate()


class Files(unittest.TestCase):
    def test_words_of_a_file(self):
        spotter = beckon.Spotter()
        self.assertEqual(len(spotter.words), 10)
        (word,) = spotter.detect_file(LEFT)
        self.assertEqual(word.word, "left")
        self.assertTrue(0.5 < word.confidence <= 1 and 0.5 < word.start < word.end < 1.7)
        self.assertEqual(spotter.detect_file(str(LEFT), threads=2), [word])
        self.assertEqual(spotter.detect_file(VOICES / "Noise.wav"), [])

    @unittest.skipUnless(os.environ.get("BECKON"), "BECKON names no program")
    def test_answers_are_those_of_classify(self):
        model = Path(beckon.__file__).parent / "models" / "commands"
        for options, settings in [
            ([], {}),
            (["--mode", "command"], {"mode": "command"}),
            (["--trigger", "end", "--threshold", "0.3"], {"trigger": "end", "threshold": 0.3}),
            (["--no-confirm", "--sensitivity", "eager"], {"confirm": False, "sensitivity": "eager"}),
        ]:
            spotter = beckon.Spotter(**settings)
            found, paths = 0, sorted(VOICES.glob("*.wav"))
            command = [os.environ["BECKON"], "classify", "--json", "--words", "none", "--model", str(model), *options]
            lines = subprocess.run([*command, *map(str, paths)], check=True, capture_output=True, text=True).stdout.splitlines()
            events = [event for event in map(json.loads, lines) if event.get("event") == "word"]
            for path in paths:
                expected = [event for event in events if event["file"] == str(path)]
                words = spotter.detect_file(path)
                samples, rate = recording(path)
                self.assertEqual(spotter.detect(samples, rate), words, path)
                self.assertEqual([word.word for word in words], [event["word"] for event in expected], path)
                for word, event in zip(words, expected):
                    # classify prints so many places.
                    self.assertEqual(f"{word.confidence:.4f}", f"{event['confidence']:.4f}")
                    self.assertEqual((f"{word.start:.3f}", f"{word.end:.3f}"), (f"{event['start']:.3f}", f"{event['end']:.3f}"))
                    for key in ("proposed", "confirmed"):
                        value = getattr(word, key)
                        self.assertEqual(None if value is None else f"{value:.4f}", f"{event[key]:.4f}" if key in event else None)
                found += len(words)
            self.assertGreater(found, 0, options)


class Streams(unittest.TestCase):
    def setUp(self):
        self.spotter = beckon.Spotter()
        self.expected = self.spotter.detect_file(LEFT)
        self.samples, self.rate = recording(LEFT)

    def test_words_of_a_stream_are_those_of_the_file(self):
        for chunk in (441, 4800, 1_000_000):
            stream, found = self.spotter.stream(self.rate), []
            for start in range(0, len(self.samples), chunk):
                found += stream.push(self.samples[start : start + chunk])
            self.assertEqual(found + stream.finish(), self.expected, chunk)

    def test_a_stream_outlives_its_spotter(self):
        stream = beckon.Spotter().stream(self.rate)
        gc.collect()
        self.assertEqual(stream.push(self.samples) + stream.finish(), self.expected)
        with self.assertRaisesRegex(beckon.CallError, "has ended"):
            stream.push(self.samples)

    def test_threads(self):
        results = [None] * 4

        def detect(number):
            results[number] = self.spotter.detect_file(LEFT)

        threads = [threading.Thread(target=detect, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(results, [self.expected] * 4)


class Mistakes(unittest.TestCase):
    def test_each_is_an_error_that_says_what_is_wrong(self):
        spotter = beckon.Spotter()
        for kind, text, call in [
            (beckon.ModelError, "/nowhere", lambda: beckon.Spotter("/nowhere")),
            (beckon.WordsError, "/nowhere", lambda: beckon.Spotter(words="/nowhere")),
            (beckon.SettingsError, "maybe", lambda: beckon.Spotter(thresholds={"maybe": 0.5})),
            (beckon.SettingsError, "1.5", lambda: beckon.Spotter(threshold=1.5)),
            (beckon.SettingsError, "nan", lambda: beckon.Spotter(threshold=math.nan)),
            (beckon.SettingsError, "spot, command", lambda: beckon.Spotter(mode="loud")),
            (beckon.SettingsError, "not 'comand'; did you mean 'command'?", lambda: beckon.Spotter(mode="comand")),
            (beckon.SettingsError, "channel", lambda: beckon.Spotter(channel=-1)),
            (beckon.AudioError, "/nowhere.wav", lambda: spotter.detect_file("/nowhere.wav")),
            (beckon.AudioError, "7", lambda: spotter.stream(7)),
            (beckon.CallError, "threads", lambda: spotter.detect_file(LEFT, threads=0)),
            (beckon.CallError, "zero byte", lambda: spotter.detect_file("a\0b")),
        ]:
            with self.assertRaisesRegex(kind, text) as caught:
                call()
            self.assertIsInstance(caught.exception, beckon.Error)
            self.assertNotIn("\n", str(caught.exception))

    def test_thresholds_are_respected(self):
        self.assertEqual(beckon.Spotter(threshold=1).detect_file(LEFT), [])
        (word,) = beckon.Spotter(threshold=1, thresholds={"left": 0.5}).detect_file(LEFT)
        self.assertEqual(word.word, "left")

    @unittest.skipUnless(os.environ.get("BECKON"), "BECKON names no program")
    def test_taught_words(self):
        with tempfile.TemporaryDirectory() as folder:
            words = Path(folder) / "words"
            take = VOICES / "Rear_Center.wav"
            command = [os.environ["BECKON"], "enroll", "center", "--words", str(words), "--from", str(take)]
            subprocess.run(command, check=True, capture_output=True)
            spotter = beckon.Spotter(words=words)
            self.assertEqual(spotter.words[-1], "center")
            self.assertEqual([word.word for word in spotter.detect_file(take)], ["center"])


if __name__ == "__main__":
    unittest.main()
