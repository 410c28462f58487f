"""The embedding for taught words, with results known in advance."""

import unittest

import numpy as np

from Training.data.audio import RATE
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
