/// Widens `count` half-precision numbers, little-endian and at any address, to floats.
///
/// By integer arithmetic alone: the baseline of x86-64 has no instruction for it, and the run-time library's routine
/// is a call for each number.
public func widenHalf(_ source: UnsafeRawPointer, to target: UnsafeMutablePointer<Float>, count: Int) {
    for index in 0..<count {
        let half = UInt32(UInt16(littleEndian: source.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self)))
        let sign = (half & 0x8000) << 16
        let exponent = (half >> 10) & 0x1F
        let fraction = half & 0x03FF
        let magnitude: UInt32
        if exponent == 0 {
            // Zero and subnormal numbers are whole multiples of 2^-24.
            magnitude = (Float(fraction) * 0x1p-24).bitPattern
        } else if exponent == 31 {
            magnitude = 0x7F80_0000 | fraction << 13
        } else {
            magnitude = (exponent + 112) << 23 | fraction << 13
        }
        target[index] = Float(bitPattern: sign | magnitude)
    }
}

/// Where the first number that is NaN or infinite stands, if there is one.
public func firstNonFinite(_ source: UnsafePointer<Float>, count: Int) -> Int? {
    for index in 0..<count where !source[index].isFinite { return index }
    return nil
}

/// Goes on with a 64-bit FNV-1a hash, by which words that were taught are checked on disk; the first call passes `fnvBasis`. A byte
/// takes as long as ``hashWords`` for eight.
public func hashBytes(_ source: UnsafeRawPointer, count: Int, from start: UInt64) -> UInt64 {
    var hash = start
    for index in 0..<count {
        hash = (hash ^ UInt64(source.load(fromByteOffset: index, as: UInt8.self))) &* 0x100_0000_01B3
    }
    return hash
}

/// Goes on with a hash of eight bytes at a time, little-endian, the last ones filled up with zeros, and of their count.
public func hashWords(_ source: UnsafeRawPointer, count: Int, from start: UInt64) -> UInt64 {
    var hash = start
    @inline(__always) func add(_ word: UInt64) {
        hash = (hash ^ word) &* 0x9E37_79B9_7F4A_7C15
        // A product leaves its low bits to the low bits of its factors.
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
    // By a product of its own: the first word could make good for it.
    add(UInt64(truncatingIfNeeded: count))
    return hash
}

public let fnvBasis: UInt64 = 0xCBF2_9CE4_8422_2325

/// Widens `count` unsigned bytes to floats.
public func widenBytes(_ source: UnsafeRawPointer, to target: UnsafeMutablePointer<Float>, count: Int) {
    for index in 0..<count { target[index] = Float(source.load(fromByteOffset: index, as: UInt8.self)) }
}

/// Widens `count` signed 16-bit numbers, little-endian and at any address, to floats.
public func widenShorts(_ source: UnsafeRawPointer, to target: UnsafeMutablePointer<Float>, count: Int) {
    for index in 0..<count {
        target[index] = Float(Int16(littleEndian: source.loadUnaligned(fromByteOffset: 2 * index, as: Int16.self)))
    }
}
