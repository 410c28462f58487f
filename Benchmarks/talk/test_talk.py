"""The containers of both games, small and synthetic, and how false accepts are counted. `make bench-talk` runs this first."""

import json
import struct
import tempfile
import unittest
from pathlib import Path

import numpy as np
import soundfile

from Benchmarks.talk import extract, queen, rates, rnc, sky
from Benchmarks.talk.answers import Answers


class Packer:
    """Bits in 16-bit words, the lowest first, with bytes between the words that are begun."""

    def __init__(self):
        self.out, self.word, self.free = bytearray(), 0, 0

    def bits(self, value, count):
        for n in range(count):
            if not self.free:
                self.word, self.free = len(self.out), 16
                self.out += b"\0\0"
            bit = 16 - self.free
            self.out[self.word + (bit >> 3)] |= (value >> n & 1) << (bit & 7)
            self.free -= 1

    def number(self, value):
        """By a code in which each of 16 symbols has four bits."""
        symbol = value.bit_length()
        self.bits(int(f"{symbol:04b}"[::-1], 2), 4)
        self.bits(value & (1 << max(0, symbol - 1)) - 1, max(0, symbol - 1))


def packed(pieces, whole):
    """What unpacks to `whole`: literal bytes, and (distance, count) between them."""
    packer = Packer()
    packer.bits(0, 2)
    for _ in range(3):
        packer.bits(16, 5)
        for _ in range(16):
            packer.bits(4, 4)
    packer.bits((len(pieces) + 1) // 2, 16)
    for piece in pieces:
        if isinstance(piece, bytes):
            packer.number(len(piece))
            packer.out += piece
        else:
            packer.number(piece[0] - 1)
            packer.number(piece[1] - 2)
    data = bytes(packer.out)
    return struct.pack(rnc.HEADER, rnc.SIGNATURE, len(whole), len(data), rnc.checksum(whole), rnc.checksum(data), 0, 1) + data


def text_bits(texts):
    """Texts in the prefix code, each from an even bit on: the bytes, and how many pairs of bits each has."""
    codes = {character: f"{code:0{length}b}" for (length, code), character in sky.CODES.items()}
    rows = ["".join(codes[c] for c in text + "\0") for text in texts]
    rows = [row + "0" * (len(row) % 2) for row in rows]
    bits = "".join(rows)
    bits += "0" * (-len(bits) % 8)
    return bytes(int(bits[n : n + 8], 2) for n in range(0, len(bits), 8)), [len(row) // 2 for row in rows]


def section(texts):
    """A file of texts in blocks of 32."""
    data, sizes = text_bits(texts)
    blocks = [sum(sizes[n : n + 32]) for n in range(0, len(sizes), 32)]
    # Long texts are counted in eights; those of the tests are short.
    assert max(sizes) < 128
    lengths = 4 + 2 * len(blocks)
    return struct.pack(f"<HH{len(blocks)}H", lengths, lengths + len(sizes), *blocks) + bytes(sizes) + data


def sky_game(folder, files):
    """Writes sky.dnr and sky.dsk with (number, bytes, flags); flags 2 has no header before it."""
    table, disk = b"", b""
    for number, data, flags in files:
        disk += b"\0" * (-len(disk) % 16)
        place = len(disk) >> 4 | 0x800000
        table += struct.pack("<H", number) + place.to_bytes(3, "little") + (len(data) | flags << 22).to_bytes(3, "little")
        disk += data
    (folder / "sky.dnr").write_bytes(struct.pack("<I", len(files)) + table)
    (folder / "sky.dsk").write_bytes(disk)


def queen_game(folder, files):
    """Writes queen.1c with files by name."""
    at = queen.TABLE + queen.ENTRY * len(files)
    table = b"".join(
        name.encode().ljust(12, b"\0") + struct.pack(">BII", 1, at + sum(len(d) for d in list(files.values())[:n]), len(files[name]))
        for n, name in enumerate(files)
    )
    head = b"QTBLCEM10\0\0\0" + bytes([queen.MP3]) + struct.pack(">H", len(files))
    (folder / "queen.1c").write_bytes(head + table + b"".join(files.values()))


def string(text, align):
    """A text behind its length; `align` of what begins at a multiple of it."""
    data = bytes([len(text)]) + text.encode()
    return data + b"\0" * (-len(data) % align)


def spoken(seconds=0.5, rate=22050):
    """Bytes of a WAV file, which is read as MP3 is."""
    import io

    file = io.BytesIO()
    soundfile.write(file, 0.1 * np.sin(np.arange(int(seconds * rate)) / 7), rate, format="WAV")
    return file.getvalue()


class TalkTests(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def test_packed_data_is_unpacked_with_copies_that_overlap_themselves(self):
        whole = b"ab" + b"ab" * 20 + bytes(range(200)) + b"z"
        pieces = [b"ab", (2, 40), bytes(range(200)) + b"z"]
        self.assertEqual(rnc.unpack(packed(pieces, whole)), whole)
        self.assertEqual(rnc.unpack(packed([b""], b"")), b"")

    def test_damaged_packed_data_is_refused(self):
        whole = bytes(range(100))
        good = packed([whole], whole)
        for at in (0, 3, 6, len(good) - 1):
            bad = bytearray(good)
            bad[at] ^= 0x41
            with self.assertRaises(ValueError):
                rnc.unpack(bytes(bad))
        for size in (0, 4, 17, 18, 30, len(good) - 1):
            with self.assertRaises(ValueError):
                rnc.unpack(good[:size])
        with self.assertRaisesRegex(ValueError, "before its start"):
            rnc.unpack(packed([b"a", (9, 4), b""], b"a" * 5))

    def test_the_prefix_code_of_the_texts_is_complete(self):
        self.assertEqual(sum(2.0**-length for length, _ in sky.CODES), 1)
        for (length, code), character in sky.CODES.items():
            for (other, longer), found in sky.CODES.items():
                if other > length:
                    self.assertNotEqual(longer >> other - length, code, (character, found))

    def test_lines_of_the_first_game_have_their_subtitles(self):
        texts = [f"Line {number}, Mr O'Brien?" for number in range(70)]
        wave = bytes(range(0, 256, 2)) * 40
        header = b"\0" * sky.HEADER
        sky_game(
            self.folder,
            [
                (60601, section(texts), 2),
                (50600 + 3, header + wave, 0),
                (50600 + 33, header + packed([wave], wave), 0),
                (50600 + 69, b"\0" * 22 + wave, 0),
                (50600 + 99, header + wave, 0),
            ],
        )
        found = list(sky.lines(self.folder))
        expected = [("sky-0603", texts[3]), ("sky-0633", texts[33]), ("sky-0669", texts[69]), ("sky-0699", None)]
        self.assertEqual([(name, text) for name, text, *_ in found], expected)
        for _, _, samples, rate in found:
            np.testing.assert_allclose(samples, (np.frombuffer(wave, np.uint8).astype(float) - 128) / 128)
            self.assertEqual(rate, 11025)

    def test_lines_of_the_second_game_have_their_subtitles(self):
        joe = [(0, "0"), (0x1E, "First.*02*FLSecond.*03")]
        people = [(0, "Not said."), (7, "*XY00(237,112)Reply.*01")]
        block = lambda rows: b"".join(struct.pack(">HH", 0, line) + string(text, 1) + b"\0" * (-(5 + len(text)) % 4) for line, text in rows)
        first = 32 + 96 + len(block(joe))
        second = first + len(block(people))
        head = struct.pack(">5h", 1, 5, 4, len(joe), len(people)) + b"\0" * 12 + struct.pack(">3H", first, 0, second)
        dialogue = b"\0" * 20 + head.ljust(32, b"\0") + b"\0" * 96 + block(joe) + block(people) + string("Again?*00", 2) + string("Yes, again.", 2)
        scene = b"\0" * 20 + struct.pack(">hhhHHH", 0, -2, 0, 0, 12, 0) + b"\0" + string("A scene.", 1) + string("*Wait*01Now.*02", 2)
        listed = ["A thing*24", "c1a.CUT", "The name", "A room", *["verb"] * 12, "A reply*02", *["reply"] * 39]
        expected = {
            "04001EJ1": "First.", "04001EJ3": "Second.", "040007P2": "Reply.", "04XXXXP1": "Again?", "04XXXXJ1": "Yes, again.", "C1A__011": "A scene.",
            "JOE00411": "A thing", "JOE00421": None, "JOE00011": "A reply", "XX": None,
        }  # fmt: skip
        queen_game(
            self.folder,
            {
                "BOB.DOG": dialogue,
                "C1A.CUT": scene,
                "QUEEN.JAS": b"\0" * 20 + struct.pack(">4H", 1, 1, 0, 2),
                "QUEEN2.JAS": "\r\n".join(listed).encode(),
                **{f"{name}.SB": spoken() for name in expected},
            },
        )
        found = {name: (text, len(samples), rate) for name, text, samples, rate in queen.lines(self.folder)}
        self.assertEqual(found, {f"queen-{name}": (text, 11025, 22050) for name, text in expected.items()})

    def test_containers_that_are_cut_off_are_refused(self):
        queen_game(self.folder, {"A.SB": b"123456"})
        data = (self.folder / "queen.1c").read_bytes()
        for part in (data[:20], data[:-1], b"QTBLCEM10\0\0\0\x02\0\0"):
            with self.assertRaises((ValueError, struct.error)):
                queen.files(part)
        with self.assertRaisesRegex(ValueError, "A.SB is no audio"):
            list(queen.lines(self.folder))
        sky_game(self.folder, [(50000, b"\0" * 100, 0)])
        (self.folder / "sky.dsk").write_bytes(b"\0" * 50)
        with self.assertRaisesRegex(ValueError, "cut off"):
            list(sky.lines(self.folder))
        sky_game(self.folder, [(50000, b"\0" * sky.HEADER + packed([b"12345"], b"12345")[:-1], 0)])
        with self.assertRaisesRegex(ValueError, "damaged"):
            list(sky.lines(self.folder))

    def test_lines_with_a_command_or_a_word_that_sounds_like_one_are_left_out(self):
        for text in ("No!", "NOOOO!", "N-no way.", "He's on it", "I know.", "stop, thief", "All right.", "YES..."):
            self.assertEqual(extract.why_not(text), "says a command", text)
        for text in ("Nothing.", "Only upward", "I'm gone.", "Alright!", "too good", "Of course", "Yeah"):
            self.assertIsNone(extract.why_not(text), text)
        for text in (None, "", "...", "?!"):
            self.assertEqual(extract.why_not(text), "no subtitle", text)

    def test_games_become_lines_and_streams_with_gaps_and_a_list_of_what_is_left_out(self):
        wave = bytes(128 + n % 50 for n in range(11025))
        texts = ["Hello there.", "Go away!", "Goodbye."]
        sky_game(self.folder, [(60600, section(texts), 2)] + [(50000 + n, b"\0" * 22 + wave, 0) for n in range(4)])
        folder = self.folder / "out"
        found = extract.extract(folder, {"sky": self.folder}, 1)
        self.assertEqual({name: line["text"] for name, line in found["lines"].items()}, {"sky-0000": texts[0], "sky-0002": texts[2]})
        self.assertEqual((folder / "left-out.tsv").read_text().splitlines()[1:], ["sky-0001\tsays a command\tGo away!", "sky-0003\tno subtitle\t"])
        (stream,) = found["streams"].values()
        (first, start, end), (second, next_start, _) = stream["lines"]
        self.assertEqual((first, start, end, second), ("sky-0000", 0, 1, "sky-0002"))
        self.assertTrue(extract.GAP[1] <= next_start - end <= extract.GAP[2])
        samples, rate = soundfile.read(folder / "streams/sky-00.wav")
        self.assertEqual((rate, len(samples)), (16000, round(stream["seconds"] * 16000)))
        line, _ = soundfile.read(folder / "lines/sky-0002.wav")
        np.testing.assert_array_equal(samples[round(next_start * rate) :][: len(line)], line)
        self.assertLess(np.abs(samples[rate : round(next_start * rate)]).max(), 1e-3)
        # A second run reads what the first wrote.
        (self.folder / "sky.dsk").unlink()
        self.assertEqual(json.dumps(extract.extract(folder, {"sky": self.folder}, 1)), json.dumps(found))

    def test_false_accepts_are_counted_once_and_not_where_the_word_is_said(self):
        talk = {
            "lines": {"a": {"text": "The computer hums."}, "b": {"text": "Hey you!"}},
            "streams": {"s": {"seconds": 10, "lines": [("a", 0, 3), ("b", 4, 6)]}},
        }
        answers = {"s": [(1, "computer", 1), (2, "alexa", 1), (2.5, "alexa", 0.9), (4.2, "computer", 1), (5, "hey_jarvis", 1), (9, "alexa", 1)]}
        found = [(time, word, line) for _, time, word, _, line in rates.false_accepts(talk, answers)]
        self.assertEqual(found, [(2, "alexa", "a"), (4.2, "computer", "b"), (5, "hey_jarvis", "b"), (9, "alexa", None)])
        self.assertEqual(rates.false_accepts(talk, answers, ["hey_jarvis"]), [("s", 5, "hey_jarvis", 1, "b")])
        # Found in the second line, said in the first.
        late = {"s": [(4.2, "computer", 1, 2.4, 3.0), (5.9, "go", 1, 2.4, 3.0)]}
        self.assertEqual(rates.false_accepts(talk, late), [("s", 5.9, "go", 1, "a")])

    def test_intervals_are_those_of_poisson_counts(self):
        for count, low, high in ((0, 0, 3.689), (1, 0.0253, 5.572), (10, 4.795, 18.39)):
            np.testing.assert_allclose(rates.interval(count, 2), (low / 2, high / 2), rtol=1e-3)

    def test_answers_are_kept_until_the_question_or_the_stream_changes(self):
        stream, asked = self.folder / "s.wav", []

        def ask(streams):
            for one in streams:
                asked.append(one.stem)
                yield one, [(1.0, "go", 0.9)]

        for question, content, times in ((["a"], b"1", 1), (["a"], b"1", 1), (["b"], b"1", 2), (["b"], b"2", 3), (["a"], b"1", 3)):
            stream = self.folder / f"{content.decode()}.wav"
            stream.write_bytes(content)
            self.assertEqual(Answers(self.folder / "kept")(question, [stream], ask), {stream.stem: [[1.0, "go", 0.9]]})
            self.assertEqual(len(asked), times)


if __name__ == "__main__":
    unittest.main()
