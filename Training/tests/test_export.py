"""What `model.json` says of the layers, with results known in advance."""

import unittest

import numpy as np

from Training.export import ranges


class RangeTests(unittest.TestCase):
    def test_a_tensor_is_unchanged_if_all_before_it_is(self):
        layers = [
            {"op": "conv1d", "name": "stem", "input": "input"},
            {"op": "conv1d", "name": "block.first", "input": "stem"},
            {"op": "crop", "name": "block.crop", "input": "stem"},
            {"op": "add", "name": "block", "inputs": ["block.first", "block.crop"]},
            {"op": "mean", "name": "mean", "input": "block"},
        ]
        weights = {"stem.weight": np.ones((1, 5, 2)), "stem.bias": np.zeros(1), "block.first.weight": np.ones((1, 3, 1))}
        earlier = {name: weight.astype(np.float16) for name, weight in weights.items()}
        of = lambda other: ranges.unchanged({"layers": layers}, weights, other)
        self.assertEqual(of(earlier), {"input", "stem", "block.first", "block.crop", "block", "mean"})
        self.assertEqual(of(earlier | {"block.first.weight": np.zeros((1, 3, 1))}), {"input", "stem", "block.crop"})
        self.assertEqual(of(earlier | {"stem.bias": np.ones(1)}), {"input"})
        self.assertEqual(of({}), {"input"})
