public import Inference
import Spotting

/// Makes the vectors of an utterance by which its word is known again.
public struct TakeEmbedder: ~Copyable {
    /// Where windows end, in seconds after the speech: a detector's hop may end anywhere there, so they are averaged.
    private static let ends = [0.05, 0.125, 0.2]
    /// Longest speech that one window holds whole, in seconds.
    static let oneWindow = 0.9
    /// How much of a long phrase the window before holds, in seconds.
    private static let firstPart = 0.8

    private let model: Model
    private var session: Session

    public init(_ model: Model) {
        self.model = model
        session = Session(model, embeds: true)
    }

    /// Hops from the anchor at a phrase's end back to the one before; 0 for a word, which has but one.
    ///
    /// - Parameter seconds: of the speech.
    public static func lag(seconds: Double, _ model: Model) -> Int {
        guard seconds > oneWindow else { return 0 }
        let hops = (seconds - firstPart) / HopScorer.hopSeconds(of: model)
        return min(max(2, Int(hops.rounded())), PersonalWord.longestReach - 2)
    }

    /// Unit vectors: one at the speech's end, and, where `lag` is not 0, one so many hops before.
    public mutating func anchors(of utterance: Utterance, lag: Int) -> [[Float]] {
        // What is said before belongs to no word: a quiet that is always the same stands in its place.
        let margin = min(utterance.speech.lowerBound, Int(0.1 * Double(model.sampleRate)))
        var quiet = QuietNoise(level: UtteranceCutter.floor(utterance.samples))
        let lead = model.windowSamples + lag * model.hopSamples
        let said = utterance.samples[(utterance.speech.lowerBound - margin)...]
        let audio = quiet.samples(lead) + said + quiet.samples(model.windowSamples)
        let end = lead + margin + utterance.speech.count
        return (lag > 0 ? [0, lag] : [0]).map { back in
            var sum = [Float](repeating: 0, count: model.embeddingCount)
            for seconds in Self.ends {
                let place = end + Int(seconds * Double(model.sampleRate)) - back * model.hopSamples
                session.scoreWhole(window: audio.span.extracting(place - model.windowSamples..<place))
                let part = unit(session.embedding)
                for index in sum.indices { sum[index] += part[index] }
            }
            return unit(sum)
        }
    }
}

/// A vector of length 1 in the same direction; zeros where there is none.
func unit(_ vector: [Float]) -> [Float] {
    let square = vector.reduce(0) { $0 + $1 * $1 }
    guard square > 0, square.isFinite else { return vector.map { _ in 0 } }
    let scale = 1 / square.squareRoot()
    return vector.map { $0 * scale }
}

func dot(_ left: [Float], _ right: [Float]) -> Float { zip(left, right).reduce(0) { $0 + $1.0 * $1.1 } }
