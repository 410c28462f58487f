// Hashes of bytes for checksums and identities, not cryptographic. Each call continues from `start`, first `fnvBasis`.

/// The initial value of FNV-1a.
public let fnvBasis: UInt64 = 0xCBF2_9CE4_8422_2325

/// 64-bit FNV-1a, the checksum of word stores; one step per byte, about 8 times slower than `hashWords`.
public func fnv1a(_ source: UnsafeRawPointer, count: Int, from start: UInt64) -> UInt64 {
    var hash = start
    for index in 0..<count {
        hash = (hash ^ UInt64(source.load(fromByteOffset: index, as: UInt8.self))) &* 0x100_0000_01B3
    }
    return hash
}

/// A 64-bit hash of words of 8 bytes, little-endian, the last one padded with zeros, and then of the number of bytes.
public func hashWords(_ source: UnsafeRawPointer, count: Int, from start: UInt64) -> UInt64 {
    var hash = start
    @inline(__always) func add(_ word: UInt64) {
        hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
        // The low bits of a product depend only on the low bits of its factors: mix the high bits in.
        hash ^= hash >> 29
    }
    for index in stride(from: 0, to: count - 7, by: 8) {
        add(UInt64(littleEndian: source.loadUnaligned(fromByteOffset: index, as: UInt64.self)))
    }
    var last: UInt64 = 0
    for index in (count & ~7)..<count {
        last |= UInt64(source.load(fromByteOffset: index, as: UInt8.self)) << UInt64(8 * (index & 7))
    }
    add(last)
    // A step of its own: if the count were XORed into a word, a different word could cancel it.
    add(UInt64(truncatingIfNeeded: count))
    return hash
}
