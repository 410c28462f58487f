"""Single functions of the recipe whose results are known in advance."""

import shutil
import tempfile
import unittest
from pathlib import Path

import numpy as np

from Training.data import recordings, seeding, synthesize
from Training.embedding.export import LEAD, STEPS, decision_hops
from Training.embedding.render import spoken_word
from Training.embedding.train import STAGES, stage
from Training.evaluate import streams, thresholds
from Training.export import calibration
from Training.model import metrics


class DataTests(unittest.TestCase):
    def test_partitions_are_by_speaker_and_in_the_dataset_s_shares(self):
        names = ["yes/bobby_nohash_0.wav", "no/bobby_nohash_3.opus", "yes/bobby"]
        self.assertEqual(len({recordings.partition(name) for name in names}), 1)
        parts = [recordings.partition(f"{number}_nohash_0.wav") for number in range(10000)]
        shares = [parts.count(part) / 100 for part in ("training", "validation", "testing")]
        np.testing.assert_allclose(shares, [80, 10, 10], atol=1)

    def test_bounds_surround_the_word(self):
        wave = np.random.default_rng(0).normal(0, 20, 16000)
        wave[6000:10000] += 5000 * np.sin(np.arange(4000))
        first, last = recordings.utterance_bounds(wave.astype(np.int16))
        self.assertTrue(5000 <= first <= 6000 and 10000 <= last <= 11000, (first, last))

    def test_kinds_and_labels_come_from_the_path(self):
        expected = {
            "yes/ada_nohash_0.wav": ("clip", "yes"),
            "data/words/snowboy/1.opus": ("word", "snowboy"),
            "speech/librispeech/1.opus": ("speech", "librispeech"),
            "_background_noise_/pink.wav": ("noise", "gsc"),
            "noise/esc10/rain.opus": ("noise", "esc10"),
        }
        self.assertEqual({name: recordings.kind_and_label(name) for name in expected}, expected)

    def test_words_of_synthetic_recordings_come_from_their_names(self):
        names = ("words/heart-computer-3", "words/blend-good night-0", "words/computer-12")
        self.assertEqual([spoken_word(name, "synthetic") for name in names], ["computer", "good night", "computer"])
        self.assertEqual(spoken_word("words/1", "snowboy"), "snowboy")

    def test_generators_of_one_purpose_are_equal_and_of_two_differ(self):
        draw = lambda *key, **seed: seeding.generator(*key, **seed).random()
        self.assertEqual(draw("example", 1, 2, seed=3), draw("example", 1, 2, seed=3))
        self.assertEqual(
            len({draw("example", 1, seed=3), draw("example", 2, seed=3), draw("epoch order", 1, seed=3)}), 3
        )

    @unittest.skipUnless(shutil.which("espeak-ng") and shutil.which("flite"), "needs espeak-ng and flite")
    @unittest.skipUnless(Path(synthesize.DICTIONARY).exists(), "needs wamerican-small")
    def test_synthesizers_speak_the_words(self):
        with tempfile.TemporaryDirectory() as folder:
            few = "--dictionary-words 3 --phrases 1 --near-takes 0 --command-takes 2 --words go".split()
            synthesize.main(["--out", folder, *few])
            files = sorted(Path(folder).glob("words/*/*.wav"))
            self.assertEqual([path.parent.name for path in files], ["go"] * 2 + ["synthetic"] * 4)
            for path in files:
                self.assertGreater(np.abs(recordings.decode(path.read_bytes())).max(), 1000, path)


class MeasurementTests(unittest.TestCase):
    def test_auroc_counts_ties_as_half(self):
        self.assertEqual(metrics.auroc(np.array([2, 3]), np.array([0, 1])), 1)
        self.assertEqual(metrics.auroc(np.array([1]), np.array([1, 1])), 0.5)
        self.assertEqual(metrics.auroc(np.array([0, 2]), np.array([1])), 0.5)

    def test_accuracy_is_by_words_unknown_and_silence(self):
        posteriors = np.eye(4)[[0, 1, 1, 2, 3, 3]]
        result = metrics.accuracy(posteriors, np.array([0, 1, 0, 2, 2, 3]))
        self.assertAlmostEqual(result["all"], 400 / 6)
        self.assertAlmostEqual(result["words"], 200 / 3)
        self.assertEqual((result["unknown"], result["silence"]), (50, 100))

    def test_a_calibrated_network_has_no_calibration_error(self):
        posteriors = np.array([[0.75, 0.25]] * 4)
        self.assertAlmostEqual(metrics.calibration_error(posteriors, np.array([0, 0, 0, 1])), 0)
        self.assertAlmostEqual(metrics.calibration_error(posteriors, np.array([0, 0, 0, 0])), 0.25)

    def test_a_threshold_is_the_least_that_few_other_windows_reach(self):
        others = np.zeros((2000, 3))
        others[:2, 0], others[2:5, 0] = 0.93, 0.705
        clips = np.array([[0.9, 0.05, 0.05]])
        self.assertEqual(calibration.fit_thresholds(clips, np.array([0]), [others], ["yes"]), {"yes": 0.71})

    def test_thresholds_prefer_no_false_accept_then_hits(self):
        point = {"wrong": 0, "read": 0}
        curve = [
            point | {"threshold": 0.8, "hits": 9, "falseAccepts": 1},
            point | {"threshold": 0.9, "hits": 8, "falseAccepts": 0},
            point | {"threshold": 0.95, "hits": 7, "falseAccepts": 0},
            point | {"threshold": 0.995, "hits": 9, "falseAccepts": 0},
        ]
        self.assertEqual(thresholds.choose({"yes": curve}, 1)["yes"]["threshold"], 0.9)

    def test_phrases_are_cut_in_pauses(self):
        tone = np.sin(np.arange(8000))
        pieces = streams.split_phrases(np.concatenate([tone, np.zeros(3200), tone, np.zeros(800), tone]))
        self.assertEqual(len(pieces), 2)
        self.assertAlmostEqual(len(pieces[0]), 9600, delta=320)

    def test_stages_follow_each_other(self):
        first, second = STAGES[0][0], STAGES[1][0]
        self.assertEqual(stage(first - 1)[:2], (first - 1, first))
        self.assertEqual(stage(first)[:2], (0, second))

    def test_an_utterance_is_decided_after_it_ended_and_only_if_it_was_alone(self):
        hops = 20
        activity = np.full(LEAD + STEPS * hops, -1.0)
        activity[LEAD : LEAD + 16] = 1
        chosen = np.flatnonzero(decision_hops(activity, hops))
        self.assertTrue(len(chosen) and chosen.min() == 5 and chosen.max() <= 9, chosen)
        activity[LEAD - 14 : LEAD - 10] = 1
        self.assertFalse(decision_hops(activity, hops).any())


if __name__ == "__main__":
    unittest.main()
