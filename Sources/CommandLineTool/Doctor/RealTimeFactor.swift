private import Audio
private import Capture
private import Core
private import Glibc
import Inference
private import Spotting
import System

/// How long the network takes for a hop, against the time that there is for it.
struct RealTimeFactor {
    /// What a hop lasts, in milliseconds.
    static let hop = 100.0
    /// Hops that are measured.
    private static let count = 30

    /// Of the middle one, in milliseconds.
    let milliseconds: Double

    init(milliseconds: Double) { self.milliseconds = milliseconds }

    /// Lets a model hear some hops, each after a pause, as it will live: others have used the caches then.
    init(_ model: Model) {
        var scorer = HopScorer(model: model)
        let window = [Float](repeating: 0, count: BlockRing.windowLength)
        var times: [Double] = []
        for _ in 0..<RealTimeFactor.count {
            usleep(10_000)
            let start = Clock.now
            scorer.score(window: window.span)
            times.append(Double(Clock.now - start) / 1e6)
        }
        milliseconds = times.sorted()[times.count / 2]
    }

    var diagnosis: Diagnosis {
        let share = "a hop takes \(decimal(milliseconds, milliseconds < 10 ? 2 : 0)) ms of 100 ms"
        return switch milliseconds / RealTimeFactor.hop {
        case ..<0.2: Diagnosis(.ok, "processor", share)
        case ..<0.5:
            Diagnosis(
                .warning,
                "processor",
                "\(share), which leaves little for others",
                "give it a processor of its own"
            )
        default:
            Diagnosis(
                .error,
                "processor",
                "\(share): words will come late or be missed",
                "use a smaller model or a faster machine; look at what else runs (top)"
            )
        }
    }
}
