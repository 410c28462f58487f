"""Recordings, who is trained on, and synthetic material, with results known in advance."""

import itertools
import shutil
import tempfile
import unittest
from pathlib import Path

import numpy as np

from Training.data import alignment, random_music, recordings, seeding, sources, split, synthesize, synthesize_neural, validation_sets
from Training.data.vocabulary import COMMANDS, CONFUSED_WORDS, NEAR_WORDS, SOUNDS_LIKE, says


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
