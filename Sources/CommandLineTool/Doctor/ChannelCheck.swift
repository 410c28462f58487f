import Audio
import Capture
private import Core
private import Inspection

/// Whether each channel of a device gives sound: of a microphone with two, one that is dead spoils what both give mixed.
struct ChannelCheck {
    /// How long they are listened to.
    static let seconds = 2
    /// A channel so much fainter than the loudest, in decibels, is none that hears the room.
    private static let gap = 20.0

    /// What is wrong with a channel.
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

    /// - Parameter mix: what is listened to.
    init(_ excerpt: RawCapture, mix: ChannelMix) {
        self.mix = mix
        let levels = excerpt.channels.map { Levels($0, sampleRate: excerpt.rate).overall }
        let loudest = levels.max() ?? Levels.least
        var faults: [Int: Fault] = [:]
        for (number, samples) in excerpt.channels.enumerated() where !samples.isEmpty {
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

    /// One line for all that are well, or one for each that is not; nothing where there is but one channel, or no sound.
    var diagnoses: [Diagnosis] {
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
