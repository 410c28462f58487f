private import Glibc

/// Numbers that the front end's stages look up, computed in the precision that its results depend on.
enum FrontEndTables {
    /// A weight of the window is a multiple of 2 to the power of minus this.
    static let windowBits: Int32 = 12
    /// Fraction bits of the noise above those of the signal.
    static let smoothingBits: UInt32 = 10
    /// Fraction bits of the shares by which noise is learnt.
    static let noiseBits: UInt64 = 14
    /// ln 2 · 65536.
    static let naturalOfBase2: UInt64 = 45426

    /// Hann window, `[480]`.
    static let window: [Int16] = {
        // The nearest number to π: `Float.pi` is rounded down.
        let step = Float(Double.pi) * 2 / Float(MicroFrontEnd.windowSamples)
        return (0..<MicroFrontEnd.windowSamples).map { index in
            let value = 0.5 - 0.5 * cosf(step * (Float(index) + 0.5))
            return Int16(floorf(value * 4096 + 0.5))
        }
    }()

    /// 65536 · (log2(1 + i / 128) − i / 128) for i from 0 to 128, then 0.
    static let logarithms: [Int32] =
        (0...128).map { index in
            let fraction = Double(index) / 128
            return Int32(((log2(1 + fraction) - fraction) * 65536).rounded())
        } + [0]

    /// Gains by the noise: those of noise 0 and 1, then for each octave of the noise a value and the coefficients of a parabola.
    static let gains: [Int32] = {
        var table = [gain(0), gain(1)]
        for octave in 1..<32 {
            let start = UInt32(1) << UInt32(octave)
            let middle = start + start / 2
            let end = octave == 31 ? UInt32.max : 2 * start
            let (low, half, high) = (gain(start), gain(middle), gain(end))
            let slope = 4 * (half - low) - (high - low)
            // Kept in 16 bits each.
            let curve = Int32(Int16(truncatingIfNeeded: high - low - slope))
            table += [low, Int32(Int16(truncatingIfNeeded: slope)), curve]
        }
        return table
    }()

    /// 2²¹ · (noise / 128 + 80)^−0.95.
    private static func gain(_ noise: UInt32) -> Int32 {
        let value = 2_097_152 * powf(Float(noise) / 128 + 80, -0.95)
        return value > 32767 ? 32767 : Int32(value + 0.5)
    }

    /// Looks up a gain.
    static func gain(of noise: UInt32, table: UnsafePointer<Int32>) -> Int16 {
        guard noise >= 2 else { return Int16(truncatingIfNeeded: table[Int(noise)]) }
        let octave = 31 - noise.leadingZeroBitCount
        let row = table + (3 * octave - 1)
        let position = octave < 10 ? noise &<< UInt32(10 - octave) : noise &>> UInt32(octave - 10)
        let fraction = Int32(bitPattern: position & 1023)
        var result = (row[2] &* fraction) >> 5
        result = result &+ (row[1] &<< 5)
        result = (result &* fraction &+ 16384) >> 15
        return Int16(truncatingIfNeeded: result &+ row[0])
    }
}
