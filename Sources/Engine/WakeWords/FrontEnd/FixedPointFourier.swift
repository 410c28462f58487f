private import Glibc

/// Discrete Fourier transform of 512 real samples in 16-bit integers.
///
/// A complex transform of 256 pairs in four stages of radix 4, which each divide by 4, and the separation of even and odd samples, which
/// divides by 4 again; every product is rounded to 16 bits. The order of these roundings decides the last bits of the result.
struct FixedPointFourier: ~Copyable {
    static let size = 512
    private static let half = size / 2

    /// The samples, `[512]`; those after the window stay zero.
    let input = Memory<Int16>(size)
    /// Real and imaginary parts of the frequencies from 0 to half the rate, `[257]` each.
    let real = Memory<Int16>(half + 1)
    let imaginary = Memory<Int16>(half + 1)

    /// Pairs of samples, `[256]`, in the order in which the first stage reads them.
    private let pairs = Memory<UInt16>(Self.reversedDigits)
    private let x = Memory<Int16>(half)
    private let y = Memory<Int16>(half)
    private let cosines = Memory<Int16>(Self.turns { -2 * .pi * $0 / Double(half) }.map(\.0))
    private let sines = Memory<Int16>(Self.turns { -2 * .pi * $0 / Double(half) }.map(\.1))
    private let separatingCosines = Memory<Int16>(Self.turns { -.pi * (($0 + 1) / Double(half) + 0.5) }.map(\.0))
    private let separatingSines = Memory<Int16>(Self.turns { -.pi * (($0 + 1) / Double(half) + 0.5) }.map(\.1))

    /// The numbers below 256 with their digits to the base 4 in reverse.
    private static let reversedDigits = (0..<UInt16(half)).map { index in
        var (rest, reversed): (UInt16, UInt16) = (index, 0)
        for _ in 0..<4 {
            reversed = 4 * reversed + rest % 4
            rest /= 4
        }
        return reversed
    }

    private static func turns(_ angle: (Double) -> Double) -> [(Int16, Int16)] {
        (0..<half).map { index in
            let angle = angle(Double(index))
            return (Int16(floor(0.5 + 32767 * cos(angle))), Int16(floor(0.5 + 32767 * sin(angle))))
        }
    }

    /// Transforms `input`, shifted left by `shift` bits.
    func transform(shift: Int) {
        let shift = Int16(truncatingIfNeeded: shift)
        for index in 0..<Self.half {
            let pair = 2 * Int(pairs.base[index])
            x.base[index] = input.base[pair] &<< shift
            y.base[index] = input.base[pair + 1] &<< shift
        }
        var length = 1
        while length < Self.half {
            combine(length)
            length *= 4
        }
        separate()
    }

    /// Combines each four transforms of `length` pairs to one of four times the length.
    private func combine(_ length: Int) {
        let stride = Self.half / (4 * length)
        var start = 0
        while start < Self.half {
            for index in 0..<length {
                let (a, b) = (start + index, start + index + length)
                let (c, d) = (b + length, b + 2 * length)
                let turn = index * stride
                let (ax, ay) = (divided(x.base[a], 8191), divided(y.base[a], 8191))
                let (bx, by) = turned(b, by: turn)
                let (cx, cy) = turned(c, by: 2 * turn)
                let (dx, dy) = turned(d, by: 3 * turn)
                let (sumX, sumY) = (ax &+ cx, ay &+ cy)
                let (differenceX, differenceY) = (ax &- cx, ay &- cy)
                let (oddX, oddY) = (bx &+ dx, by &+ dy)
                let (turnedX, turnedY) = (bx &- dx, by &- dy)
                (x.base[a], y.base[a]) = (sumX &+ oddX, sumY &+ oddY)
                (x.base[c], y.base[c]) = (sumX &- oddX, sumY &- oddY)
                (x.base[b], y.base[b]) = (differenceX &+ turnedY, differenceY &- turnedX)
                (x.base[d], y.base[d]) = (differenceX &- turnedY, differenceY &+ turnedX)
            }
            start += 4 * length
        }
    }

    /// Makes the transform of the real samples of that of pairs.
    private func separate() {
        let (dcX, dcY) = (divided(x.base[0], 16383), divided(y.base[0], 16383))
        (real.base[0], imaginary.base[0]) = (dcX &+ dcY, 0)
        (real.base[Self.half], imaginary.base[Self.half]) = (dcX &- dcY, 0)
        for index in 1...Self.half / 2 {
            let other = Self.half - index
            let (px, py) = (divided(x.base[index], 16383), divided(y.base[index], 16383))
            let (qx, qy) = (divided(x.base[other], 16383), divided(0 &- y.base[other], 16383))
            let (sumX, sumY) = (Int32(px &+ qx), Int32(py &+ qy))
            let (turnedX, turnedY) = turned(
                (px &- qx, py &- qy),
                separatingCosines.base[index - 1],
                separatingSines.base[index - 1]
            )
            let (tx, ty) = (Int32(turnedX), Int32(turnedY))
            real.base[index] = Int16(truncatingIfNeeded: (sumX &+ tx) >> 1)
            imaginary.base[index] = Int16(truncatingIfNeeded: (sumY &+ ty) >> 1)
            real.base[other] = Int16(truncatingIfNeeded: (sumX &- tx) >> 1)
            imaginary.base[other] = Int16(truncatingIfNeeded: (ty &- sumY) >> 1)
        }
    }

    /// A pair divided by 4, then turned by its share of a circle.
    @inline(__always)
    private func turned(_ pair: Int, by turn: Int) -> (Int16, Int16) {
        turned((divided(x.base[pair], 8191), divided(y.base[pair], 8191)), cosines.base[turn], sines.base[turn])
    }

    @inline(__always)
    private func turned(_ pair: (Int16, Int16), _ cosine: Int16, _ sine: Int16) -> (Int16, Int16) {
        let (a, b, c, d) = (Int32(pair.0), Int32(pair.1), Int32(cosine), Int32(sine))
        return (rounded(a &* c &- b &* d), rounded(a &* d &+ b &* c))
    }

    @inline(__always)
    private func divided(_ value: Int16, _ factor: Int32) -> Int16 { rounded(Int32(value) &* factor) }

    @inline(__always)
    private func rounded(_ product: Int32) -> Int16 { Int16(truncatingIfNeeded: (product &+ 16384) >> 15) }
}
