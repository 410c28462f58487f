"""Unpacks data packed by method 1 of Rob Northen's compression, as the files of Beneath a Steel Sky are.

The header has the signature, the lengths of both sides, checksums of both sides (all big endian), and the number of chunks. A chunk has three
prefix codes, of counts of literal bytes, of distances and of lengths, and then pairs of literal bytes and a copy of earlier ones. Bits come
from 16-bit words, the lowest first; literal bytes lie between these words.
"""

import struct

HEADER, SIGNATURE = ">4sIIHHBB", b"RNC\x01"
START = struct.calcsize(HEADER)
TABLE = []
for _byte in range(256):
    for _ in range(8):
        _byte = _byte >> 1 ^ (0xA001 if _byte & 1 else 0)
    TABLE.append(_byte)


def checksum(data):
    """The 16-bit cyclic checksum (polynomial 0xA001, lowest bit first) of bytes."""
    value = 0
    for byte in data:
        value = value >> 8 ^ TABLE[(value ^ byte) & 0xFF]
    return value


class Bits:
    """The bits of packed data, and the literal bytes between them. `place` is where the next word or literal byte is."""

    def __init__(self, data):
        self.data, self.place, self.held, self.count = data + b"\0\0\0\0", 0, 0, 0

    def need(self, count):
        while self.count < count:
            self.held |= (self.data[self.place] | self.data[self.place + 1] << 8) << self.count
            self.place += 2
            self.count += 16

    def take(self, count):
        self.need(count)
        value = self.held & (1 << count) - 1
        self.held >>= count
        self.count -= count
        return value

    def literal(self, count):
        """So many bytes, which lie after the last word that was needed."""
        found = self.data[self.place : self.place + count]
        self.place += count
        return found


def prefix_code(bits):
    """A dict from (length, bits as they come) to the symbol."""
    lengths = [bits.take(4) for _ in range(bits.take(5))]
    code, found = 0, {}
    for length in range(1, 17):
        for symbol, own in enumerate(lengths):
            if own == length:
                found[length, int(f"{code:0{length}b}"[::-1], 2)] = symbol
                code += 1
        code <<= 1
    return found


def number(bits, code):
    """A number: its symbol is its bit length, the bits below the highest follow."""
    value = length = 0
    while (length, value) not in code:
        if length == 16:
            raise ValueError("packed data has a code that its table lacks")
        value |= bits.take(1) << length
        length += 1
    symbol = code[length, value]
    return symbol if symbol < 2 else 1 << symbol - 1 | bits.take(symbol - 1)


def unpack(packed):
    """The bytes that were packed. Raises ValueError if they are not packed so, or damaged."""
    if len(packed) < START or packed[:4] != SIGNATURE:
        raise ValueError("no packed data of this method")
    _, length, packed_length, wanted, packed_wanted, _, chunks = struct.unpack_from(HEADER, packed)
    data = packed[START : START + packed_length]
    if len(data) != packed_length or checksum(data) != packed_wanted:
        raise ValueError("packed data is damaged or cut off")
    bits, out = Bits(data), bytearray()
    bits.take(2)
    for _ in range(chunks):
        literals, distances, lengths = prefix_code(bits), prefix_code(bits), prefix_code(bits)
        for left in range(bits.take(16), 0, -1):
            out += bits.literal(number(bits, literals))
            if left > 1:
                distance, count = number(bits, distances) + 1, number(bits, lengths) + 2
                if distance > len(out):
                    raise ValueError("packed data copies from before its start")
                for _ in range(count):
                    out.append(out[-distance])
    if len(out) != length or checksum(out) != wanted:
        raise ValueError("packed data is not what was packed")
    return bytes(out)
