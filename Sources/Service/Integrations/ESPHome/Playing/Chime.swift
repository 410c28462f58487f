import Core
import Glibc

/// Short sounds that the satellite makes where the configuration names no file. A pure value.
enum Chime: Equatable, Sendable {
    /// The pipeline failed.
    case failure
    /// No Home Assistant is connected.
    case lost
    /// A timer rings; it is repeated.
    case timer

    /// Samples per second.
    static let rate = AudioFormat.sampleRate

    /// Tones in hertz, each with its seconds; 0 is silence.
    private var tones: [(pitch: Float, seconds: Float)] {
        switch self {
        case .failure: [(440, 0.12), (330, 0.2)]
        case .lost: [(330, 0.12), (0, 0.06), (330, 0.12), (0, 0.06), (247, 0.25)]
        case .timer: [(880, 0.12), (0, 0.08), (880, 0.12), (0, 0.08), (1109, 0.2), (0, 0.9)]
        }
    }

    /// Samples from −1 to 1 at ``rate``; each tone swells and fades, so that none clicks.
    var samples: [Float] {
        tones.flatMap { pitch, seconds in
            let count = Int(seconds * Float(Self.rate))
            return (0..<count).map { index in
                let edge = Float(min(index, count - 1 - index)) / (0.01 * Float(Self.rate))
                return 0.4 * min(1, edge) * sin(2 * .pi * pitch * Float(index) / Float(Self.rate))
            }
        }
    }
}
