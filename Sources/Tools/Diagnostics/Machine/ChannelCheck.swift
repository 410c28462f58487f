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
    /// The defects of channels, and what they are in the mix, by their numbers.
    private let faults: [Int: (text: String, effect: String)]
    private let mix: ChannelMix

    /// - Parameters:
    ///   - capture: recording of all channels.
    ///   - mix: which of them are mixed into the detector's input.
    public init(_ capture: RawCapture, mix: ChannelMix) {
        self.mix = mix
        let levels = capture.channels.map { Levels($0, sampleRate: capture.rate).overall }
        let loudest = levels.max() ?? Levels.least
        var faults: [Int: (String, String)] = [:]
        let (isMixed, isLeftOut) = ("is mixed with the good channels", "is left out of the mix")
        for (number, samples) in capture.channels.enumerated() where !samples.isEmpty {
            let mean = Double(samples.reduce(0, +)) / Double(samples.count)
            if levels[number] <= Levels.least {
                faults[number] = ("is dead: every sample is the same", isLeftOut)
            } else if abs(mean) >= 0.01 {
                faults[number] = ("has a DC offset of \(decimal(Double(abs(mean)) * 100, 0)) % of full scale", isMixed)
            } else if case let gap = loudest - levels[number], gap > Self.gap {
                let effect = gap > ChannelMixer.deadDecibels ? isLeftOut : isMixed
                faults[number] = ("is \(decimal(gap, 0)) dB fainter than the loudest", effect)
            }
        }
        for number in Self.turned(capture, mix) where faults[number] == nil {
            faults[number] = ("is the opposite of the others, as if wired the wrong way round", "is turned in the mix")
        }
        self.levels = levels
        self.faults = faults
    }

    private static func turned(_ capture: RawCapture, _ mix: ChannelMix) -> [Int] {
        let (count, frames) = (capture.channels.count, capture.channels.map(\.count).min() ?? 0)
        var interleaved = [Float](repeating: 0, count: count * frames)
        for channel in 0..<count {
            for frame in 0..<frames { interleaved[frame * count + channel] = capture.channels[channel][frame] }
        }
        var mono = [Float](repeating: 0, count: frames)
        var room = mono.mutableSpan
        var mixer = ChannelMixer(mix, channels: max(1, count))
        mixer.mix(interleaved.span, into: &room)
        return mixer.faults.turned
    }

    /// One diagnosis where all channels are good, else one per faulty channel; empty for one channel or no good one.
    public var diagnoses: [Diagnosis] {
        let good = levels.indices.filter { faults[$0] == nil }
        guard levels.count > 1, let first = good.first else { return [] }
        guard !faults.isEmpty else {
            let each = levels.map { decimal($0, 0) }.joined(separator: ", ")
            return [Diagnosis(.ok, "channels", "all \(levels.count) have sound, at \(each) dBFS")]
        }
        let isHopeless = !good.contains(where: mix.contains)
        let choice = good.count == 1 ? "\(first)" : "[\(good.map(String.init).joined(separator: ", "))]"
        let option = good.map(String.init).joined(separator: ",")
        return faults.sorted { $0.key < $1.key }.map { number, fault in
            let text = "channel \(number) \(fault.text)"
            guard mix.contains(number) else { return Diagnosis(.ok, "channels", text + "; it is not used") }
            return Diagnosis(
                isHopeless ? .error : .warning,
                "channels",
                text + (isHopeless ? "" : ", and \(fault.effect)"),
                "set channel: \(choice) in the configuration, or try --channel \(option) with beckon listen"
            )
        }
    }
}
