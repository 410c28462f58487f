"""What an epoch's examples are made of, with results known in advance."""

import itertools
import tempfile
import types
import unittest
from unittest import mock

import numpy as np

from Training.augment import render, speech_teacher, splice, surroundings, teachers, waveform
from Training.augment.examples import Examples
from Training.data import log_mel
from Training.data.audio import RATE
from Training.data.vocabulary import COMMANDS


class SpliceTests(unittest.TestCase):
    def test_no_two_words_make_a_command(self):
        commands = {splice.SOUNDS[word] for word in COMMANDS}
        makes = lambda first, second, end: (splice.SOUNDS[first][0], splice.SOUNDS[first if end else second][1], splice.SOUNDS[second][2])
        pairs = [pair for pair in itertools.product(splice.SOUNDS, splice.SOUNDS, (True, False)) if splice.may_follow(*pair)]
        self.assertEqual([pair for pair in pairs if makes(*pair) in commands], [])
        self.assertIn(("stop", "yes", True), pairs)
        # "no" and "go" would make "no", "on" and "off" one of them, and "left" with the end of "right" may be "left".
        for pair in (("no", "go", False), ("on", "off", True), ("left", "right", True), ("yes", "yes", True)):
            self.assertNotIn(pair, pairs)

    def test_a_new_word_is_the_beginning_of_one_and_the_end_of_the_other(self):
        table, generator = tones({"go": 500, "stop": 2000}), np.random.default_rng(1)
        wave = np.zeros(RATE, np.float32)
        first, last = splice.spliced(table, wave, 0, 1, True, (1, 1), generator)
        heard = [np.abs(np.fft.rfft(wave[begin : begin + 1600])).argmax() * 10 for begin in (first, last - 1600)]
        self.assertEqual(heard, [500, 2000])
        self.assertAlmostEqual(last - first, 8000, delta=2)
        self.assertFalse(wave[: max(0, first - 1600)].any() or wave[last + 1600 :].any())

    def test_the_recording_that_is_named_need_not_be_a_command(self):
        table, rows = tones({"go": 500, "cat": 700, "computer": 900}), np.arange(3)
        splicer = splice.Splicer(table, rows, (0.9, 1.1))
        named = {splicer(np.zeros(RATE, np.float32), np.random.default_rng(seed))[0] for seed in range(20)}
        self.assertEqual(named, {1})
        self.assertEqual(splice.Splicer(table, rows[1:], (0.9, 1.1)).pairs, [])


def tones(hertz):
    """A table of recordings of one second, by label a tone from 0.25 to 0.75 s."""
    time, count = np.arange(RATE) / RATE, len(hertz)
    waves = [8000 * np.sin(2 * np.pi * f * time) * ((time >= 0.25) & (time < 0.75)) for f in hertz.values()]
    spans = {"start": RATE * np.arange(count), "length": np.full(count, RATE)}
    spans |= {"from": np.full(count, RATE // 4), "to": np.full(count, 3 * RATE // 4)}
    return {"audio": np.concatenate(waves).astype(np.int16), "label": np.array(list(hertz)), **spans}


class LightAugmentationTests(unittest.TestCase):
    def test_it_masks_nothing_and_changes_less(self):
        # A rise over the bands, so that VTLP changes them.
        logs = np.tile(np.linspace(-4, 0, 40, dtype=np.float32), (64, 79, 1))
        unchanged = log_mel.normalized(np.exp(logs))
        light = render.lightly_augmented(logs, np.random.default_rng(1))
        full = render.augmented(logs, np.random.default_rng(1))
        self.assertFalse((light == 0).any())
        self.assertTrue((full == 0).any())
        # Nothing but SpecAugment tells the columns of an example apart.
        np.testing.assert_allclose(light, np.broadcast_to(light[:, :1], light.shape), atol=1e-5)
        changes = [np.abs(each - unchanged).mean() for each in (light, full)]
        self.assertGreater(changes[0], 0.01)
        self.assertLess(changes[0], changes[1] / 2)


class BandwidthTests(unittest.TestCase):
    def test_nothing_is_left_above_a_frequency(self):
        time = np.arange(RATE) / RATE
        low, high = (np.sin(2 * np.pi * hertz * time).astype(np.float32) for hertz in (1000, 5000))
        limited = waveform.low_passed(low + high, 4000)
        np.testing.assert_allclose(limited, low, atol=1e-5)
        self.assertEqual(limited.dtype, np.float32)

    def test_a_share_of_examples_with_words_and_of_those_without_ends_at_a_random_frequency(self):
        generator, count = np.random.default_rng(1), 300
        clip = generator.normal(0, 0.1, RATE).astype(np.float32)
        around = object.__new__(surroundings.Surroundings)
        around.without_noise, around.noise_share, around.synthetic_noise = False, 0, clip[None]
        around.rooms, around.measured_rooms = np.ones((1, 1)), None
        silence = types.SimpleNamespace(music=[], background=[0], noise=[0], usable=np.array([RATE]))
        around.sounds, around.table = silence, {"start": np.array([0]), "audio": (clip * 32767).astype(np.int16)}
        drawn = {
            "words": lambda wave: around.surround(wave, (0, RATE), generator),
            "no words": lambda wave: around.only_noise(wave, generator),
        }
        for name, draw in drawn.items():
            ends = []
            with mock.patch.object(surroundings, "ROOM_SHARE", 0):
                for _ in range(count):
                    wave = clip.copy()
                    draw(wave)
                    spectrum = np.abs(np.fft.rfft(wave))[10:]
                    # What is clipped, digital silence or a click has no edge.
                    if 0 < np.abs(wave).max() < 0.99 and spectrum[:3000].mean() > 0:
                        ends.append(np.flatnonzero(spectrum > spectrum[:3000].mean() / 100)[-1] + 10)
            is_limited = np.array(ends) < 7700
            self.assertAlmostEqual(is_limited.mean(), surroundings.LIMITED, delta=0.12, msg=name)
            limits = np.array(ends)[is_limited]
            least, most = surroundings.LIMITS
            self.assertTrue((limits > least - 100).all() and limits.min() < least + 1500 and limits.max() > most - 1500, name)


class SourceTests(unittest.TestCase):
    def test_examples_of_older_epochs_that_were_inverted_from_pictures_are_not_used(self):
        examples = object.__new__(Examples)
        examples.table = {"name": ["yes/a", "no/a", "go/a"], "label": ["yes", "no", "go"], "text": ["", "", ""]}
        for words, expected in (((), [True, True, True, True, False, False]), (["no"], [True, False, True, True, False, False])):
            keep = examples.holds_none_of(words)
            self.assertEqual(keep(np.array([0, 1, 2, -1, -2, -900])).tolist(), expected)


class ClipAnswerTests(unittest.TestCase):
    def test_answers_of_several_networks_in_files_of_older_versions_are_read(self):
        # A third of what two networks say of the other words, where three networks leave 0.3 for these.
        stored = {"names": ["yes/a"], "labels": ["_silence_", "_unknown_", "yes", "no"], "posteriors": [[0.0, 0.3, 0.6, 0.1]]}
        stored |= {"words35": ["bed", "cat", "no", "yes"], "words": [[0.1, 0.2, 0.2, 0.5]]}
        with tempfile.TemporaryDirectory() as folder:
            path = f"{folder}/answers.npz"
            np.savez(path, **{name: np.array(value) for name, value in stored.items()})
            answers = teachers.ClipAnswers(path, ["yes", "no", "cat", "other"], 3)
        np.testing.assert_allclose(answers(np.array(["yes/a", "no/b"])), [[0.6, 0.1, 0.2, 0.1], [0] * 4], atol=1e-6)


class SpeechTeacherTests(unittest.TestCase):
    def test_it_hears_one_part_of_each_example_at_one_level(self):
        teacher = self.fake()
        # A ramp, so that the first number of an answer says where the part begins, at two levels.
        waves = np.linspace(0.5, 1, RATE, dtype=np.float32) * np.array([[0.01], [1]], np.float32)
        answers, places = teacher(waves, np.random.default_rng(1))
        self.assertEqual(answers.shape, (2, speech_teacher.SIZE))
        heard = answers[:, 0] / speech_teacher.levelled(waves)[:, 0]
        begins = (0.5 + 0.5 * np.array(speech_teacher.PLACES)[places] / RATE) / 0.5
        np.testing.assert_allclose(heard, begins, rtol=1e-3)
        np.testing.assert_allclose(*speech_teacher.levelled(waves), rtol=0.02)

    def test_answers_are_kept_beside_the_rendered_epoch(self):
        batches = [types.SimpleNamespace(sources=np.array(sources), waves=np.ones((2, RATE)), energies=np.ones((2, 79, 40))) for sources in ((3, -1), (5, 2))]
        for batch in batches:
            batch.targets = batch.alternatives = np.zeros(2, int)

        class Examples(list):
            kinds, batch = np.arange(4), 2
            order = staticmethod(lambda: np.arange(4))

        with tempfile.TemporaryDirectory() as folder:
            render.render(Examples(batches), folder, 7, self.fake())
            with np.load(speech_teacher.path(folder, 7)) as stored, np.load(render.path(folder, 7)) as epoch:
                self.assertEqual((len(stored["answers"]), len(stored["places"]), len(epoch["sources"])), (4, 4, 4))
                self.assertTrue(np.isfinite(stored["answers"]).all())

    @staticmethod
    def fake():
        """A teacher that answers the first samples of what it hears."""
        teacher = object.__new__(speech_teacher.SpeechTeacher)
        run = lambda _, inputs: [inputs["samples"][:, None, None, : speech_teacher.SIZE]]
        teacher.session, teacher.input = types.SimpleNamespace(run=run), "samples"
        return teacher
