"""The embedding for taught words, with results known in advance."""

import unittest

import numpy as np

from Training.data.audio import RATE
from Training.embedding import coding
from Training.embedding.export import band_limited
from Training.embedding.train import STAGES, stage


class EmbeddingTests(unittest.TestCase):
    def test_stages_follow_each_other(self):
        first, second = STAGES[0][0], STAGES[1][0]
        self.assertEqual(stage(first - 1)[:2], (first - 1, first))
        self.assertEqual(stage(first)[:2], (0, second))

    def test_a_telephone_keeps_its_band_alone(self):
        seconds = np.arange(RATE) / RATE
        tones = {hertz: np.sin(2 * np.pi * hertz * seconds) for hertz in (100, 1000, 5000)}
        through = band_limited(sum(tones.values()).astype(np.float32), 300, 3400)
        np.testing.assert_allclose(through, tones[1000], atol=1e-3)

    def test_coded_rows_are_near_those_that_were_coded_and_much_shorter(self):
        generator = np.random.default_rng(3)
        # Rows that change slowly, as embeddings of hops do, in few directions.
        rows = generator.normal(size=(2000, 3)).cumsum(0) @ generator.normal(size=(3, 10)) + generator.normal(size=(2000, 10))
        tensors = coding.coded("v", rows.astype(np.float32), 0.1)
        error = coding.decoded(tensors, "v") - rows
        self.assertLess(error.std(), 0.04 * rows.std())
        self.assertLess(8 * len(tensors["v"]) / rows.size, 3)
        self.assertEqual(tensors["v.frequencies"].sum(1).tolist(), [1 << coding.BITS] * 10)
