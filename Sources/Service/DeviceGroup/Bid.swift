private import Core
public import Events

/// How near a device seems to be to a speaker whose word it heard: what the devices of a group compare.
///
/// A total order, so that all devices that know the same bids agree on the highest one: by the signal-to-noise ratio in whole decibels,
/// which depends on the microphone's gain least; then by the level; then by the confidence; then by the name.
public struct Bid: Comparable, Hashable, Sendable {
    /// dB; nil if it is not known, which is lower than all that are.
    public let signalToNoise: Double?
    /// dB below full scale; nil likewise.
    public let level: Double?
    /// 0…1.
    public let confidence: Double
    public let device: String

    /// Rounds to what a message has, so that a device compares its own bid as others do.
    public init(signalToNoise: Double?, level: Double?, confidence: Double, device: String) {
        self.signalToNoise = signalToNoise.map { ($0 * 10).rounded() / 10 }
        self.level = level.map { ($0 * 10).rounded() / 10 }
        self.confidence = (confidence * 1e4).rounded() / 1e4
        self.device = device
    }

    public init(_ event: DetectionEvent, device: String) {
        self.init(
            signalToNoise: event.sound?.signalToNoise,
            level: event.sound?.level,
            confidence: Double(event.confidence),
            device: device
        )
    }

    private var key: (Double, Double, Double) {
        (signalToNoise?.rounded() ?? -.infinity, level ?? -.infinity, confidence)
    }

    public static func < (left: Bid, right: Bid) -> Bool {
        left.key == right.key ? left.device > right.device : left.key < right.key
    }

    /// For the log: `SNR 12.3 dB`, or what else is known.
    public var text: String {
        if let signalToNoise { return "SNR \(decimal(signalToNoise, 1)) dB" }
        return level.map { "\(decimal($0, 1)) dB" } ?? "no level"
    }
}
