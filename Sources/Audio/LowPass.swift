import Core
import Glibc
import KernelInterface
import Kernels

/// A linear-phase low-pass that decimates a multiple of 16 kHz to 16 kHz.
///
/// It passes 0–7 kHz and stops everything from 8 kHz on: a sinc with cut-off 7.5 kHz and a Kaiser window designed for
/// 100 dB (J. F. Kaiser, "Nonrecursive digital filter design using the I0-sinh window function", 1974). With this
/// window, passband ripple and stopband level are equal, both near 1e-5. The delay is compensated: output sample `n` is
/// at the time of input sample `n · factor`. Nothing allocates after `init`.
struct LowPass {
    static let passEdge = 7_000.0
    static let stopEdge = 8_000.0
    private static let attenuation = 100.0

    /// Input samples per output sample.
    private let factor: Int
    private let taps: [Float]
    private let filter = KernelSet.preferred.decimate
    /// Zeros before the first sample: half the filter's length, which compensates its delay.
    private let lead: Int
    /// The delay line; `line[start..<end]` is still needed for the next output samples.
    private var line: [Float]
    private var start = 0
    private var end: Int

    /// - Parameter inputRate: in Hz; a multiple of 16 kHz, at least 32 kHz.
    init(from inputRate: Int) {
        factor = inputRate / AudioFormat.sampleRate
        let taps = LowPass.makeTaps(inputRate)
        self.taps = taps
        lead = (taps.count - 1) / 2
        line = [Float](repeating: 0, count: taps.count + 4096)
        end = lead
    }

    mutating func reset() {
        for index in line.indices { line[index] = 0 }
        start = 0
        end = lead
    }

    /// Fills the delay line with the converter's output from `input`. Returns the number of `input` samples used.
    mutating func take(
        from converter: borrowing Converter,
        _ input: UnsafeBufferPointer<Float>
    ) throws(AudioError) -> Int {
        let kept = end - start
        let from = start
        let progress = try line.withUnsafeMutableBufferPointer { line throws(AudioError) in
            if from > 0 {
                for index in 0..<kept { line[index] = line[from + index] }
            }
            return try converter.run(input, UnsafeMutableBufferPointer(rebasing: line[kept...]))
        }
        start = 0
        end = kept + progress.produced
        return progress.consumed
    }

    /// Filters samples of the delay line into `output`. Returns the number of 16 kHz samples written.
    ///
    /// Bit-identical for every division of the input into parts: the kernel always sums in the same order.
    mutating func drain(into output: UnsafeMutableBufferPointer<Float>) -> Int {
        guard let target = output.baseAddress, end - start >= taps.count else { return 0 }
        let made = min(output.count, (end - start - taps.count) / factor + 1)
        taps.withUnsafeBufferPointer { taps in
            line.withUnsafeBufferPointer { line in
                guard let taps = taps.baseAddress, let line = line.baseAddress else { return }
                filter(line + start, target, made, factor, taps, self.taps.count)
            }
        }
        start += made * factor
        return made
    }

    /// An odd number of symmetric taps with sum 1, and a zero after them, so that they fill whole vectors.
    private static func makeTaps(_ inputRate: Int) -> [Float] {
        let width = 2 * Double.pi * (stopEdge - passEdge) / Double(inputRate)
        let needed = Int(((attenuation - 7.95) / (2.285 * width)).rounded(.up))
        // 16 k + 15 taps: an odd number, and with the zero a multiple of 16.
        let count = (needed + 16) / 16 * 16 - 1
        let half = (count - 1) / 2
        let beta = 0.1102 * (attenuation - 8.7)
        let cutOff = (passEdge + stopEdge) / Double(inputRate)
        var taps: [Double] = []
        for index in 0..<count {
            let offset = Double(index - half)
            let angle = Double.pi * cutOff * offset
            let sinc = index == half ? 1 : sin(angle) / angle
            let place = offset / Double(half)
            taps.append(sinc * bessel(beta * (1 - place * place).squareRoot()))
        }
        let sum = taps.reduce(0, +)
        return taps.map { Float($0 / sum) } + [0]
    }

    /// The modified Bessel function I0, by its power series.
    private static func bessel(_ x: Double) -> Double {
        var sum = 1.0
        var term = 1.0
        for step in 1...60 {
            let factor = x / (2 * Double(step))
            term *= factor * factor
            sum += term
        }
        return sum
    }
}
