"""Random pieces of music as MIDI files: chords, a melody, a bass and drums on random General MIDI instruments.

Composed music for games uses few instruments; what is taken for a word are the beginnings of notes, which differ between instruments.
"""

import struct

# Ticks of a quarter note.
QUARTER = 96
# General MIDI programs that are music; those from 112 on are percussion and sound effects.
PROGRAMS = 112
DRUM_CHANNEL = 9
# Bass drums, snares, claps, toms, hi-hats, cymbals and hand drums.
DRUMS = range(35, 65)
SCALES = ([0, 2, 4, 5, 7, 9, 11], [0, 2, 3, 5, 7, 8, 10], [0, 3, 5, 7, 10])


def variable_length(value):
    """A number as MIDI's variable-length quantity."""
    parts = [value & 0x7F]
    while value := value >> 7:
        parts.append(value & 0x7F | 0x80)
    return bytes(reversed(parts))


class Piece:
    """Notes of a piece, and the bytes of its MIDI file."""

    def __init__(self, beats_per_minute):
        self.tempo = round(60e6 / beats_per_minute)
        self.events = []

    def choose(self, channel, program, begin):
        """The instrument of a channel from `begin` on, in quarter notes."""
        self.events.append((round(begin * QUARTER), 0, bytes([0xC0 | channel, program])))

    def play(self, channel, key, loudness, begin, length):
        """`begin` and `length` are in quarter notes; keys and loudness are 0 to 127."""
        first = round(begin * QUARTER)
        last = first + max(1, round(length * QUARTER))
        # At one tick a note ends before another begins.
        self.events.append((first, 2, bytes([0x90 | channel, key, loudness])))
        self.events.append((last, 1, bytes([0x80 | channel, key, 0])))

    def midi(self):
        track, now = b"\0\xff\x51\x03" + self.tempo.to_bytes(3, "big"), 0
        for tick, _, message in sorted(self.events):
            track += variable_length(tick - now) + message
            now = tick
        track += b"\0\xff\x2f\0"
        return b"MThd" + struct.pack(">IHHH", 6, 0, 1, QUARTER) + b"MTrk" + struct.pack(">I", len(track)) + track


def random_piece(seconds, generator):
    """The bytes of a MIDI file; every eight beats the instruments change, so that a piece has many."""
    speed = generator.uniform(60, 180)
    piece, scale, root = Piece(speed), SCALES[generator.integers(len(SCALES))], int(generator.integers(36, 48))
    key = lambda degree, octave: root + 12 * (octave + degree // len(scale)) + scale[degree % len(scale)]
    loudness = lambda: int(generator.integers(50, 127))
    for bar in range(int(seconds * speed / 60) // 4):
        first = 4 * bar
        if bar % 2 == 0:
            channels = generator.permutation(8)[:3]
            parts = generator.random(4) < (0.7, 0.8, 0.5, 0.6)
            step, drums = generator.choice([0.5, 1, 2]), generator.choice(DRUMS, 3)
            for channel in channels:
                piece.choose(int(channel), int(generator.integers(PROGRAMS)), first)
        chords, melody, bass = (int(channel) for channel in channels)
        degree = int(generator.integers(len(scale)))
        if parts[0]:
            for beat in range(0, 4, int(generator.choice([1, 2, 4]))):
                for third in (0, 2, 4):
                    piece.play(chords, key(degree + third, 1), loudness(), first + beat, generator.uniform(0.3, 2))
        if parts[1]:
            for number in range(int(4 / step)):
                if generator.random() < 0.8:
                    pitch = key(int(generator.integers(2 * len(scale))), 2)
                    piece.play(melody, min(127, pitch), loudness(), first + number * step, step * generator.uniform(0.3, 1.2))
        if parts[2]:
            for beat in range(4):
                piece.play(bass, key(degree, 0), loudness(), first + beat, generator.uniform(0.3, 1))
        if parts[3]:
            for number in range(8):
                if generator.random() < 0.6:
                    piece.play(DRUM_CHANNEL, int(generator.choice(drums)), loudness(), first + number / 2, 0.2)
    return piece.midi()
