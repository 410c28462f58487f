"""What may be given as samples: arrays of every type and shape, and what each error says."""

import array
import math
import unittest
from pathlib import Path

import beckon
from test_beckon import LEFT, numpy, recording

SAMPLES, RATE = recording(LEFT)


class Samples(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.spotter = beckon.Spotter()
        cls.expected = cls.spotter.detect_file(LEFT)

    def refuses(self, kind, text, samples, what=None):
        """The samples are refused in one line that has the text, by both functions, and the stream goes on as if nothing was."""
        with self.subTest(what or repr(samples)[:60]):
            with self.assertRaisesRegex(kind, text) as caught:
                self.spotter.detect(samples, RATE)
            self.assertNotIn("\n", str(caught.exception))
            stream = self.spotter.stream(RATE)
            found = stream.push(SAMPLES[:10_000])
            with self.assertRaisesRegex(kind, text):
                stream.push(samples)
            self.assertEqual(found + stream.push(SAMPLES[10_000:]) + stream.finish(), self.expected)

    def finds(self, samples, what):
        with self.subTest(what):
            self.assertEqual(self.spotter.detect(samples, RATE), self.expected)

    def test_buffers(self):
        floats = [value / 32768 for value in SAMPLES]
        for kind in "fd":
            self.finds(array.array(kind, floats), kind)
        self.finds(memoryview(SAMPLES), "memoryview")
        double = array.array("h", (value for value in SAMPLES for _ in range(2)))
        self.finds(memoryview(double)[::2], "every second sample")
        flat = memoryview(SAMPLES).cast("B")
        self.finds(flat.cast("h", (len(SAMPLES), 1)), "[n, 1]")
        self.finds(flat.cast("h", (1, len(SAMPLES))), "[1, n]")
        for empty in (array.array("h"), array.array("f"), memoryview(b"").cast("d")):
            self.assertEqual(self.spotter.detect(empty, RATE), [])

    def test_what_is_no_array_of_samples(self):
        data = SAMPLES.tobytes()
        for text, samples in [
            ("not None", None), ("detect_file", str(LEFT)), ("detect_file", Path(LEFT)), ("not int", 7),
            ("not float", 0.5), ("frombuffer.*'int16'", data), ("frombuffer", bytearray(data)), ("frombuffer", memoryview(data)),
            ("frombuffer", array.array("B", data)), ("numpy.array", list(SAMPLES)), ("numpy.array", [0.5] * 100), ("numpy.array", []),
            ("numpy.array", tuple(SAMPLES)), ("not dict", {}), ("not generator", (value for value in SAMPLES)), ("not type", float),
            ("int32", array.array("i", SAMPLES)), ("int64", array.array("q", SAMPLES)), ("uint16", array.array("H", [1] * 100)),
        ]:  # fmt: skip
            self.refuses(TypeError, text, samples)

    def test_shapes(self):
        flat = memoryview(array.array("f", bytes(4 * 4300))).cast("B")
        for text, shape in [
            (r"\(2, 2048\).*samples\.T", (2, 2048)), (r"samples\.T", (9, 10)), ("more channels than 64", (65, 66)),
            ("3 dimensions", (1, 1, 4096)), ("3 dimensions", (2, 2, 1024)), ("single number", ()),
        ]:  # fmt: skip
            size = 4 * math.prod(shape)
            self.refuses(ValueError, text, flat[:size].cast("f", shape), shape)

    def test_values(self):
        quiet = array.array("f", bytes(4 * 4000))
        for value in (math.nan, math.inf, -math.inf):
            one = array.array("f", quiet)
            one[123] = value
            self.refuses(ValueError, "sample 123 is", one, value)
        # Beyond float32.
        self.refuses(ValueError, "sample 0 is inf", array.array("d", [1e300] * 100))
        self.refuses(ValueError, "32768", array.array("f", SAMPLES), "16 bits as floats")
        self.refuses(ValueError, "32768", array.array("d", (value * 1.0003 for value in SAMPLES)), "not whole")
        floats = array.array("f", (value / 32768 for value in SAMPLES))
        floats[0] = 8.1
        floats[1] = -30_000.0
        self.finds(floats, "a pop")
        loud = array.array("f", (value / 32768 * 12 for value in SAMPLES))
        self.assertEqual([word.word for word in self.spotter.detect(loud, RATE)], ["left"])
        self.assertEqual(self.spotter.detect(array.array("f", [4.0] * 15), RATE), [])

    def test_arrays_of_other_packages(self):
        class Tensor:
            """As those of torch: no buffer, but a function that makes an array."""

            dtype = "torch.float32"

            def __init__(self, result):
                self.result = result

            def __array__(self, *_):
                if isinstance(self.result, Exception):
                    raise self.result
                return self.result

        self.finds(Tensor(SAMPLES), "a tensor")
        self.refuses(TypeError, "Tensor of torch.float32.*call detach", Tensor(RuntimeError("call detach()\nfirst")), "gradients")

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_types_of_numpy(self):
        integers = numpy.array(SAMPLES)
        floats = integers.astype("float32") / 32768
        for kind in ("float32", "float64", "float16"):
            with self.subTest(kind):
                self.assertEqual([word.word for word in self.spotter.detect(floats.astype(kind), RATE)], ["left"])
        for kind, text in [
            (">i2", "big-endian int16.*astype"), (">f4", "big-endian float32"), ("uint8", "uint8.*view"), ("int8", "int8"),
            ("uint16", "uint16"), ("int32", "int32.*2\\*\\*31"), ("int64", "int64.*astype\\('int16'\\)"), ("bool", "bool"),
            ("complex64", "complex64"), ("object", "object"), ("longdouble", "longdouble"), ("datetime64[s]", "datetime64"),
            ("U1", "samples are"), ([("left", "f4")], "samples are"),
        ]:  # fmt: skip
            self.refuses(TypeError, text, integers.astype(kind), kind)

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_shapes_of_numpy(self):
        integers = numpy.array(SAMPLES)
        for one in (integers, integers.astype("float32") / 32768, integers / 32768):
            both = numpy.stack([one, one], axis=1)
            for samples in (one, one[:, None], one[None], both, numpy.asfortranarray(both), numpy.repeat(one, 2)[::2], numpy.stack([one] * 8, axis=1)):
                self.finds(samples, (one.dtype, samples.shape))
            for samples, text in [
                (both.T, r"\(2, \d+\) look like \[channels, samples\].*samples\.T"), (numpy.ascontiguousarray(both.T), "samples.T"),
                (numpy.stack([one] * 8), "samples.T"), (numpy.zeros((100, 200), one.dtype), "more channels than 64"),
                (one[None, None], "3 dimensions"), (one[0:1].reshape(()), "single number"), (one[7], "single number"),
            ]:  # fmt: skip
                self.refuses(ValueError, text, samples, (one.dtype, samples.shape))
            for shape in [(0,), (0, 2), (2, 0), (0, 1), (1, 0), (0, 0)]:
                self.assertEqual(self.spotter.detect(numpy.zeros(shape, one.dtype), RATE), [])

    @unittest.skipUnless(numpy, "numpy is not installed")
    def test_blocks_of_a_stream_keep_its_channels(self):
        """The last blocks of sixteen channels, and single frames of two, are no channels of few samples."""
        for channels, block in ((16, 441), (16, 15), (2, 1)):
            frames = numpy.repeat(numpy.array(SAMPLES)[:, None], channels, axis=1)
            stream = self.spotter.stream(RATE)
            found = stream.push(frames[:100])
            for start in range(100, len(frames), block):
                found += stream.push(frames[start : start + block])
            self.assertEqual(found + stream.finish(), self.expected, (channels, block))
        stream = self.spotter.stream(RATE)
        one, found = numpy.array(SAMPLES)[None], []
        for start in range(0, len(SAMPLES), 441):
            found += stream.push(one[:, start : start + 441])
        self.assertEqual(found + stream.finish(), self.expected, "[1, n]")


class Arguments(unittest.TestCase):
    def test_rates_threads_and_settings(self):
        spotter = beckon.Spotter()
        for wrong in ("16000", None, 16_000.5, [16_000]):
            with self.assertRaisesRegex(TypeError, "sample_rate is a whole number"):
                spotter.stream(wrong)
        self.assertEqual(spotter.stream(16_000.0).finish(), [])
        for wrong in (2**32 + 16_000, -1, 0, 2**70):
            with self.assertRaises(beckon.AudioError):
                spotter.stream(wrong)
        for call, text in [
            (lambda: spotter.detect_file(LEFT, threads="2"), "threads is a whole number"),
            (lambda: beckon.Spotter(threshold="high"), "a threshold is a number"),
            (lambda: beckon.Spotter(thresholds=["left"]), "dictionary"),
            (lambda: beckon.Spotter(thresholds={"left": "high"}), "a threshold is a number"),
            (lambda: beckon.Spotter(channel="left"), "channel is a whole number"),
        ]:
            with self.assertRaisesRegex(TypeError, text):
                call()
        for mode in (None, 1, []):
            with self.assertRaisesRegex(beckon.SettingsError, "mode is spot, command"):
                beckon.Spotter(mode=mode)

    def test_models_by_name(self):
        self.assertEqual(beckon.Spotter("commands").words, beckon.Spotter().words)
        for name in ("comands", "speech-embedding", ""):
            with self.assertRaisesRegex(beckon.ModelError, "commands") as caught:
                beckon.Spotter(name)
            self.assertIn(str(Path(beckon.__file__).parent / "models"), str(caught.exception))
            self.assertNotIn("\n", str(caught.exception))


if __name__ == "__main__":
    unittest.main()
