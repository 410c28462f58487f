import Core
import KernelInterface
import Kernels

/// A linear-phase low-pass that resamples to 16 kHz by a ratio of small integers: one set of taps for each phase of the output.
///
/// Up to 7 kHz (0.9 of half the input rate, if that is less) it is flat to 1e-5, and from 8 kHz (half the input rate) on it stops
/// 100 dB. Output sample `n` is at `n / 16000` s of the input, and needs half the taps of input after that time: 3.4 ms, at 8 kHz 9 ms. Nothing
/// allocates after `init`.
struct PolyphaseFilter {
    private static let passEdge = 7_000.0
    private static let stopEdge = 8_000.0
    private static let attenuation = 100.0
    /// Bytes of taps, small enough for the L2 cache.
    static let largestBank = 1 << 20

    private let shape: PolyphaseShape
    private let bank: FilterBank
    private let filter = KernelSet.preferred.resample
    /// The delay line; `line[start..<end]` is still needed for the next output samples.
    private var line: [Float]
    private var start = 0
    private var end: Int
    /// The next output's phase.
    private var phase = 0

    /// - Parameters:
    ///   - inputRate: in Hz.
    ///   - largest: bytes of taps.
    /// - Returns: nil where the ratio of the rates has so many phases that it needs more taps.
    init?(from inputRate: Int, largest: Int = PolyphaseFilter.largestBank) {
        let divisor = greatestCommonDivisor(inputRate, AudioFormat.sampleRate)
        let rate = Double(inputRate)
        let pass = min(Self.passEdge, 0.9 * rate / 2)
        let stop = min(Self.stopEdge, rate / 2)
        shape = PolyphaseShape(
            phases: AudioFormat.sampleRate / divisor,
            step: inputRate / divisor,
            tapCount: PolyphaseShape.taps(transition: (stop - pass) / rate, attenuation: Self.attenuation)
        )
        guard shape.phases * shape.tapCount * MemoryLayout<Float>.stride <= largest else { return nil }
        let shape = shape
        bank = FilterBank.shared(of: inputRate) {
            shape.lowPass(cutOff: (pass + stop) / rate, attenuation: Self.attenuation)
        }
        line = [Float](repeating: 0, count: shape.tapCount + 4096)
        // The zeros before the first sample, up to the centre of the filter, compensate its delay.
        end = shape.centre
    }

    mutating func reset() {
        for index in line.indices { line[index] = 0 }
        (start, end, phase) = (0, shape.centre, 0)
    }

    /// Fills the delay line with the converter's output from `input`. Returns the number of `input` samples used.
    mutating func take(
        from converter: borrowing Converter,
        _ input: UnsafeBufferPointer<Float>
    ) throws(AudioError) -> Int {
        let kept = end - start
        let from = start
        let progress = try line.withUnsafeMutableBufferPointer { line throws(AudioError) in
            if from > 0, let base = line.baseAddress { base.update(from: base + from, count: kept) }
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
        let spare = end - start - shape.tapCount
        guard let target = output.baseAddress, spare >= 0 else { return 0 }
        // Output i begins at input (phase + i · step) / phases of the line.
        let made = min(output.count, ((spare + 1) * shape.phases - 1 - phase) / shape.step + 1)
        bank.taps.withUnsafeBufferPointer { taps in
            line.withUnsafeBufferPointer { line in
                guard let taps = taps.baseAddress, let line = line.baseAddress else { return }
                filter(line + start, target, made, phase, shape, taps)
            }
        }
        let (inputs, rest) = (phase + made * shape.step).quotientAndRemainder(dividingBy: shape.phases)
        start += inputs
        phase = rest
        return made
    }
}

private func greatestCommonDivisor(_ left: Int, _ right: Int) -> Int {
    var (left, right) = (left, right)
    while right != 0 { (left, right) = (right, left % right) }
    return left
}
