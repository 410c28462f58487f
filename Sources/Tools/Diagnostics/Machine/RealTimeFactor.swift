private import Audio
private import Core
private import Glibc
public import Inference
private import Spotting
private import System

/// Time that the network takes for a hop, compared with the hop's 100 ms.
public struct RealTimeFactor: Sendable {
    /// Length of a hop, in milliseconds.
    private static let hop = 100.0
    /// Number of hops measured.
    private static let count = 30

    /// Median time of a hop, in milliseconds.
    public let milliseconds: Double

    public init(milliseconds: Double) { self.milliseconds = milliseconds }

    /// Measures a model for half a second. A pause before each hop lets other programs use the caches, as in service.
    public init(measuring model: Model) {
        var scorer = HopScorer(Vocabulary(model))
        let window = [Float](repeating: 0, count: AudioFormat.windowSamples)
        var times: [Double] = []
        for _ in 0..<RealTimeFactor.count {
            usleep(10_000)
            let start = Clock.now
            scorer.score(window: window.span)
            times.append((Clock.now - start).milliseconds)
        }
        milliseconds = times.sorted()[times.count / 2]
    }

    public var diagnosis: Diagnosis {
        let share = "a hop takes \(decimal(milliseconds, milliseconds < 10 ? 2 : 0)) ms of 100 ms"
        return switch milliseconds / RealTimeFactor.hop {
        case ..<0.2: Diagnosis(.ok, "processor", share)
        case ..<0.5:
            Diagnosis(
                .warning,
                "processor",
                "\(share), which leaves little time for other programs",
                "reserve a processor for beckon"
            )
        default:
            Diagnosis(
                .error,
                "processor",
                "\(share): words will be late or missed",
                "use a smaller model or a faster machine; look at what else runs (top)"
            )
        }
    }
}
