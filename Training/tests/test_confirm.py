"""The second look, with results known in advance."""

import contextlib
import dataclasses
import io
import json
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import torch
import torch.nn.functional as F

from Training.confirm import answers, clips, examples, export, fusion, layers, mine, proposals, streams, train, weights
from Training.confirm.matchboxnet import EPS, PUBLISHED, MatchboxNet, matchboxnet, read_published_matchboxnet
from Training.confirm.networks import ADDED, WORDS35, BandNorm, Qbc6, QuaternionConv, qbc6
from Training.augment.teachers import ClipAnswers
from Training.data import recordings, split
from Training.data.vocabulary import COMMANDS


def random_weights(network, seed=1):
    """Random weights of a network's shapes, {name: array}; variances are positive."""
    generator = np.random.default_rng(seed)
    made = {}
    for name, value in network.state_dict().items():
        drawn = generator.normal(0, 0.1, value.shape) + (1.0 if name.endswith(("running_var", "norm.weight", "bn.weight")) else 0.0)
        made[name] = np.abs(drawn).astype(np.float32) if name.endswith("running_var") else drawn.astype(np.float32)
    return made


def tones(count, samples, seed=1):
    generator = np.random.default_rng(seed)
    time = np.arange(samples) / 16000
    return torch.tensor(np.stack([0.3 * np.sin(2 * np.pi * generator.uniform(200, 3000) * time) + generator.normal(0, 0.01, samples) for _ in range(count)]), dtype=torch.float32)


class NetworkTests(unittest.TestCase):
    def test_a_quaternion_kernel_multiplies_by_a_quaternion(self):
        layer = QuaternionConv(4, 4, (1, 1))
        # The first row of blocks of q = 1 + 2i + 3j + 4k: its product with 1 is q, with i it is −2 + i + 4j − 3k.
        layer.weight.data = torch.tensor([1.0, -2, -3, -4])[None, :, None, None]
        product = lambda *x: layer(torch.tensor(x, dtype=torch.float32)[None, :, None, None]).flatten().tolist()
        self.assertEqual((product(1, 0, 0, 0), product(0, 1, 0, 0)), ([1, 2, 3, 4], [-2, 1, 4, -3]))
        kernel = layer.kernel()[:, :, 0, 0]
        torch.testing.assert_close(kernel @ kernel.T, 30 * torch.eye(4))

    def test_every_fifth_of_the_bands_has_a_norm_of_its_own(self):
        norm = BandNorm(2)
        norm.bias.data = torch.arange(10.0)
        norm.running_var += 3 - norm.eps
        x = torch.ones(1, 2, 10, 3)
        y = norm(x)
        expected = F.batch_norm(x.reshape(1, 10, 2, 3), norm.running_mean, norm.running_var, norm.weight, norm.bias, eps=norm.eps).view(x.shape)
        torch.testing.assert_close(y, expected)
        self.assertAlmostEqual(y[0, 1, 9, 0].item(), 9.5, places=5)

    def test_plain_layers_with_norms_folded_answer_as_the_networks_do(self):
        for make, network in ((qbc6, Qbc6()), (matchboxnet, MatchboxNet())):
            network = make(random_weights(network))
            for samples in (16000, 24000):
                waves = tones(2, samples)
                with torch.no_grad():
                    expected = network(waves)
                    front, described, arrays = layers.describe(network)
                    found = layers.computed(described, arrays, layers.features(front, waves).numpy())["logits"].flatten(1)
                self.assertEqual(expected.shape, (2, 35))
                torch.testing.assert_close(found.float(), expected, rtol=1e-3, atol=1e-4)
                self.assertGreater(expected.std().item(), 0.01)

    def test_a_window_longer_than_a_second_is_judged_by_its_middle(self):
        network = qbc6(random_weights(Qbc6()))
        waves = tones(1, 64000).repeat(3, 1)
        # 27 frames of 32 ms see what a frame sees: what is farther than that from the middle second changes nothing, what is nearer does.
        waves[1, :8000] = 0
        waves[2, 14000:22000] = 0
        with torch.no_grad():
            logits = network(waves)
        torch.testing.assert_close(logits[1], logits[0], rtol=1e-4, atol=1e-5)
        self.assertGreater((logits[2] - logits[0]).abs().max().item(), 1e-4)

    def test_outputs_are_added_without_changing_the_others(self):
        stored = random_weights(Qbc6())
        waves = tones(2, 16000)
        with torch.no_grad():
            few, more = qbc6(stored)(waves), qbc6(stored, ADDED)(waves)
        self.assertEqual(more.shape, (2, 37))
        torch.testing.assert_close(more[:, :35], few)
        torch.testing.assert_close(more[:, 35], torch.full((2,), stored["head_conv.bias"].mean() - 1))

    def test_published_norms_of_matchboxnet_are_folded_and_its_words_are_sorted(self):
        stored, generator = {}, torch.Generator().manual_seed(1)
        draw = lambda *shape: torch.randn(*shape, generator=generator)

        def norm(name, channels):
            stored.update({f"{name}.weight": draw(channels), f"{name}.bias": draw(channels)})
            stored.update({f"{name}.running_mean": draw(channels), f"{name}.running_var": draw(channels) ** 2})

        def separable(block, place, inputs, outputs, kernel):
            name = f"encoder.encoder.{block}.mconv."
            stored[f"{name}{place}.conv.weight"] = draw(inputs, 1, kernel)
            stored[f"{name}{place + 1}.conv.weight"] = draw(outputs, inputs, 1)
            norm(f"{name}{place + 2}", outputs)

        separable(0, 0, 64, 128, 11)
        for block, inputs in ((1, 128), (2, 64), (3, 64)):
            separable(block, 0, inputs, 64, 11 + 2 * block)
            separable(block, 5, 64, 64, 11 + 2 * block)
            stored[f"encoder.encoder.{block}.res.0.0.conv.weight"] = draw(64, inputs, 1)
            norm(f"encoder.encoder.{block}.res.0.1", 64)
        separable(4, 0, 64, 128, 29)
        stored["encoder.encoder.5.mconv.0.conv.weight"] = draw(128, 128, 1)
        norm("encoder.encoder.5.mconv.1", 128)
        stored["decoder.decoder_layers.0.weight"], stored["decoder.decoder_layers.0.bias"] = draw(35, 128), torch.arange(35.0)
        with tempfile.TemporaryDirectory() as folder:
            torch.save(stored, f"{folder}/published.ckpt")
            network = matchboxnet(read_published_matchboxnet(f"{folder}/published.ckpt"))
        x, prefix = draw(1, 64, 100), "encoder.encoder.0.mconv."
        y = F.conv1d(F.conv1d(x, stored[prefix + "0.conv.weight"], padding=5, groups=64), stored[prefix + "1.conv.weight"])
        of = lambda part: stored[f"{prefix}2.{part}"]
        y = F.batch_norm(y, of("running_mean"), of("running_var"), of("weight"), of("bias"), eps=EPS)
        torch.testing.assert_close(network.stem(x), y, rtol=1e-3, atol=1e-3)
        self.assertEqual(network.logits.bias.tolist(), [PUBLISHED.index(word) for word in sorted(WORDS35)])


class WeightTests(unittest.TestCase):
    def test_kept_weights_come_back_with_their_window(self):
        stored = weights.Stored(random_weights(Qbc6(ADDED)), seconds=1.5)
        with tempfile.TemporaryDirectory() as folder:
            weights.write(f"{folder}/a.safetensors", stored, np.float16)
            back = weights.read(f"{folder}/a.safetensors")
        self.assertEqual((back.kind, back.seconds, back.network().labels), ("qbc6", 1.5, [*WORDS35, *ADDED]))
        for name, value in stored.weights.items():
            np.testing.assert_allclose(back.weights[name], value, rtol=1e-3, atol=1e-6)

    def test_a_mean_with_published_weights_keeps_added_outputs(self):
        tuned, published = {"head_conv.bias": np.array([2.0, 4, 7]), "x": np.array([1.0])}, {"head_conv.bias": np.array([0.0, 0]), "x": np.array([3.0])}
        found = weights.mixed(tuned, published, 0.25)
        self.assertEqual((found["head_conv.bias"].tolist(), found["x"].tolist()), ([0.5, 1, 7], [2.5]))

    def test_exported_answers_are_those_of_the_network(self):
        stored = weights.Stored(random_weights(Qbc6(ADDED)), seconds=1.5)
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            weights.write(f"{folder}/a.safetensors", stored)
            Path(folder, "model.json").write_text('{"version": 1, "name": "small"}')
            export.main(["--model", folder, "--share", "0.5", "--proposals", "0.2", "0.3", f"rejecter={folder}/a.safetensors,0.4,0.1,-0.1:0"])
            import safetensors.numpy

            about = json.loads(Path(folder, "model.json").read_text())
            self.assertEqual((about["version"], about["name"], about["confirm"]["share"]), (2, "small", 0.5))
            self.assertEqual(about["confirm"]["proposals"], {"command": 0.2, "spot": 0.3})
            network = about["confirm"]["networks"][0]
            self.assertEqual([network[key] for key in ("name", "share", "clipShare", "shifts")], ["rejecter", 0.4, 0.1, [-0.1, 0.0]])
            self.assertIn("rejecter.stem.weight", safetensors.numpy.load_file(f"{folder}/confirm.safetensors"))
            found = safetensors.numpy.load_file(f"{folder}/confirm-reference.safetensors")
            waves = (found["waveforms"].astype(np.float32) - 128) / 128 * found["gains"][:, None]
            self.assertEqual(waves.shape, (3, 32000))
            with torch.no_grad():
                expected = stored.network()(torch.from_numpy(waves[:, 4000:28000]))
            # The weights are in half precision there.
            np.testing.assert_allclose(found["rejecter.logits"], expected.numpy(), rtol=0.02, atol=0.02)
            self.assertEqual(found["rejecter.features"].shape, (40, 47, 3))

    def test_ranges_are_the_largest_magnitudes_that_convolutions_read(self):
        about, arrays, _ = export.described("n", weights.Stored(random_weights(Qbc6())))
        waves = tones(2, 16000).numpy()
        with torch.no_grad():
            found = export.ranges(about, arrays, waves)
            outputs = layers.computed(about["layers"], arrays, layers.features(about["frontEnd"], waves).numpy())
        self.assertNotIn("features", found, "three channels cannot be quantized")
        self.assertAlmostEqual(found["t1"], outputs["t1"].abs().max().item(), places=4)


class MiningTests(unittest.TestCase):
    def test_confirming_networks_have_no_say_in_what_is_proposed(self):
        with tempfile.TemporaryDirectory() as folder:
            Path(folder, "own").mkdir()
            about = {"name": "small", "confirm": {"share": 0.2, "networks": [{"name": "a", "share": 0.8}]}}
            Path(folder, "own", "model.json").write_text(json.dumps(about))
            copy = mine.proposer(f"{folder}/own", folder)
            found = json.loads(Path(copy, "model.json").read_text())["confirm"]
        self.assertEqual((found["share"], found["networks"][0]["share"], found["proposals"]["spot"]), (1, 0, mine.LEVEL))


class FusionTests(unittest.TestCase):
    def test_other_words_are_added_up_and_networks_are_weighted(self):
        labels = [*COMMANDS, "bed", "cat"]
        logs = np.log(np.full((1, 12), 1 / 12))
        answer = fusion.over_commands(logs, labels)
        np.testing.assert_allclose(np.exp(answer), [[1 / 12] * 10 + [2 / 12]])
        sure = np.log(np.array([[0.9] + [0.01] * 10]))
        np.testing.assert_allclose(fusion.fused((answer, sure), (0, 1))[0, 0], 0.9 / np.exp(sure).sum())
        both = fusion.fused((answer, sure), (0.5, 0.5))
        self.assertTrue(1 / 12 < both[0, 0] < 0.9)
        best, confidence = fusion.decided(both)
        self.assertEqual((best.tolist(), confidence[0]), ([0], both[0, 0]))

    def test_detections_are_told_as_the_program_tells_them(self):
        said = [(1.0, 1.5, "yes"), (3.0, 3.4, "no")]
        cases = {
            ((1.6, "yes"), (3.5, "no")): ["hit", "hit"],
            ((1.6, "no"), (1.7, "yes"), (1.8, "yes")): ["wrong", "hit", "false accept"],
            ((0.9, "yes"), (2.6, "yes"), (4.4, "no")): ["false accept", "false accept", "hit"],
        }
        for detections, expected in cases.items():
            times, words = zip(*detections)
            self.assertEqual(proposals.outcomes(times, words, said, proposals.in_reach(times, said)), expected, detections)

    def test_windows_are_around_the_middle_of_a_proposal_and_not_loud(self):
        wave = np.arange(32000, dtype=np.float32) / 32000
        proposal = proposals.Proposal("a.wav", "yes", 0.5, 0.9, 1.1, 1.3)
        with mock.patch.object(proposals.soundfile, "read", lambda *_, **__: (wave, 16000)):
            window = proposals.windows([proposal], 16000)[0]
            longer = proposals.windows([proposal], 40000, 0.5)[0]
        np.testing.assert_allclose(window, wave[8000:24000] * (0.5 / wave[23999]), rtol=1e-6)
        # From sample 4000 on; what is after the recording is silence.
        self.assertEqual((np.count_nonzero(longer), np.flatnonzero(longer)[-1]), (28000, 27999))

    def test_a_detection_has_the_confidence_of_the_program_for_its_word(self):
        answer = np.exp(fusion.proposers(["yes", "go"], np.array([0.9, 0.3])))
        np.testing.assert_allclose(answer.sum(axis=1), 1)
        self.assertEqual(answer.argmax(axis=1).tolist(), [0, fusion.OTHER])
        np.testing.assert_allclose(answer[0, fusion.OTHER] / answer[0, 0], 1 / 9, rtol=1e-4)
        self.assertEqual(len(set(streams.weights_to_try(3))), 5 * 6)
        np.testing.assert_allclose([sum(weights) for parts in (2, 3) for weights in streams.weights_to_try(parts)], 1)

    def test_recall_is_read_where_false_accepts_are_few_enough(self):
        curve = [(0.0, 10.0, 0.0), (0.8, 50.0, 1.0), (1.6, 60.0, 2.0), (3.9, 70.0, 3.0)]
        self.assertEqual([recall for recall, _ in streams.at_rates(curve)], [10, 50, 60, 70, 70])
        self.assertEqual(streams.quality(streams.at_rates(curve)), 60)


def small_table():
    """A table of recordings with something of each kind, all by speakers who are trained on but one."""
    trained = [name for name in (f"voice{n}" for n in range(200)) if split.partition(f"yes/{name}_nohash_0") == "training"]
    rows = [("clip", "yes", f"yes/{trained[0]}_nohash_0"), ("clip", "bed", f"bed/{trained[1]}_nohash_0"), ("clip", "yes", "yes/05b2db80_nohash_0")]
    rows += [("cut", "stop", "an4/x"), ("word", "must", "must/x"), ("word", "go", "go/go-1"), ("word", "synthetic", "synthetic/low-1"), ("speech", "librispeech", "librispeech/1"), ("noise", "esc10", "esc10/1"), ("room", "house", "house/1")]
    seconds = [1, 1, 1, 1, 1, 1, 1, 4, 3, 1]
    lengths = np.array(seconds) * 16000
    generator = np.random.default_rng(1)
    table = {"audio": generator.normal(0, 2000, lengths.sum()).astype(np.int16), "length": lengths, "start": np.cumsum(lengths) - lengths}
    table |= {key: np.array(column) for key, column in zip(("kind", "label", "name"), zip(*rows))}
    part = [split.part(*row) if row[0] == "clip" else "training" for row in rows]
    return table | {"text": np.array([""] * len(rows)), "part": np.array(part), "from": np.full(len(rows), 4000), "to": np.full(len(rows), 12000)}


class AnswerTests(unittest.TestCase):
    def test_the_published_answers_are_what_training_reads_for_a_clip(self):
        table = small_table()
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(recordings, "load_all", lambda *_: table),
            contextlib.redirect_stdout(io.StringIO()) as printed,
        ):
            published, out = f"{folder}/published.safetensors", f"{folder}/answers.npz"
            weights.write(published, weights.Stored(random_weights(Qbc6())))
            answers.main(["--data", folder, "--cache", folder, "--published", published, "--out", out])
            network, outputs = weights.read(published).network(), [*COMMANDS, "bed", "other", "_silence_"]
            taught = ClipAnswers(out, outputs, outputs.index("other"))(table["name"][[0, 1, 3]])
        self.assertIn("answers to 3 clips", printed.getvalue())
        for row, found in enumerate(taught[:2]):
            wave = torch.from_numpy(recordings.samples(table, row)[None])
            expected = dict(zip(network.labels, torch.softmax(network(wave)[0], dim=0).tolist()))
            known = [expected[word] for word in outputs[:11]]
            np.testing.assert_allclose(found, [*known, 1 - sum(known), 0], atol=1e-5)
        # Only clips are asked about.
        self.assertFalse(taught[2].any())


class ClipTests(unittest.TestCase):
    def test_silence_is_the_programs_and_the_rest_is_fused(self):
        scores = np.array([[0.3] + [0.02] * 9 + [0.12, 0.4]])
        logs = np.log(np.array([[0.05] * 10 + [0.5]]))
        alone, half, other = (clips.with_program(logs, scores, share) for share in (1, 0.5, 0))
        np.testing.assert_allclose(alone, scores, rtol=1e-6)
        np.testing.assert_allclose(other[0, :11], 0.6 * np.exp(logs[0]) / np.exp(logs).sum())
        np.testing.assert_allclose([half.sum(), half[0, 11], other[0, 11]], [1, 0.4, 0.4])
        self.assertEqual((alone.argmax(), other.argmax()), (11, 11))

    def test_a_shifted_clip_has_silence_where_it_was(self):
        wave = np.arange(1, 6, dtype=np.float32)[None]
        self.assertEqual(clips.shifted(wave, 2).tolist(), [[0, 0, 1, 2, 3]])
        self.assertEqual(clips.shifted(wave, -2).tolist(), [[3, 4, 5, 0, 0]])
        self.assertEqual(clips.shifted(wave, 0).tolist(), wave.tolist())

    def test_shares_are_of_all_log_posteriors_and_the_program_has_the_rest(self):
        entry = "names.pt,0.5,0.7+b.pt,0.3"
        self.assertEqual(clips.parts_of(entry), [("names.pt", 0.7, 0.5), ("b.pt", 1.0, 0.3)])
        generator = np.random.default_rng(1)
        first, second = (np.log(generator.dirichlet(np.ones(11), 3)) for _ in range(2))
        scores = np.concatenate([generator.dirichlet(np.ones(11), 3), np.zeros((3, 1))], axis=1)
        found = clips.together(entry, {("names.pt", 0.7): first, ("b.pt", 1.0): second}, scores)
        expected = np.exp(0.5 * first + 0.3 * second + 0.2 * np.log(scores[:, :11]))
        np.testing.assert_allclose(found[:, :11], expected / expected.sum(axis=1, keepdims=True))

    def test_strangers_have_a_line_for_each_set_and_a_column_for_each_entry(self):
        half = mock.Mock(waves=np.zeros((2, 16000), np.float32), of={"silence": np.array([0, 1])})
        half.figures = lambda posteriors: {"twelve classes, clean": posteriors[0, 0], "silence": 50.0}
        scores = np.full((2, 12), 1 / 12)
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(recordings, "load_all", lambda *_: {}),
            mock.patch.object(clips.upper_band, "learned", lambda _: None),
            mock.patch.object(clips, "Strangers", lambda *_: half),
            mock.patch.object(clips.validate, "scored", lambda *_, confirm: scores),
            contextlib.redirect_stdout(io.StringIO()) as printed,
        ):
            published, own = f"{folder}/published.safetensors", f"{folder}/own.safetensors"
            weights.write(published, weights.Stored(random_weights(Qbc6())))
            weights.write(own, weights.Stored(random_weights(Qbc6(ADDED), seed=2)))
            program = ["--data", folder, "--cache", folder, "--beckon", "", "--model", ""]
            clips.main([*program, "--strangers", "--published", published, f"{own},0.8,0", f"{published},0.8", f"{own},0.4,0.5+{own},0.4,0"])
        lines = [[cell.strip() for cell in line.split("|")[1:-1]] for line in printed.getvalue().splitlines()]
        self.assertEqual([line[:2] for line in lines], [["report, %", "clips"], ["---"] * 2, ["twelve classes, clean", ""], ["silence", "2"]])
        self.assertEqual((len(lines[2]), lines[3][2:]), (6, ["50.00"] * 4))

    def test_a_clip_lies_in_the_middle_of_a_longer_window(self):
        seen = []
        network = mock.Mock(labels=[*WORDS35], side_effect=lambda waves: seen.append(waves) or torch.zeros(len(waves), 35))
        answer = clips.confirmed(network, 24000, np.ones((1, 16000), np.float32))
        np.testing.assert_allclose(np.exp(answer).sum(), 1)
        bounds = [(int(torch.nonzero(waves[0])[0]), int(torch.nonzero(waves[0])[-1])) for waves in seen]
        self.assertEqual(bounds, [(2400, 18399), (4000, 19999), (5600, 21599)])
        self.assertEqual(float(seen[0].max()), proposals.PEAK)


class HalfTests(unittest.TestCase):
    def test_confidence_decides_between_words_and_talk(self):
        """Two words said and three proposals of them, two proposals in an hour of talk; the second look corrects one word."""
        propose = lambda path, word, time: proposals.Proposal(path, word, 0.5, time - 0.4, time - 0.1, time)
        found = [propose("w.wav", "yes", 1.6), propose("w.wav", "yes", 3.5), propose("t.wav", "go", 5.0), propose("t.wav", "up", 9.0)]
        said = [(1.0, 1.5, "yes"), (3.0, 3.4, "no")]
        talk = proposals.Talk(["t.wav"], 1.0, set(), 0.5)
        with (
            mock.patch.object(streams, "recordings_of", lambda *_: ["w.wav"]),
            mock.patch.object(streams, "talk_in", lambda *_: talk),
            mock.patch.object(streams, "proposed", lambda *_: found),
            mock.patch.object(streams, "words_said", lambda _: said),
        ):
            half = streams.Half("beckon", "model", "folder", "spot")
        posteriors = np.full((4, 11), 0.01)
        for row, (word, value) in enumerate((("yes", 0.9), ("no", 0.6), ("go", 0.7), ("up", 0.2))):
            posteriors[row, COMMANDS.index(word)] = value
        # Above 0.7 the first word; above 0.2 both at one false accept; above 0 another false accept.
        self.assertEqual(half.curve(posteriors), [(0.0, 50.0, 0.0), (1.0, 100.0, 0.0), (2.0, 100.0, 0.0)])
        self.assertEqual(half.curve(posteriors, sentences=True), [(0.0, 100.0, 0.0)])


class TrainingTests(unittest.TestCase):
    def test_examples_are_the_same_for_a_seed_and_hold_no_dropped_clip(self):
        table = small_table()
        made = examples.Examples(table, 24000, 1, hard=np.array([[7, 30000]]))
        first, again = made.batch(3), examples.Examples(table, 24000, 1, hard=np.array([[7, 30000]])).batch(3)
        np.testing.assert_array_equal(first.waves, again.waves)
        self.assertEqual(first.waves.shape, (sum(examples.MIXTURES["rejects"].counts.values()), 24000))
        self.assertLessEqual(np.abs(first.waves).max(), examples.PEAK + 1e-6)
        self.assertTrue(np.isfinite(first.waves).all())
        self.assertEqual(made.rows["commands"].tolist(), [0])
        of = lambda name: made.labels.index(name)
        words = [of("yes")] * 24 + [of("bed")] * 8 + [of("stop")] * 10 + [of("other speech")] * 26 + [of("go")] * 3 + [of("other speech")] * 5
        self.assertEqual(first.targets.tolist(), words + [of("no speech")] * 3 + [of("other speech")] * 2)
        self.assertTrue(set(first.rows[:32]) <= {0, 1, -1} and (first.rows[32:] == -1).all())

    def test_some_words_that_keep_voices_are_as_recorded(self):
        table = small_table()
        keeps = dataclasses.replace(examples.MIXTURES["keeps"], untouched=1.0)
        window, target, row = examples.Examples(table, 16000, 1, mixture=keeps).alone(0, np.random.default_rng(1))
        clip = recordings.samples(table, 0)
        np.testing.assert_allclose(window, clip * min(1, 0.5 / np.abs(clip).max()), rtol=1e-6)
        self.assertEqual((target, row), (WORDS35.index("yes"), 0))

    def test_a_share_of_the_talkers_in_noise_is_one_alone(self):
        for share, counts in ((0.0, range(3, 7)), (1.0, [1])):
            mixture = dataclasses.replace(examples.MIXTURES["beside"], one_talker=share)
            made = examples.Examples(small_table(), 24000, 1, mixture=mixture)
            with mock.patch.object(made, "talk_row", wraps=made.talk_row) as row:
                for seed in range(5):
                    row.reset_mock()
                    window = made.talkers(np.random.default_rng(seed))
                    self.assertIn(row.call_count, counts)
                    self.assertAlmostEqual(float((window**2).mean()), 1, places=3)

    def test_a_part_of_the_target_of_a_word_is_the_published_answer(self):
        batch = examples.Batch(np.zeros((2, 1)), np.array([1, 35]), np.array([7, -1]))
        logits, even = torch.zeros(2, 37), lambda rows: torch.zeros(len(rows), 35)
        logits[0, 1], logits[1, 35] = 3.0, 2.0
        logs = torch.log_softmax(logits, dim=1)
        names = examples.MIXTURES["names"]
        expected = -(logs[0, 1] * (1 - names.taught) + logs[0, :35].mean() * names.taught + logs[1, 35]) / 2
        torch.testing.assert_close(train.loss_of(logits, batch, even, names), expected)

    def test_what_the_published_network_does_not_know_teaches_nothing(self):
        keeps = examples.MIXTURES["keeps"]
        logits = torch.randn(3, 37, generator=torch.Generator().manual_seed(1))
        known = torch.full((2, 35), -30.0)
        known[0, 1], known[1, 4] = 30.0, 30.0
        batch = examples.Batch(np.zeros((3, 1)), np.array([1, 3, 36]), np.array([5, 6, -1]))
        softer = -torch.log_softmax(logits[0] / keeps.temperature, dim=0)[1] * keeps.temperature**2
        expected = (softer - torch.log_softmax(logits[2], dim=0)[36]) / 3
        torch.testing.assert_close(train.loss_of(logits, batch, lambda rows: known, keeps), expected)

    def test_training_continues_where_it_was_interrupted(self):
        few = {"commands": 1, "others": 1, "cuts": 1, "talk": 1, "words": 1, "quiet": 1, "babble": 1}
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(recordings, "load_all", lambda *_: small_table()),
            mock.patch.dict(examples.MIXTURES, {"names": dataclasses.replace(examples.MIXTURES["names"], counts=few)}),
            contextlib.redirect_stdout(io.StringIO()) as printed,
        ):
            weights.write(f"{folder}/published.safetensors", weights.Stored(random_weights(Qbc6())))
            run = lambda steps, out: train.main(
                ["--data", folder, "--cache", folder, "--published", f"{folder}/published.safetensors", "--network", "names", "--steps", str(steps), "--out", f"{folder}/{out}"]
            )
            run(2, "a.pt"), run(3, "a.pt")
            self.assertTrue(Path(folder, "rejecter-hard.npz").exists())
            found = weights.read(f"{folder}/a.pt")
            export.main(["--keep", folder, "--published", f"{folder}/published.safetensors", f"names={folder}/a.pt,0.7"])
            kept, published = (weights.read(f"{folder}/{name}.safetensors").weights for name in ("names", "published"))
        self.assertEqual((found.seconds, found.network().labels), (1.0, [*WORDS35, *ADDED]))
        kernel = "dw_conv.weight"
        np.testing.assert_allclose(kept[kernel], 0.7 * found.weights[kernel] + 0.3 * published[kernel], atol=2e-3)
        self.assertEqual([line.split(":")[0] for line in printed.getvalue().splitlines() if line.startswith("step")], ["step 2", "step 3"])


if __name__ == "__main__":
    unittest.main()
