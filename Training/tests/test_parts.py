"""Single functions of the recipe whose results are known in advance."""

import contextlib
import io
import itertools
import shutil
import tempfile
import types
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from Training.augment import render, speech_teacher, splice
from Training.augment.examples import without_words
from Training.data import alignment, random_music, recordings, seeding, sources, split, suspects, synthesize, synthesize_neural, validation_sets, word_folds
from Training.data.vocabulary import COMMANDS, CONFUSED_WORDS, NEAR_WORDS, SOUNDS_LIKE, says
from Training.data.audio import RATE
from Training.embedding.export import band_limited
from Training.embedding.train import STAGES, stage
from Training.evaluate import intervals, stream_counts, streams, thresholds
from Training.evaluate import suspects as find_suspects
from Training.evaluate import word_folds as judge_folds
from Training.export import ranges
from Training.model import calibration, metrics, mine, voice_activity
from Training.model.network import Spotter, ValidConvolution


class DataTests(unittest.TestCase):
    def test_partitions_are_by_speaker_and_in_the_dataset_s_shares(self):
        names = ["yes/bobby_nohash_0.wav", "no/bobby_nohash_3.opus", "yes/bobby"]
        self.assertEqual(len({split.partition(name) for name in names}), 1)
        parts = [split.partition(f"yes/{number}_nohash_0.wav") for number in range(10000)]
        shares = [parts.count(part) / 100 for part in ("training", "tune", "report", "testing")]
        np.testing.assert_allclose(shares, [80, 5, 5, 10], atol=1)
        # Speakers of the dataset, so that neither rule changes unnoticed.
        known = {"004ae714": "training", "099d52ad": "tune", "0ab3b47d": "tune", "026290a7": "tune", "060cd039": "report"}
        self.assertEqual({who: split.partition(f"yes/{who}_nohash_0.wav") for who in known}, known)

    def test_a_speaker_of_another_source_is_in_one_part(self):
        same = [
            ("an4/an251-fash-b.opus", "an4/cen7-fash-b.opus"),
            ("wuw2/WUWII00316_004.opus", "wuw2/WUWII00316_007.opus"),
            ("speechocean762/SPEAKER0001/000010035.opus", "SPEAKER0001/000010053"),
            ("audiomnist/zero/0_60_9.opus", "audiomnist/five/5_60_1.opus"),
            ("noise/esc10/001_Dog_bark__1-100032-A.opus", "noise/esc10/001_Dog_bark__1-100032-B.opus"),
        ]
        for first, second in same:
            self.assertEqual(sources.speaker(first), sources.speaker(second))
            self.assertNotEqual(sources.speaker(first), sources.short_name(first).split("/")[1])

    def test_what_is_only_measured_is_never_trained_on(self):
        paths = [f"wuw2/WUWII{n:05}_000.opus" for n in range(200)] + [f"fsdd/{n}_theo_0.opus" for n in range(10)]
        paths += [f"commonvoice/de/common_voice_de_{n}.opus" for n in range(200)]
        parts = {split.part(*sources.kind_and_label(path), path) for path in paths}
        self.assertEqual(parts, {"tune", "report"})
        spelled = [split.part("speech", "an4", f"an4/an{n}-sp{n}-b.opus") for n in range(1000)]
        np.testing.assert_allclose([spelled.count(part) / 10 for part in split.PARTS], [50, 25, 25], atol=4)
        english = [f"commonvoice/en/common_voice_en_{n}.opus" for n in range(1000)]
        parts = [split.part(*sources.kind_and_label(path), path) for path in english]
        np.testing.assert_allclose([parts.count(part) / 10 for part in split.PARTS], [70, 15, 15], atol=4)

    def test_the_ends_of_background_recordings_are_halved(self):
        spans = [split.background_span(part, 1000) for part in split.PARTS]
        self.assertEqual(spans, [(0, 850), (850, 925), (925, 1000)])

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
            "speechocean762/SPEAKER0001/000010035.opus": ("speech", "speechocean762"),
            "commonvoice/fa/common_voice_fa_1.opus": ("speech", "commonvoice-other"),
            "fsdd/6_nicolas_4.opus": ("word", "six"),
            "mycroft/athena/athena-en-1.opus": ("word", "athena"),
            "rooms/house/hall.flac": ("room", "house"),
        }
        self.assertEqual({name: sources.kind_and_label(name) for name in expected}, expected)

    def test_aligned_words_are_rows_within_their_recording(self):
        text = "a/b\tzero\t0.77\t1.26\na/b\tit\t0.1\t0.15\na/b\tbad\tx\t1\n"
        words = alignment.parse(text)
        self.assertEqual(words, {"a/b": [("zero", 12320, 20160)]})
        self.assertEqual(list(alignment.rows(words["a/b"], 100, 24000)), [(100 + 4320, 24000 - 4320, 8000, 15840, "zero")])
        self.assertEqual(list(alignment.rows(words["a/b"], 100, 20000)), [])

    def test_a_new_word_is_in_no_training_recording_and_stands_alone(self):
        labels = ["thirteen", "purple", "bus", "know", "speechocean762", "purple"]
        table = {
            "label": np.array(labels),
            "kind": np.array(["cut", "cut", "cut", "cut", "speech", "cut"]),
            "part": np.array(["report", "report", "report", "report", "training", "tune"]),
            "text": np.array(["", "", "", "", "the red bus", ""]),
            "audio": np.full(48000, 8192, np.int16),
            "start": np.arange(6) * 100,
            "from": np.full(6, 8000),
            "to": np.full(6, 12000),
            "length": np.full(6, 20000),
        }
        rows, waves = validation_sets.new_words(table, "report")
        self.assertEqual([labels[row] for row in rows], ["thirteen", "purple"])
        self.assertEqual(waves.shape, (2, 16000))
        np.testing.assert_array_equal(np.flatnonzero(waves[0])[[0, -1]] // 200, [30, 49])
        self.assertEqual(waves[0].max(), 0.25)
        self.assertEqual(len(validation_sets.new_words(table, "training")[0]), 0)

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

    def test_what_sounds_like_a_command_counts_as_one_and_is_no_other_word(self):
        self.assertTrue(says(COMMANDS, "i know him") and says(COMMANDS, "do not stop") and says(["right"], "write it"))
        self.assertFalse(says(COMMANDS, "snow is nothing") or says(["yes"], "i know him"))
        self.assertTrue(set(SOUNDS_LIKE).isdisjoint(NEAR_WORDS + CONFUSED_WORDS))

    def test_a_command_that_was_heard_in_running_speech_is_cut_out(self):
        second, audio = 16000, np.arange(10 * 16000, dtype=np.int16)
        table = {
            "audio": audio,
            "start": np.array([0, 5 * second]),
            "length": np.array([5 * second, 5 * second]),
            "from": np.array([0, 7]),
            "to": np.array([5 * second, 9]),
            "kind": np.array(["speech", "speech"]),
            "name": np.array(["a/1", "a/2"]),
        }
        cut = recordings.without(table, {"a/1": [(1.5, 1.8), (2.3, 2.5)], "b/1": [(0, 1)]})
        # Before the first and after the second; what is between them is shorter than a second.
        np.testing.assert_array_equal(cut["name"], ["a/1", "a/1", "a/2"])
        np.testing.assert_allclose(cut["start"] / second, [0, 2.7, 5], atol=1e-3)
        np.testing.assert_allclose(cut["length"] / second, [1.3, 2.3, 5], atol=1e-3)
        np.testing.assert_array_equal([cut["from"][0], cut["from"][2], cut["to"][2]], [0, 7, 9])
        np.testing.assert_array_equal(cut["to"][:2], cut["length"][:2])
        for name in recordings.heard_commands():
            self.assertIn(name.split("/")[0], ("librispeech", "coffee"))

    def test_peaks_of_scores_lie_apart(self):
        scores = np.array([0.0, 0.2, 0.9, 0.8, 0.01, 0.3, 0.02])
        self.assertEqual(mine.peaks(scores), [2, 5])

    def test_words_of_synthetic_recordings_come_from_their_names(self):
        names = ("words/heart-computer-3", "words/blend-good night-0", "words/computer-12")
        self.assertEqual([sources.spoken_word(name, "synthetic") for name in names], ["computer", "good night", "computer"])
        self.assertEqual(sources.spoken_word("words/1", "snowboy"), "snowboy")

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


class RandomMusicTests(unittest.TestCase):
    def test_quantities_have_seven_bits_a_byte(self):
        table = {0: "00", 127: "7f", 128: "8100", 8192: "c000", 16383: "ff7f", 16384: "818000"}
        self.assertEqual({number: random_music.variable_length(number).hex() for number in table}, table)

    def test_every_note_ends_and_the_piece_is_as_long_as_asked(self):
        piece = random_music.random_piece(30, seeding.generator("random music", 1))
        self.assertEqual(piece[:14].hex(), "4d546864000000060000000100" + f"{random_music.QUARTER:02x}")
        self.assertEqual(int.from_bytes(piece[18:22], "big"), len(piece) - 22)
        tempo, rest, now, sounding, programs = int.from_bytes(piece[26:29], "big"), list(piece[29:]), 0, [], set()
        while True:
            wait = 0
            while (byte := rest.pop(0)) & 0x80:
                wait = wait << 7 | byte & 0x7F
            now += wait << 7 | byte
            kind, channel = (status := rest.pop(0)) & 0xF0, status & 0x0F
            if status == 0xFF:
                break
            key = rest.pop(0)
            if kind == 0xC0:
                programs.add(key)
                continue
            self.assertTrue(key < 128 and 0 <= rest.pop(0) < 128)
            sounding.append((channel, key)) if kind == 0x90 else sounding.remove((channel, key))
        self.assertEqual((rest, sounding), ([0x2F, 0], []))
        self.assertGreater(len(programs), 5)
        seconds = now / random_music.QUARTER * tempo / 1e6
        self.assertTrue(24 < seconds < 36, seconds)


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


class WordFoldTests(unittest.TestCase):
    TABLE = {
        "label": np.array(["bed", "synthetic", "synthetic", "speechocean762", "speechocean762", "yes"]),
        "name": np.array(["bed/a_nohash_0", "synthetic/heart-bed-1", "synthetic/bedside-2", "S/1", "S/2", "yes/a_nohash_0"]),
        "text": np.array(["", "", "", "go to bed", "he has five", ""]),
    }

    def test_no_word_is_in_two_folds(self):
        words = [word for fold in word_folds.FOLDS for word in fold]
        self.assertEqual((len(words), len(set(words))), (25, 25))

    def test_a_fold_is_left_out_of_recordings_synthetic_words_and_speech(self):
        np.testing.assert_array_equal(without_words(self.TABLE, word_folds.FOLDS[0]), [False, False, True, False, True, True])
        self.assertTrue(without_words(self.TABLE, ()).all())


    def test_five_networks_are_judged_by_the_words_they_were_trained_without(self):
        outputs = [*COMMANDS, "other", "_silence_"]
        network = Spotter(len(outputs), [4, 4, 4, 4], 8)
        # The weights leave every answer to the biases: `other` always wins.
        torch.nn.init.zeros_(network.logits.weight)
        network.logits.bias.data = torch.tensor([0.0] * len(COMMANDS) + [5.0, 0.0])
        state = {"average": network.state_dict(), "channels": [4, 4, 4, 4], "head": 8, "outputs": outputs}
        table = self.clips_of(["yes", "no", *(fold[0] for fold in word_folds.FOLDS)])
        quiet = np.zeros((4, 16000), np.float32)
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(recordings, "load_all", lambda *_: table),
            mock.patch.object(judge_folds, "HeldOut"),
            mock.patch.object(judge_folds.no_words, "babble_and_music", lambda *_: quiet),
            contextlib.redirect_stdout(io.StringIO()) as printed,
        ):
            path = str(Path(folder) / "network.pt")
            torch.save(state, path)
            judge_folds.main(["--data", folder, "--cache", folder, *[path] * 5])
        lines = printed.getvalue().splitlines()
        self.assertEqual(len(lines), 2 + 5 + 2)
        self.assertIn("| bed, six, wow, backward, learn | 0.0 (0.0–0.0) of 4 | 100.0 (100.0–100.0) of 8 | 100.0", lines[2])
        self.assertTrue(lines[2].endswith("of 2 | 100.0 (100.0–100.0) of 4 |"), lines[2])
        self.assertEqual(lines[-1], "| mean of the folds | 0.0 | 100.0 | 100.0 | 100.0 |")

    @staticmethod
    def clips_of(words):
        """A table of two clips of each word in either half, and of one background recording."""
        rows = [("clip", w, f"{w}/{part}{n}_nohash_0", part, 16000) for w in words for part in split.PARTS[1:] for n in (0, 1)]
        rows.append(("noise", "gsc", "gsc/pink", "training", 20 * 16000))
        kind, label, name, part, length = (np.array(column) for column in zip(*rows))
        audio = np.random.default_rng(0).normal(0, 2000, length.sum()).astype(np.int16)
        start = np.cumsum(length) - length
        bounds = {"start": start, "length": length, "from": length // 8, "to": length // 2, "text": np.full(len(rows), "")}
        return {"audio": audio, "kind": kind, "label": label, "name": name, "part": part} | bounds


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
        # Two batches of two, the second of a recording and of an inverted spectrogram, which has no sound.
        batches = [types.SimpleNamespace(sources=np.array(sources), waves=np.ones((2, RATE)), energies=np.ones((2, 79, 40))) for sources in ((3, -1), (5, -2))]
        for batch in batches:
            batch.targets = batch.alternatives = np.zeros(2, int)

        class Examples(list):
            kinds, batch = np.arange(4), 2
            order = staticmethod(lambda: np.arange(4))

        with tempfile.TemporaryDirectory() as folder:
            render.render(Examples(batches), folder, 7, self.fake())
            with np.load(speech_teacher.path(folder, 7)) as stored, np.load(render.path(folder, 7)) as epoch:
                self.assertEqual(np.isnan(stored["answers"]).any(axis=1).tolist(), [False, False, False, True])
                self.assertEqual(len(stored["places"]), len(epoch["sources"]))

    @staticmethod
    def fake():
        """A teacher that answers the first samples of what it hears."""
        teacher = object.__new__(speech_teacher.SpeechTeacher)
        run = lambda _, inputs: [inputs["samples"][:, None, None, : speech_teacher.SIZE]]
        teacher.session, teacher.input = types.SimpleNamespace(run=run), "samples"
        return teacher


class SuspectTests(unittest.TestCase):
    def test_networks_must_agree_on_another_label(self):
        labels = ["_silence_", "_unknown_", "yes", "no"]
        sure_of_no, sure_of_yes = [0, 0.02, 0.02, 0.96], [0, 0.02, 0.96, 0.02]
        self.assertEqual(find_suspects.disagreement(np.array([sure_of_no] * 3), labels, "yes")[0], "no")
        self.assertIsNone(find_suspects.disagreement(np.array([sure_of_no] * 3), labels, "no"))
        self.assertIsNone(find_suspects.disagreement(np.array([sure_of_no] * 2 + [sure_of_yes]), labels, "yes"))

    def test_a_silent_clip_is_void(self):
        waves = np.zeros((2, 16000))
        waves[0, 4000:5600] = 0.1 * np.sin(np.arange(1600))
        waves[1] += 0.1
        self.assertEqual(list(find_suspects.loudness(waves) < find_suspects.LEVEL), [False, True])

    def test_the_list_names_clips(self):
        self.assertTrue(all("_nohash_" in name for name in suspects.names()))
        self.assertEqual(list(suspects.among(np.array([suspects.names()[0], "yes/none_nohash_0"]))), [True, False])


class IntervalTests(unittest.TestCase):
    def test_an_interval_is_over_speakers(self):
        generator = np.random.default_rng(0)
        right = generator.random(1000) < 0.9
        alone = intervals.interval(intervals.share(right, intervals.weights(np.arange(1000))))
        np.testing.assert_allclose(alone, [88.1, 91.9], atol=1.0)
        # Ten speakers of whom one is never right: the interval is that of ten draws.
        by_speaker = np.repeat(np.arange(10) > 0, 100)
        wide = intervals.interval(intervals.share(by_speaker, intervals.weights(np.repeat(np.arange(10), 100))))
        self.assertEqual(wide, (70.0, 100.0))


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

    @staticmethod
    def counts(hits, false_accepts, hours=4.0, files=40):
        """Counts that add up to these hits and false accepts [words, thresholds], dealt over the files."""
        deal = lambda values: (np.array(values) + np.arange(files)[:, None, None]) // files
        return stream_counts.Counts(
            ["yes", "no"][: len(hits)],
            np.array([0.5, 0.7, 0.9, 0.99]),
            deal(hits),
            deal(np.zeros_like(hits)),
            deal(false_accepts),
            deal(np.full((len(hits), 1), 100))[:, :, 0],
            np.full(files, 3600 * hours / files),
            np.array([f"talk/{number}" for number in range(files)]),
            np.full(files, 2.0),
        )

    def test_a_threshold_is_the_lowest_within_the_budget(self):
        talk = self.counts(np.zeros((2, 4), int), [[40, 20, 4, 0], [60, 30, 20, 0]])
        self.assertEqual([thresholds.choose(talk, budget) for budget in (50, 15, 8, 0.5)], [0, 1, 2, 3])

    def test_sensitivities_have_false_accepts_in_times_of_those_of_the_usual_threshold(self):
        talk = self.counts(np.zeros((2, 4), int), [[40, 20, 4, 0], [60, 30, 20, 0]])
        spot = self.counts(np.zeros((2, 4), int), [[80, 40, 20, 4], [90, 60, 30, 10]])
        chosen = thresholds.choose_all({"command": talk, "spot": spot})
        indices = {mode: {name: list(each) for name, each in part.items()} for mode, part in chosen.items()}
        self.assertEqual(indices["command"], {"strict": [3, 3], "balanced": [2, 2], "eager": [1, 1]})
        self.assertEqual(indices["spot"], {"strict": [3, 3], "balanced": [3, 3], "eager": [1, 1]})

    def test_slow_readers_names_and_numbers_are_no_sentences(self):
        part = self.counts(np.zeros((1, 4), int), [[40, 30, 20, 0]])
        part.pace[:10], part.pace[10] = 0.9, np.nan
        sets = {"talk-coffee-clean": part, "talk-wuw2-clean": part, "talk-an4-clean": part, "talk-read-clean": part}
        talk = thresholds.sentences(sets | {"words-noise-10": part})
        self.assertAlmostEqual(talk.hours, 3)
        self.assertEqual(talk.false_accepts.sum(axis=(0, 1))[0], 30)

    def test_pace_is_words_a_second_of_what_was_said(self):
        with tempfile.NamedTemporaryFile("w", suffix=".said") as file:
            file.write("0.5\t2.5\tone/1\tit's a house\n3\t9\tone/2\t\n10\t11\tone/3\t(( ))\n12\t14\ttwo/1\tthree\n")
            file.flush()
            self.assertEqual(stream_counts.pace(file.name), 1)
        self.assertTrue(np.isnan(stream_counts.pace("none.said")))

    def test_counts_are_read_from_the_program(self):
        word = {"word": "yes", "figures": {"said": 3}}
        word["curve"] = [{"threshold": 0.5, "hits": 2, "wrong": 1, "falseAccepts": 4}]
        counts = stream_counts._counts([([word], 60.0, "talk/000.wav", 2.5), ([word], 30.0, "talk/001.wav", np.nan)])
        self.assertEqual((counts.hits.shape, counts.said.tolist(), counts.seconds.tolist()), ((2, 1, 1), [[3], [3]], [60, 30]))
        self.assertEqual((counts.content[1], counts.pace[0]), ("talk/001.wav", 2.5))

    def test_files_that_differ_in_noise_alone_play_the_same(self):
        names = ["talk-an4-clean", "talk-an4-noise-10", "dictation-an4-clean", "words-noise-10"]
        played = [stream_counts.content(name, "003.wav") for name in names]
        self.assertEqual(played, ["talk-an4/003.wav", "talk-an4/003.wav", "dictation-an4/003.wav", "words/003.wav"])

    def test_false_accepts_beyond_the_last_one_counted_are_expected(self):
        for counted in (np.array([30, 16, 4, 0]), np.zeros(4, int)):
            expected = thresholds.expected(counted, np.array([0.5, 0.7, 0.9, 0.99]))
            self.assertTrue((expected >= counted).all() and (np.diff(expected) <= 0).all(), expected)
            self.assertTrue(0.001 < expected[3] < 2, expected)

    def test_rates_are_of_all_files(self):
        talk = self.counts(np.zeros((1, 4), int), [[8, 4, 2, 0]])
        self.assertEqual(stream_counts.false_accepts(talk, [1])[0], 1.0)
        words = self.counts([[95, 90, 80, 40]], np.zeros((1, 4), int))
        self.assertEqual(stream_counts.recall(words, [2])[0], 80.0)
        both = stream_counts.joined([talk, talk])
        self.assertAlmostEqual(both.hours, 8)
        self.assertAlmostEqual(stream_counts.false_accepts(both, [0])[0], 2)

    def test_no_false_accept_in_few_hours_does_not_mean_none_in_many(self):
        talk = self.counts(np.zeros((1, 4), int), [[8, 4, 2, 0]])
        self.assertEqual(stream_counts.false_accept_interval(talk, [3]), (0, 0.75))
        # The same talk in noise again says nothing new.
        again = stream_counts.joined([talk, talk])
        self.assertEqual(stream_counts.false_accept_interval(again, [3]), (0, 0.75))
        low, high = stream_counts.false_accept_interval(talk, [1])
        self.assertTrue(0 < low < 1 < high, (low, high))

    def test_phrases_to_be_said_have_no_command(self):
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as file:
            file.write("Adam\nEve\nknow\nstop\nStop\ncat\ncat's\na\nhouse\n")
            file.flush()
            generator = np.random.default_rng(1)
            said = list(itertools.islice(synthesize_neural.phrases(file.name, ["stop", "no"], generator), 200))
        words = {word for text in said for word in text.strip(".").lower().split()}
        self.assertEqual(words, {"adam", "eve", "cat", "house"})
        self.assertEqual({len(text.split()) for text in said}, {1, 2})
        self.assertTrue(all(text[0].isupper() and text.endswith(".") for text in said))

    def test_phrases_are_cut_in_pauses(self):
        tone = np.sin(np.arange(8000))
        pieces = streams.split_phrases(np.concatenate([tone, np.zeros(3200), tone, np.zeros(800), tone]))
        self.assertEqual(len(pieces), 2)
        self.assertAlmostEqual(len(pieces[0]), 9600, delta=320)

    def test_stages_follow_each_other(self):
        first, second = STAGES[0][0], STAGES[1][0]
        self.assertEqual(stage(first - 1)[:2], (first - 1, first))
        self.assertEqual(stage(first)[:2], (0, second))

    def test_a_telephone_keeps_its_band_alone(self):
        seconds = np.arange(RATE) / RATE
        tones = {hertz: np.sin(2 * np.pi * hertz * seconds) for hertz in (100, 1000, 5000)}
        through = band_limited(sum(tones.values()).astype(np.float32), 300, 3400)
        np.testing.assert_allclose(through, tones[1000], atol=1e-3)


if __name__ == "__main__":
    unittest.main()
