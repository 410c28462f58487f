"""Recordings, who is trained on, and synthetic material, with results known in advance."""

import contextlib
import io
import itertools
import shutil
import tarfile
import tempfile
import unittest
from pathlib import Path

import numpy as np

from Training.data import (
    alignment,
    dropped,
    new_speakers,
    pictured_clips,
    pictures,
    random_music,
    recordings,
    seeding,
    sources,
    split,
    synthesize,
    synthesize_neural,
    upper_band,
    validation_sets,
)
from Training.data.vocabulary import COMMANDS, CONFUSED_WORDS, NEAR_WORDS, SOUNDS_LIKE, says
from Training.tests import clips


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

    def test_a_clip_that_the_second_version_dropped_is_in_no_part(self):
        self.assertEqual(split.part("clip", "yes", "speech_commands-yes.tar/yes/05b2db80_nohash_0.opus"), "dropped")
        self.assertEqual(split.part("clip", "yes", "yes/05b2db80_nohash_0"), "dropped")
        # Another take of this speaker, a clip that the comparison left unsure, and a picture, which is of the second version.
        self.assertEqual(split.part("clip", "yes", "yes/05b2db80_nohash_9"), "training")
        self.assertEqual(split.part("clip", "yes", "yes/012c8314_nohash_0"), split.partition("yes/012c8314_nohash_0"))
        self.assertEqual(split.partition("yes/05b2db80_nohash_0"), "training")
        self.assertEqual((len(dropped.names()), {name.split("/")[0] for name in dropped.names()}), (2527, set(COMMANDS)))

    def test_new_speakers_are_held_out_and_in_both_halves(self):
        parts = [split.partition(f"yes/{name}_nohash_0") for name in new_speakers.names()]
        self.assertEqual({part: parts.count(part) for part in set(parts)}, {"tune": 34, "report": 32})
        among = new_speakers.among(np.array([min(new_speakers.names()), "05b2db80"]))
        self.assertEqual(among.tolist(), [True, False])

    def test_a_speaker_of_another_source_is_in_one_part(self):
        same = [
            ("an4/an251-fash-b.opus", "an4/cen7-fash-b.opus"),
            ("wuw2/WUWII00316_004.opus", "wuw2/WUWII00316_007.opus"),
            ("speechocean762/SPEAKER0001/000010035.opus", "SPEAKER0001/000010053"),
            ("audiomnist/zero/0_60_9.opus", "audiomnist/five/5_60_1.opus"),
            ("noise/esc10/001_Dog_bark__1-100032-A.opus", "noise/esc10/001_Dog_bark__1-100032-B.opus"),
            ("speech/ljspeech/LJ001-0004.opus", "ljspeech/LJ002-0200.opus"),
            ("speech/librispeech/1088-134315-0002.opus", "librispeech/1088-134315-0008"),
        ]
        for first, second in same:
            self.assertEqual(sources.speaker(first), sources.speaker(second))
            self.assertNotEqual(sources.speaker(first), sources.short_name(first).split("/")[1])

    def test_a_speaker_of_librispeech_stays_where_the_first_recording_put_them(self):
        first, more = "librispeech/1088-129236-0000", "librispeech/1088-134315-0002"
        self.assertEqual(split.part("speech", "librispeech", more), split.part("speech", "librispeech", first))
        self.assertEqual((sources.speaker(first), sources.speaker(more)), ("1088-129236-0000", "1088-129236-0000"))
        # Of those with one recording the whole name counts, as ever.
        self.assertEqual(sources.speaker("librispeech/103-1240-0000"), "103-1240-0000")

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


class PictureTests(unittest.TestCase):
    def test_grey_is_the_logarithm_of_the_power_of_a_band(self):
        time = np.arange(16000) / 16000
        tone = np.stack([0.5 * np.sin(2 * np.pi * hertz * time) for hertz in (1000, 6000)])
        picture = pictures.picture_of(tone)
        self.assertEqual(picture.shape, (2, 98, 40))
        # The window adds up to 240, so that the bin of a tone at 0.5 has a power of (0.25 · 240)² = 3600, and its neighbours a quarter each.
        band = int(picture[0, 50].argmax())
        power = np.exp((picture[0, 50, band].astype(float) - 146.8) / 10.14)
        self.assertTrue(3000 < power < 6000, power)
        edges = 700 * ((1 + 4000 / 700) ** (np.arange(42) / 41) - 1)
        self.assertTrue(edges[band] < 1000 < edges[band + 2], (band, edges[band]))
        # Nothing of a tone above 4 kHz is seen.
        self.assertLess(int(picture[1].max()), 90)

    def test_a_waveform_made_of_a_picture_looks_like_it(self):
        time = np.arange(16000) / 16000
        glide = np.sin(2 * np.pi * (300 * time + 600 * time**2)) * np.hanning(16000) * 0.3
        clicks = np.random.default_rng(1).normal(0, 0.003, 16000)
        clicks[4000::1600] += 0.5
        before = pictures.picture_of(np.stack([glide + clicks, clicks])).astype(float)
        waves = pictures.waves_of(before)
        after = pictures.picture_of(waves).astype(float)
        self.assertEqual((waves.shape, waves.dtype), ((2, 16000), np.float32))
        self.assertGreater(1 - ((before - after) ** 2).mean() / before.var(), 0.9)
        self.assertLess(np.abs(waves).max(), 2)

    def test_pictures_of_new_speakers_are_kept_by_their_half(self):
        who = {split.partition(f"go/{name}_nohash_0"): name for name in sorted(new_speakers.names())}
        names = [f"go/{who['tune']}_nohash_0", f"bed/{who['report']}_nohash_1", "go/05b2db80_nohash_0"]
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(Path(folder) / "melspec2.tar", "w") as archive:
                for number, name in enumerate(names):
                    clips.add_picture(archive, f"melspec2/{name}.jpg", np.full((98, 40), 60 + 40 * number, np.uint8))
            for part, expected in (("tune", names[:1]), ("report", names[1:2])):
                for _ in range(2):  # made, and read again
                    found, waves = new_speakers.pictured([folder], folder, part)
                    self.assertEqual((found.tolist(), waves.shape), (expected, (1, 16000)))
            part = split.partition(names[2])
            self.assertEqual(new_speakers.pictured([folder], folder, part, others=True)[0].tolist(), names[2:])

    def test_what_is_measured_is_found_in_more_steps(self):
        clip = 0.1 * np.random.default_rng(1).normal(size=16000) * np.hanning(16000)
        picture = pictures.picture_of(clip[None])
        error = lambda waves: np.abs(pictures.picture_of(waves).astype(float) - picture).mean()
        measured, trained_on = pictures.waves_of(picture), pictures.waves_of(picture, pictured_clips.STEPS)
        self.assertLess(error(measured), error(trained_on))
        np.testing.assert_array_equal(measured, pictures.waves_of(picture, (200, 60)))


class UpperBandTests(unittest.TestCase):
    def test_noise_above_has_the_level_that_what_is_below_tells(self):
        """Noise whose upper half is 20 dB below the lower one, at many levels."""
        generator = np.random.default_rng(1)
        spectra = np.fft.rfft(generator.normal(size=(40, 16000)))
        spectra[:, 8000:] *= 0.1
        waves = (np.fft.irfft(spectra, 16000) * 10 ** generator.uniform(-2, -0.5, (40, 1))).astype(np.float32)
        upper = upper_band.UpperBand(waves[:30])
        narrow = upper_band.low_passed(waves[30:])
        made = upper.added(narrow)
        self.assertLess((upper_band.low_passed(made) - narrow).std(), 0.05 * narrow.std())
        level = lambda waves: 10 * np.log10(((waves - upper_band.low_passed(waves)) ** 2).mean(axis=1) + 1e-12)
        self.assertLess(level(narrow).max(), -100)
        np.testing.assert_allclose(level(made), level(waves[30:]), atol=1.5)
        # Other clips have other noise.
        self.assertFalse(np.array_equal(made[:1], upper.added(narrow[:1], 64)))


class PicturedClipTests(unittest.TestCase):
    """A clip by one speaker of each part, and its picture in an archive."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        speakers = (f"voice{number}" for number in range(200))
        self.who = {split.partition(f"go/{name}_nohash_0"): name for name in speakers}
        self.assertEqual(set(self.who), {"training", "tune", "report", "testing"})
        time = np.arange(16000) / 16000
        self.clip = 0.3 * np.sin(2 * np.pi * (400 * time + 500 * time**2)) * np.hanning(16000)
        self.picture = pictures.picture_of(self.clip[None])[0]
        with tarfile.open(self.folder / "melspec2.tar", "w") as archive:
            for name in self.who.values():
                for word in ("go", "bed"):
                    clips.add_picture(archive, f"melspec2/{word}/{name}_nohash_0.jpg", self.picture)

    def run_it(self):
        """Runs the command; returns what it prints and the files that are there, by name."""
        out = self.folder / "made/clips"
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            pictured_clips.main(["--data", str(self.folder), "--out", str(out)])
        return printed.getvalue().split()[0], {str(path.relative_to(out)): path for path in sorted(out.glob("**/*")) if path.is_file()}

    def test_pictures_of_the_training_partition_become_clips_of_their_words(self):
        count, found = self.run_it()
        trained = self.who["training"]
        self.assertEqual((count, list(found)), ("2", [f"bed/{trained}_nohash_0.flac", f"go/{trained}_nohash_0.flac"]))
        table = recordings.load(str(self.folder / "made"), str(self.folder / "cache.npz"))
        self.assertEqual((table["kind"].tolist(), table["label"].tolist()), (["clip"] * 2, ["bed", "go"]))
        self.assertEqual((table["length"].tolist(), table["part"].tolist()), ([16000] * 2, ["training"] * 2))
        looks = pictures.picture_of(recordings.samples(table, 1)[None])[0].astype(float)
        self.assertGreater(1 - ((looks - self.picture) ** 2).mean() / self.picture.astype(float).var(), 0.9)

    def test_an_interrupted_run_continues(self):
        made = self.run_it()[1]
        first, second = made.values()
        second.unlink()
        before, wave = first.stat().st_mtime_ns, first.read_bytes()
        count, found = self.run_it()
        self.assertEqual((count, list(found)), ("1", list(made)))
        self.assertEqual((first.stat().st_mtime_ns, first.read_bytes()), (before, wave))
        self.assertEqual(self.run_it()[0], "0")


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
