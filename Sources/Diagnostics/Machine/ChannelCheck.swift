public import Audio
public import Capture
private import Core

/// Whether each channel of a device gives sound: a dead channel spoils the mix of both.
public struct ChannelCheck: Sendable {
    /// Seconds that are recorded.
    public static let seconds = 2
    /// Decibels below the loudest channel from which a channel does not hear the room.
    private static let gap = 20.0

    /// A defect of a channel.
    private enum Fault {
        case silent
        case faint(decibels: Double)
        case offset(share: Double)

        var text: String {
            switch self {
            case .silent: "is dead: every sample is the same"
            case .faint(let decibels): "is \(decimal(decibels, 0)) dB fainter than the loudest"
            case .offset(let share): "is off centre by \(decimal(share * 100, 0)) % of full scale (DC offset)"
            }
        }
    }

    private let levels: [Double]
    private let faults: [Int: Fault]
    private let mix: ChannelMix

    /// - Parameter mix: how the channels become one.
    public init(_ capture: RawCapture, mix: ChannelMix) {
        self.mix = mix
        let levels = capture.channels.map { Levels($0, sampleRate: capture.rate).overall }
        let loudest = levels.max() ?? Levels.least
        var faults: [Int: Fault] = [:]
        for (number, samples) in capture.channels.enumerated() where !samples.isEmpty {
            let mean = Double(samples.reduce(0, +)) / Double(samples.count)
            if levels[number] <= Levels.least {
                faults[number] = .silent
            } else if abs(mean) >= 0.01 {
                faults[number] = .offset(share: abs(mean))
            } else if levels[number] < loudest - Self.gap {
                faults[number] = .faint(decibels: loudest - levels[number])
            }
        }
        self.levels = levels
        self.faults = faults
    }

    /// One line where all channels are good, else one for each that is not; nothing where there is one channel, or no sound.
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
            guard mix.contains(number) else { return Diagnosis(.ok, "channels", text + "; it is not listened to") }
            return Diagnosis(
                isHopeless ? .error : .warning,
                "channels",
                text + (isHopeless ? "" : ", and is mixed with what is good"),
                "set channel: \(choice) in the configuration, or try --channel \(option) with beckon listen"
            )
        }
    }
}
