"""Measures, thresholds and lists of doubtful clips, with results known in advance."""

import contextlib
import io
import tempfile
import unittest
from pathlib import Path
from unittest import mock

import numpy as np
import torch

from Training.augment.examples import without_words
from Training.data import new_speakers, recordings, split, suspects, validation_sets, word_folds
from Training.data.vocabulary import COMMANDS
from Training.evaluate import intervals, stream_counts, strangers, streams, thresholds, validate
from Training.evaluate import suspects as find_suspects
from Training.evaluate import word_folds as judge_folds
from Training.model.network import Spotter


class StrangerTests(unittest.TestCase):
    def test_speakers_of_the_second_version_alone_are_measured_apart(self):
        new = sorted(new_speakers.names())[:2]
        answer = lambda *labels: np.eye(len(COMMANDS) + 2)[list(labels)]
        unknown = len(COMMANDS)
        # Two words by one whom both versions have, two by new speakers, an other word and silence.
        posteriors, truth = answer(0, 1, 2, 0, 0, unknown + 1), np.array([0, 1, 2, 3, unknown, unknown + 1])
        speakers = np.array(["05b2db80", "05b2db80", *new, new[0], "gsc"])
        pictured = answer(4, unknown, 5, unknown), np.array([4, 4, unknown, unknown]), np.array([*new, *new])
        found = {name: (count, figure.split()[0]) for name, count, figure in validate.by_strangers(posteriors, truth, speakers, pictured)}
        self.assertEqual(list(found.values()), [(2, "100.0"), (2, "50.0"), (2, "50.0"), (2, "50.0")], found)

    def test_without_pictures_their_lines_are_left_out(self):
        pictured = validate.of_pictures("no program", "no model", (), ())
        posteriors, truth = np.eye(len(COMMANDS) + 2)[:1], np.array([0])
        lines = list(validate.by_strangers(posteriors, truth, np.array(["05b2db80"]), pictured))
        self.assertEqual([line[:2] for line in lines], [("words, speakers of both versions", 1)])


class TwelveClassTests(unittest.TestCase):
    def setUp(self):
        """Each command once, six of them as pictures; two pictures of an other word, one by a speaker of both versions; and silence."""
        self.who = next(name for name in sorted(new_speakers.names()) if split.partition(f"go/{name}_nohash_0") == "tune")
        clip = lambda word: 0.1 * np.random.default_rng(len(word)).normal(size=16000).astype(np.float32)
        recorded = [f"{word}/{self.who}_nohash_0" for word in COMMANDS[:4]]
        table = {"name": np.array(recorded), "label": np.array(COMMANDS[:4]), "kind": np.full(4, "clip"), "part": np.full(4, "tune")}
        drawn = [*(f"{word}/{self.who}_nohash_1" for word in COMMANDS[4:]), f"bed/{self.who}_nohash_0"]
        pictured = lambda folders, cache, part, others=False: (np.array(["bird/a_nohash_0"] if others else drawn), np.stack([clip("x")] * (1 if others else 7)))
        silence = [0], np.zeros((1, 16000), np.float32), np.array([len(COMMANDS) + 1])
        upper, held_out = mock.Mock(added=lambda waves: waves + 1), mock.Mock()
        held_out.noise = held_out.babble = lambda length, generator: generator.normal(size=32000)
        with (
            mock.patch.object(strangers, "samples", lambda table, row: clip(str(row))),
            mock.patch.object(new_speakers, "pictured", pictured),
            mock.patch.object(validation_sets, "other_words", lambda *_: (np.zeros(0, int), np.zeros((0, 16000)))),
            mock.patch.object(validation_sets, "clip_rows", lambda *_: silence),
            mock.patch.object(strangers, "HeldOut", lambda *_: held_out),
        ):
            self.sets = strangers.Strangers(table, [], "", "tune", upper)

    def test_each_class_counts_alike_clean_and_degraded(self):
        sets = self.sets
        self.assertEqual(len(sets.twelve()), 12)
        answer = np.eye(12)[sets.truth]
        # All "yes" as recorded is wrong, and what is said in babble.
        answer[sets.of["words, recorded"][0]] = np.eye(12)[1]
        answer[sets.twelve("babble 10 dB")] = np.eye(12)[sets.truth[sets.twelve("babble 10 dB")] - 1]
        found = sets.figures(answer)
        self.assertAlmostEqual(found["twelve classes, clean"], 1100 / 12)
        self.assertAlmostEqual(found["ten words, clean"], 90)
        self.assertEqual((found["twelve classes, noise 5 dB"], found["ten words, babble 10 dB"]), (100, 0))
        # Babble alone may be other speech.
        self.assertAlmostEqual(found["twelve classes, babble 10 dB"], 100 / 12)

    def test_what_is_made_of_pictures_has_noise_above_and_a_condition_changes_it(self):
        of = lambda name: self.sets.waves[self.sets.of[name]]
        np.testing.assert_allclose(of("words, pictures"), of("… ending at 4 kHz") + 1, rtol=1e-5)
        np.testing.assert_allclose(of("… and noise above"), of("… to 4 kHz") + 1, rtol=1e-5)
        ratio = lambda name: 20 * np.log10(np.std(of("words, recorded")) / np.std(of(f"words, recorded, {name}") - of("words, recorded")))
        self.assertAlmostEqual(ratio("noise 10 dB"), 10, delta=0.5)
        self.assertAlmostEqual(ratio("noise 5 dB"), 5, delta=0.5)
        self.assertEqual(set(self.sets.speakers[self.sets.of["words, recorded"]]), {self.who})


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

    def test_the_networks_of_a_folder_write_the_list(self):
        # All three take every clip for "no".
        source = """
import numpy as np
LABELS12 = ["_silence_", "_unknown_", "yes", "no"]
class Teachers:
    def __init__(self, names):
        self.names = names
    def each(self, waves):
        return {name: np.log(np.tile([0.0025, 0.0025, 0.0025, 0.9925], (len(waves), 1))) for name in self.names}
"""
        with (
            tempfile.TemporaryDirectory() as folder,
            mock.patch.object(recordings, "load_all", lambda *_: WordFoldTests.clips_of(["yes", "no"])),
            contextlib.redirect_stdout(io.StringIO()) as printed,
        ):
            Path(folder, "teachers.py").write_text(source)
            out = Path(folder, "suspects.tsv")
            find_suspects.main(["--data", folder, "--cache", folder, "--teachers", folder, "--out", str(out)])
            lines = [line.split("\t") for line in out.read_text().splitlines()[1:]]
        self.assertEqual([line[1:] for line in lines], [["yes", "no", "all agree: 0.99"]] * 4)
        self.assertIn("4 of 8 clips, 0 of them void", printed.getvalue())

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

    def test_a_threshold_is_the_lowest_whose_promise_is_within_the_budget(self):
        talk = self.counts(np.zeros((2, 4), int), [[40, 20, 4, 0], [60, 30, 20, 0]])
        # Of 100, 50, 24 and no false accepts in 4 hours.
        promises = thresholds.promised(talk)
        np.testing.assert_allclose(promises, [27.34, 14.22, 7.27, 0.402], atol=0.01)
        self.assertEqual([thresholds.choose(talk, budget) for budget in (50, 15, 8, 0.5, 0.1)], [0, 1, 2, 3, 3])

    def test_talk_that_is_played_again_in_noise_promises_no_more(self):
        talk = self.counts(np.zeros((1, 4), int), [[16, 8, 4, 0]])
        thrice = stream_counts.joined([talk, talk, talk])
        np.testing.assert_allclose(thresholds.promised(thrice), thresholds.promised(talk))
        apart = stream_counts.joined([stream_counts.named(part, talk) for part in ("tune", "report", "third")])
        self.assertLess(thresholds.promised(apart)[3], thresholds.promised(talk)[3] / 2)

    def test_promises_are_exceeded_where_few_speakers_have_all_false_accepts(self):
        even = self.counts(np.zeros((1, 4), int), [[400, 200, 80, 40]])
        self.assertEqual(thresholds.exceeded(even, 60, np.random.default_rng(1)), 0)
        one = self.counts(np.zeros((1, 4), int), [[0, 0, 0, 0]])
        one.false_accepts[7] = 40
        self.assertTrue(40 < thresholds.exceeded(one, 5, np.random.default_rng(1)) < 60)

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

    def test_phrases_are_cut_in_pauses(self):
        tone = np.sin(np.arange(8000))
        pieces = streams.split_phrases(np.concatenate([tone, np.zeros(3200), tone, np.zeros(800), tone]))
        self.assertEqual(len(pieces), 2)
        self.assertAlmostEqual(len(pieces[0]), 9600, delta=320)
