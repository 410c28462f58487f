"""What a spotter is told to find, scores, taught words, many files, and the ends of both."""

import array
import gc
import io
import tempfile
import threading
import unittest
from contextlib import redirect_stderr
from pathlib import Path

import beckon
from test_beckon import LEFT, VOICES, numpy, recording

CENTERS = [recording(VOICES / f"{place}_Center.wav") for place in ("Front", "Rear")]
RATE = CENTERS[0][1]


def heard(spotter, name):
    return [word.word for word in spotter.detect_file(VOICES / f"{name}.wav")]


def said(*names):
    """The words of recordings, one soon after the other."""
    spotter, samples = beckon.Spotter(), array.array("h")
    for name in names:
        (word,) = spotter.detect_file(VOICES / f"{name}.wav")
        samples += recording(VOICES / f"{name}.wav")[0][int((word.start - 0.3) * RATE) : int((word.end + 0.3) * RATE)]
    return samples


class Words(unittest.TestCase):
    def test_only_the_words_that_are_named(self):
        for words in (["left"], "left", ("LEFT ",), iter(["left", "stop"])):
            with beckon.Spotter(words=words) as spotter:
                self.assertEqual((heard(spotter, "Front_Left"), heard(spotter, "Front_Right")), (["left"], []))
                self.assertNotIn("right", spotter.words)
        self.assertEqual(beckon.Spotter(words="none").words, beckon.Spotter().words)

    def test_wake_words_and_phrases(self):
        spotter = beckon.Spotter(words=["left", "right"], wake_words=["okay_nabu"], phrases=["left  right"])
        self.assertEqual(spotter.words, ("left", "right", "okay nabu"))
        self.assertEqual(spotter.phrases, ("left right",))
        self.assertEqual(set(spotter.labels) - set(beckon.Spotter().labels), {"okay nabu"})
        self.assertEqual(spotter.labels[-2:], ("_unknown_", "_silence_"))
        found = spotter.detect(said("Side_Left", "Side_Right"), RATE)
        self.assertEqual([(word.word, word.kind) for word in found], [("left", "word"), ("right", "word"), ("left right", "phrase")])
        self.assertEqual(found[2].confidence, min(word.confidence for word in found))
        self.assertEqual(beckon.Spotter(words=[], wake_words="alexa").words, ("alexa",))

    def test_typed_words(self):
        spotter = beckon.Spotter(words=[], typed_words=["front left"])
        self.assertEqual(spotter.words, ("front left",))
        self.assertEqual((heard(spotter, "Front_Left"), heard(spotter, "Rear_Left")), (["front left"], []))
        written = {"vorne links": ["f ɹ ʌ n t l ɛ f t", "F R AA1 N T L EH1 F T"], "rear left": []}
        spotter = beckon.Spotter(words=[], typed_words=written)
        self.assertEqual((heard(spotter, "Front_Left"), heard(spotter, "Rear_Left")), (["vorne links"], ["rear left"]))

    def test_settings_that_fit_nothing(self):
        for kind, text, settings in [
            (beckon.SettingsError, "maybe", {"words": ["left", "maybe"]}), (beckon.SettingsError, "empty", {"words": []}),
            (beckon.ModelError, "okay_nab", {"wake_words": ["okay_nab"]}), (beckon.SettingsError, "maybe", {"phrases": ["go maybe"]}),
            (beckon.SettingsError, "not among the words", {"words": ["left"], "phrases": ["go left"]}),
            (beckon.SettingsError, "two", {"phrases": ["left"]}), (beckon.SettingsError, "two files", {"words": ["./a", "./b"]}),
            (TypeError, "words are texts", {"words": ["left", 7]}), (TypeError, "words is a list", {"words": 7}),
            (TypeError, "phrases are texts", {"phrases": [None]}), (TypeError, "wake_words is a list", {"wake_words": 3}),
            (beckon.CallError, "zero", {"words": ["le\0ft"]}), (beckon.WordsError, "2 sounds", {"typed_words": ["hi"]}),
            (beckon.WordsError, "'5'", {"typed_words": {"hey house": "5"}}), (TypeError, "typed_words is a list", {"typed_words": 3}),
        ]:  # fmt: skip
            with self.subTest(settings), self.assertRaisesRegex(kind, text) as caught:
                beckon.Spotter(**settings)
            self.assertNotIn("\n", str(caught.exception))


class Closing(unittest.TestCase):
    def test_what_is_closed_says_so(self):
        with beckon.Spotter() as spotter, spotter.stream(RATE) as stream:
            spotter.close()
            self.assertEqual([word.word for word in stream.push(recording(LEFT)[0]) + stream.finish()], ["left"])
            spotter.close()
        for call in (
            lambda: spotter.words, lambda: spotter.stream(), lambda: spotter.detect_file(LEFT), lambda: spotter.detect_files([LEFT]),
            lambda: spotter.teach("center", []), lambda: stream.push(array.array("h", [0])), stream.finish, lambda: stream.hops,
        ):  # fmt: skip
            with self.assertRaisesRegex(beckon.CallError, "is closed"):
                call()
        stream.close()

    def test_samples_after_the_end(self):
        with beckon.Spotter().stream(RATE) as stream:
            stream.finish()
            with self.assertRaisesRegex(beckon.CallError, "has ended"):
                stream.push(array.array("h", [0]))


class Scores(unittest.TestCase):
    def test_hops_and_history(self):
        spotter = beckon.Spotter()
        stream = spotter.stream(16_000)
        for count, hops in ((1600, 1), (800, 1), (800, 2), (16_000, 12)):
            stream.push(array.array("h", bytes(2 * count)))
            self.assertEqual(stream.hops, hops)
        for wrong in (0, -1, 1e9, float("nan")):
            with self.assertRaisesRegex(beckon.SettingsError, "history"):
                spotter.stream(history=wrong)
        with self.assertRaisesRegex(TypeError, "history is a number"):
            spotter.stream(history="long")
        if not numpy:
            with self.assertRaisesRegex(ImportError, "numpy"):
                stream.scores

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_scores_are_a_view_of_the_newest_hops(self):
        spotter = beckon.Spotter()
        whole, short = spotter.stream(RATE), spotter.stream(RATE, history=0.5)
        self.assertEqual(whole.scores.shape, (len(spotter.labels), 0))
        samples, columns = recording(LEFT)[0], []
        for start in range(0, len(samples), 4800):
            for stream in (whole, short):
                stream.push(samples[start : start + 4800])
            if len(columns) < whole.hops:
                columns.append(whole.scores[:, -1].copy())
            if not columns:
                continue
            expected = numpy.array(columns).T
            self.assertTrue(numpy.array_equal(whole.scores, expected))
            self.assertTrue(numpy.array_equal(short.scores, expected[:, -5:]))
        view = whole.scores
        self.assertEqual((view.dtype, view.flags.writeable, view.flags.owndata), ("float32", False, False))
        self.assertTrue(numpy.shares_memory(view, whole.scores))
        self.assertTrue(((view >= 0) & (view <= 1)).all())
        # What is found has the highest score, at its time.
        (word,) = spotter.detect_file(LEFT)
        row = spotter.labels.index("left")
        self.assertEqual(view.max(axis=1).argmax() == row or view[row].max() > 0.9, True)
        self.assertTrue(word.start < view[row].argmax() / 10 < word.end + 0.6)
        # The memory stays while an array shows it.
        copy = view.copy()
        whole.close()
        del whole
        gc.collect()
        spotter.stream(RATE, history=100).push(samples)
        self.assertTrue(numpy.array_equal(view, copy))
        with self.assertRaises(ValueError):
            view[0, 0] = 1


class Files(unittest.TestCase):
    def test_words_of_many_files(self):
        spotter = beckon.Spotter()
        paths = [*sorted(VOICES.glob("*.wav")), "/nowhere.wav", str(LEFT)]
        expected = [spotter.detect_file(path) for path in paths[:-2]]
        steps = []
        for threads in (1, 3, None):
            steps.clear()
            results = spotter.detect_files(iter(paths), threads=threads, progress=lambda done, count: steps.append((done, count)))
            self.assertEqual([one.path for one in results], paths)
            self.assertEqual([one.words for one in results[:-2]], expected)
            self.assertEqual([one.error for one in results[:-2] + results[-1:]], [None] * (len(paths) - 1))
            self.assertIsInstance(results[-2].error, beckon.AudioError)
            self.assertEqual(steps, [(done, len(paths)) for done in range(1, len(paths) + 1)])
        self.assertEqual(spotter.detect_files([]), [])
        with redirect_stderr(io.StringIO()) as shown:
            spotter.detect_files([LEFT], progress=True)
        self.assertEqual(shown.getvalue(), "\r1 of 1 files\n")

    def test_mistakes(self):
        spotter = beckon.Spotter()
        for one in (LEFT, str(LEFT), b"x"):
            with self.assertRaisesRegex(TypeError, "list"):
                spotter.detect_files(one)
        with self.assertRaisesRegex(beckon.CallError, "1024 threads"):
            spotter.detect_files([LEFT], threads=0)

        def stop(done, count):
            raise KeyboardInterrupt

        with self.assertRaises(KeyboardInterrupt):
            spotter.detect_files([LEFT] * 50, threads=2, progress=stop)


class Teaching(unittest.TestCase):
    def test_a_word_is_taught_and_kept(self):
        spotter = beckon.Spotter()
        stream = spotter.stream(RATE)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "new", "words")
            lesson = spotter.teach("center", [samples for samples, _ in CENTERS], RATE, save=file)
            self.assertEqual((lesson.word, lesson.takes, [one.used for one in lesson.recordings]), ("center", 2, [1, 1]))
            self.assertEqual(lesson.expected, lesson.rates["balanced", "spot"])
            self.assertLess(lesson.rates["strict", "command"].false_accepts, lesson.rates["eager", "command"].false_accepts)
            self.assertTrue(0 < lesson.expected.threshold < 1 and 0 <= lesson.expected.missed < 1)
            self.assertIn("Other people's talk is taken for it", lesson.text)
            for name in ("Front_Center", "Rear_Center"):
                self.assertEqual(heard(spotter, name), ["center"])
                self.assertEqual(heard(beckon.Spotter(words=file), name), ["center"])
            self.assertEqual(heard(spotter, "Front_Left"), ["left"])
            # More takes, to the file and without it.
            with self.assertRaisesRegex(beckon.WordsError, "taught already"):
                spotter.teach("center", [CENTERS[0][0]], RATE)
            doubled = array.array("f", (value / 40_000 for value in CENTERS[0][0]))
            self.assertEqual(spotter.teach("center", [doubled], RATE, more=True, save=file).takes, 3)
            self.assertEqual(beckon.Spotter(words=file).words[-1], "center")
        self.assertEqual(spotter.words[-1], "center")
        self.assertEqual(stream.push(CENTERS[0][0]) + stream.finish(), [])

    def test_spotters_of_some_words_learn_more(self):
        spotter = beckon.Spotter(words=["left"])
        spotter.teach("center", [CENTERS[1][0]], RATE)
        self.assertEqual(spotter.words, ("left", "center"))
        self.assertEqual(heard(spotter, "Rear_Center"), ["center"])

    def test_what_cannot_be_taught(self):
        spotter, good = beckon.Spotter(), [samples for samples, _ in CENTERS]
        left = recording(LEFT)[0]
        silence = array.array("h", bytes(2 * RATE))
        quiet = array.array("h", (value // 400 for value in good[0]))
        for kind, text, call in [
            (beckon.WordsError, "take 0: no speech", lambda: spotter.teach("center", [silence], RATE)),
            (beckon.WordsError, "take 0: ", lambda: spotter.teach("center", [quiet], RATE)),
            (beckon.WordsError, "no takes", lambda: spotter.teach("center", [], RATE)),
            (beckon.WordsError, "sounds like 'left'", lambda: spotter.teach("lights1", [left], RATE)),
            (beckon.WordsError, "does not sound like 'center'", lambda: spotter.teach("center", [left], RATE)),
            (beckon.WordsError, "sounds", lambda: spotter.teach("right", [left], RATE)),
            (beckon.WordsError, "spelled almost like 'left'", lambda: spotter.teach("Left", [left], RATE)),
            (beckon.WordsError, "underscore", lambda: spotter.teach("_center", good, RATE)),
            (beckon.WordsError, "needs a name", lambda: spotter.teach("", good, RATE)),
            (beckon.WordsError, "not taught yet", lambda: spotter.teach("center", good, RATE, more=True)),
            (beckon.WordsError, "folder", lambda: spotter.teach("center", good, RATE, save="/proc/none/words")),
            (TypeError, "word is a text", lambda: spotter.teach(7, good, RATE)),
            (TypeError, "list of arrays", lambda: spotter.teach("center", str(LEFT), RATE)),
            (TypeError, "take 1: samples are", lambda: spotter.teach("center", [good[0], b"xx"], RATE)),
            (ValueError, "8 ?kHz|8000|rate", lambda: spotter.teach("center", good, 7)),
            (ValueError, "32768", lambda: spotter.teach("center", [array.array("f", good[0])], RATE)),
        ]:
            with self.subTest(text), self.assertRaisesRegex(kind, text) as caught:
                call()
            self.assertNotIn("\n", str(caught.exception))
        # Silence beside good takes is left out, with its reason.
        lesson = spotter.teach("center", [*good, silence], RATE)
        self.assertEqual([one.used for one in lesson.recordings], [1, 1, 0])
        self.assertIn("no speech", lesson.recordings[2].remark)

    def test_while_other_threads_listen(self):
        spotter = beckon.Spotter()
        results = []
        listeners = [threading.Thread(target=lambda: results.append(heard(spotter, "Front_Left"))) for _ in range(3)]
        for one in listeners:
            one.start()
        spotter.teach("center", [CENTERS[1][0]], RATE)
        for one in listeners:
            one.join()
        self.assertEqual(results, [["left"]] * 3)


if __name__ == "__main__":
    unittest.main()
