"""The network and the training of it, with results known in advance."""

import unittest

import numpy as np
import torch

from Training.model import calibration, metrics, mine, voice_activity
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

    def test_a_wider_network_starts_with_the_answers_of_a_narrower_one(self):
        torch.manual_seed(2)
        features = torch.randn(4, 79, 40)
        narrow, wide = Spotter(3, [4, 6, 4, 4], 8), Spotter(3, [4, 6, 8, 5], 9)
        narrow.train()
        narrow(torch.randn(8, 79, 40))  # so that the normalization is not what every network begins with
        wide.start_from(narrow.state_dict())
        torch.testing.assert_close(wide.eval()(features), narrow.eval()(features))
        # The new channels are used as soon as they are trained.
        wide.train()
        wide(features).square().mean().backward()
        self.assertGreater(wide.logits.weight.grad[:, 8].abs().max().item(), 0)
        self.assertEqual(wide.head.conv.weight.grad[:8, 4].count_nonzero().item(), 8)

    def test_a_network_of_other_outputs_or_narrower_keeps_what_does_not_fit(self):
        torch.manual_seed(3)
        given, other, narrower = Spotter(3, [4, 6, 4, 4], 8), Spotter(5, [4, 6, 4, 4], 8), Spotter(3, [4, 6, 4, 4], 6)
        # The logits of one with hidden units read these, however many they are.
        hidden = Spotter(3, [4, 6, 4, 4], 8, hidden=10)
        for network, kept in ((other, ("logits.",)), (narrower, ("logits.weight", "head.")), (hidden, ("logits.weight", "speech.", "hidden."))):
            before = {name: value.clone() for name, value in network.state_dict().items()}
            network.start_from(given.state_dict())
            for name, value in network.state_dict().items():
                expected = before[name] if name.startswith(kept) and value.ndim else given.state_dict()[name]
                torch.testing.assert_close(value, expected)

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


class MetricTests(unittest.TestCase):
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
