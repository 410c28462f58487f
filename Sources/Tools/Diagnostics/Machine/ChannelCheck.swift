public import Audio
public import Capture
private import Core

/// Checks that each channel of a device carries sound: a dead or faint channel degrades the mix.
public struct ChannelCheck: Sendable {
    /// Length of the recording, in seconds.
    public static let seconds = 2
    /// A channel this many dB below the loudest one counts as faint.
    private static let gap = 20.0

    private let levels: [Double]
    /// The defects of channels, by their numbers.
    private let faults: [Int: String]
    private let mix: ChannelMix
    /// Whether the channels that are mixed cancel each other.
    public let isCancelling: Bool

    /// - Parameters:
    ///   - capture: recording of all channels.
    ///   - mix: which of them are mixed into the detector's input.
    public init(_ capture: RawCapture, mix: ChannelMix) {
        self.mix = mix
        let levels = capture.channels.map { Levels($0, sampleRate: capture.rate).overall }
        let loudest = levels.max() ?? Levels.least
        var faults: [Int: String] = [:]
        for (number, samples) in capture.channels.enumerated() where !samples.isEmpty {
            let mean = Double(samples.reduce(0, +)) / Double(samples.count)
            if levels[number] <= Levels.least {
                faults[number] = "is dead: every sample is the same"
            } else if abs(mean) >= 0.01 {
                faults[number] = "has a DC offset of \(decimal(Double(abs(mean)) * 100, 0)) % of full scale"
            } else if levels[number] < loudest - Self.gap {
                faults[number] = "is \(decimal(loudest - levels[number], 0)) dB fainter than the loudest"
            }
        }
        isCancelling = Self.cancels(capture, mix)
        self.levels = levels
        self.faults = faults
    }

    private static func cancels(_ capture: RawCapture, _ mix: ChannelMix) -> Bool {
        let (count, frames) = (capture.channels.count, capture.channels.map(\.count).min() ?? 0)
        guard count > 1 else { return false }
        var interleaved = [Float](repeating: 0, count: count * frames)
        for channel in 0..<count {
            // Without the offset, which is a fault of its own.
            let mean = capture.channels[channel].prefix(frames).reduce(0, +) / Float(max(1, frames))
            for frame in 0..<frames { interleaved[frame * count + channel] = capture.channels[channel][frame] - mean }
        }
        var mono = [Float](repeating: 0, count: frames)
        var room = mono.mutableSpan
        mix.mix(interleaved.span, channels: count, into: &room)
        var cancellation = ChannelCancellation()
        cancellation.add(interleaved.span, channels: count, mixed: mono.span, mix)
        return cancellation.result ?? false
    }

    /// One diagnosis where all channels are good, else one per faulty channel; empty for one channel or no good one.
    public var diagnoses: [Diagnosis] {
        let good = levels.indices.filter { faults[$0] == nil }
        guard levels.count > 1, let first = good.first else { return [] }
        if isCancelling {
            return [
                Diagnosis(
                    .error,
                    "channels",
                    "the channels cancel each other when they are mixed, as if one were wired the wrong way round; each alone "
                        + "has sound",
                    "set channel: \(first) in the configuration, or try --channel \(first) with beckon listen"
                )
            ]
        }
        guard !faults.isEmpty else {
            let each = levels.map { decimal($0, 0) }.joined(separator: ", ")
            return [Diagnosis(.ok, "channels", "all \(levels.count) have sound, at \(each) dBFS")]
        }
        let isHopeless = !good.contains(where: mix.contains)
        let choice = good.count == 1 ? "\(first)" : "[\(good.map(String.init).joined(separator: ", "))]"
        let option = good.map(String.init).joined(separator: ",")
        return faults.sorted { $0.key < $1.key }.map { number, fault in
            let text = "channel \(number) \(fault)"
            guard mix.contains(number) else { return Diagnosis(.ok, "channels", text + "; it is not used") }
            return Diagnosis(
                isHopeless ? .error : .warning,
                "channels",
                text + (isHopeless ? "" : ", and is mixed with the good channels"),
                "set channel: \(choice) in the configuration, or try --channel \(option) with beckon listen"
            )
        }
    }
}
