"""The network and the training of it, with results known in advance."""

import unittest

import numpy as np
import torch

from Training.export import ranges
from Training.model import mine, voice_activity
from Training.model.network import Spotter, ValidConvolution


class NetworkTests(unittest.TestCase):
    def test_a_convolution_in_bfloat16_has_the_gradients_of_pytorchs_own(self):
        torch.manual_seed(0)
        for inputs, outputs, kernel, stride, columns in ((40, 24, 5, 1, 79), (24, 32, 7, 2, 75), (24, 32, 1, 2, 21)):
            x, weight = torch.randn(2, columns, inputs), torch.randn(outputs, inputs, kernel)
            a, b = x.clone().requires_grad_(), weight.clone().requires_grad_()
            expected = torch.nn.functional.conv1d(a.transpose(1, 2), b, stride=stride).transpose(1, 2)
            expected.backward(torch.ones_like(expected))
            for kind, limit in ((torch.float32, 1e-5), (torch.bfloat16, 0.01)):
                c, d = x.clone().to(kind).requires_grad_(), weight.clone().requires_grad_()
                y = ValidConvolution.apply(c, d, stride)
                y.backward(torch.ones_like(y))
                for got, want in ((y, expected), (c.grad, a.grad), (d.grad, b.grad)):
                    self.assertLess(((got.float() - want).norm() / want.norm()).item(), limit)

    def test_peaks_of_scores_lie_apart(self):
        scores = np.array([0.0, 0.2, 0.9, 0.8, 0.01, 0.3, 0.02])
        self.assertEqual(mine.peaks(scores), [2, 5])


class FrozenBlockTests(unittest.TestCase):
    def test_training_leaves_a_frozen_first_block_and_what_reads_it(self):
        torch.manual_seed(1)
        network = Spotter(3, [4, 6, 4, 4], 8)
        network.freeze_first_block()
        before = {name: value.copy() for name, value in network.described()[1].items()}
        activity = voice_activity.VoiceActivity(6)
        tensors = before | activity.described("block1")[1]
        parameters = [parameter for parameter in network.parameters() if parameter.requires_grad]
        optimizer = torch.optim.SGD(parameters, 0.1)
        for _ in range(3):
            network.train()
            network(torch.randn(8, 79, 40)).square().mean().backward()
            optimizer.step()
        after = network.described()[1]
        changed = {name for name in before if not np.array_equal(before[name], after[name])}
        kept = {name for name in before if name.startswith(("stem.", "block1."))}
        self.assertEqual(changed, before.keys() - kept)
        found = voice_activity.of_model(tensors, after)
        columns = torch.randn(2, 9, 6)
        torch.testing.assert_close(found(columns), activity(columns))
        self.assertIsNone(voice_activity.of_model(tensors, after | {"stem.bias": after["stem.bias"] + 0.1}))

    def test_a_frozen_network_answers_as_before(self):
        network = Spotter(3, [4, 6, 4, 4], 8).eval()
        features = torch.randn(4, 79, 40)
        before = network(features)
        network.freeze_first_block()
        torch.testing.assert_close(network(features), before, atol=1e-4, rtol=1e-4)


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
