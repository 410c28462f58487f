import Glibc

/// A complex Fourier transform of a power of two, in place. Nothing allocates after `init`.
struct FourierTransform {
    let size: Int
    /// Cosines and sines of a half turn.
    private let cosines: [Float]
    private let sines: [Float]

    init(size: Int) {
        self.size = size
        let angles = (0..<size / 2).map { -2 * Double.pi * Double($0) / Double(size) }
        cosines = angles.map { Float(cos($0)) }
        sines = angles.map { Float(sin($0)) }
    }

    /// - Parameters:
    ///   - real: `size` real parts.
    ///   - imaginary: `size` imaginary parts. With the two exchanged, it is the inverse transform, times `size`.
    func transform(_ real: inout [Float], _ imaginary: inout [Float]) {
        reorder(&real, &imaginary)
        var half = 1
        while half < size {
            let step = size / (2 * half)
            for start in stride(from: 0, to: size, by: 2 * half) {
                for index in 0..<half {
                    let (upper, lower) = (start + index, start + index + half)
                    let (cosine, sine) = (cosines[index * step], sines[index * step])
                    let re = real[lower] * cosine - imaginary[lower] * sine
                    let im = real[lower] * sine + imaginary[lower] * cosine
                    (real[lower], imaginary[lower]) = (real[upper] - re, imaginary[upper] - im)
                    (real[upper], imaginary[upper]) = (real[upper] + re, imaginary[upper] + im)
                }
            }
            half *= 2
        }
    }

    /// Exchanges each value with the one whose place has the bits in the reverse order.
    private func reorder(_ real: inout [Float], _ imaginary: inout [Float]) {
        var reversed = 0
        for index in 0..<size {
            if index < reversed {
                real.swapAt(index, reversed)
                imaginary.swapAt(index, reversed)
            }
            var bit = size >> 1
            while bit > 0, reversed & bit != 0 {
                reversed ^= bit
                bit >>= 1
            }
            reversed |= bit
        }
    }
}
