public import Inference

/// What a detector can tell apart: a model's words and those that the user taught it.
public final class Vocabulary: Sendable {
    public let model: Model
    public let personal: [PersonalWord]
    /// What is reported, in order: the model's words, the user's own, then `_unknown_` and `_silence_`, which never fire.
    public let labels: [String]
    /// Confidence above which a label may fire, by label; those of the last two mean nothing.
    public let thresholds: [Float]
    let joiner: PosteriorFusion
    /// For each label, how much longer than a word it may be, in seconds: a phrase of the user's is.
    let longer: [Double]

    public init(_ model: Model, personal: [PersonalWord] = []) {
        self.model = model
        self.personal = personal
        let words = Array(model.labels.dropLast(2))
        var labels = words
        var thresholds = Array(model.thresholds.prefix(words.count))
        let places = personal.map { word in
            if let place = labels.firstIndex(of: word.name) { return place }
            labels.append(word.name)
            thresholds.append(word.threshold)
            return labels.count - 1
        }
        self.labels = labels + model.labels.suffix(2)
        joiner = PosteriorFusion(posteriors: model.labels.count, labels: labels.count + 2, places: places)
        self.thresholds = thresholds + model.thresholds.suffix(2)
        var longer = [Double](repeating: 0, count: self.labels.count)
        for (word, place) in zip(personal, places) {
            let reach = Double((word.anchors.count - 1) * word.lag) * HopScorer.hopSeconds(of: model)
            longer[place] = max(longer[place], reach)
        }
        self.longer = longer
    }

    /// Index of `_silence_` among the labels.
    public var silenceIndex: Int { labels.count - 1 }

    /// The model's posteriors and the probabilities of the user's own words, joined: one a label.
    public func joined(_ posteriors: [Float], _ probabilities: [Float]) -> [Float] {
        var joined = [Float](repeating: 0, count: labels.count)
        joiner.join(posteriors, probabilities, into: &joined)
        return joined
    }
}

/// Joins what the model says of its labels with what is said of the user's own words.
public struct PosteriorFusion: Sendable, Equatable {
    /// Posteriors of the model, the last two of which stand for no word.
    let posteriors: Int
    /// Labels of all, in the order of ``Vocabulary/labels``.
    let labels: Int
    /// Label of each of the user's own words; those that have the name of one of the model's words share its label.
    let places: [Int]

    /// Joins the model's posteriors with the probabilities of the user's own words.
    ///
    /// Each of these has its probability, of which those that are likely at the same time share the highest, nearly all of it
    /// going to the likeliest. It is taken off what the model calls unknown or silence; the model's words lose only from
    /// where one of the user's is likelier than not. One of the model's words that was taught in a voice takes of unknown
    /// and silence alone, so that teaching one never costs another. The sum may so be above one.
    ///
    /// - Parameters:
    ///   - posteriors: one a label of the model.
    ///   - probabilities: one of each of `personal`.
    ///   - joined: gets one a label.
    func join(_ posteriors: [Float], _ probabilities: [Float], into joined: inout [Float]) {
        let words = self.posteriors - 2
        var (most, total): (Float, Float) = (0, 0)
        for index in probabilities.indices where probabilities[index] > 0 && places[index] >= words {
            most = max(most, probabilities[index])
            total += Self.sharpOdds(probabilities[index])
        }
        let (unknown, silence) = (labels - 2, labels - 1)
        let kept = min(1, 2 - 2 * most)
        for index in joined.indices { joined[index] = 0 }
        for index in 0..<words { joined[index] = posteriors[index] * kept }
        // A threshold may be as low as the user likes it: what is like one of the words is unknown no more long before.
        var doubt = 1 - most
        for _ in 0..<3 { doubt *= doubt }
        joined[unknown] = posteriors[words] * doubt
        joined[silence] = posteriors[words + 1] * (1 - most)
        for index in probabilities.indices where probabilities[index] > 0 {
            let place = places[index]
            let odds = Self.sharpOdds(probabilities[index])
            if place >= words {
                joined[place] += total > 0 ? most * odds / total : 0
            } else {
                joined[place] += (joined[unknown] + joined[silence]) * odds / (1 + odds)
                joined[unknown] /= 1 + odds
                joined[silence] /= 1 + odds
            }
        }
    }

    /// Odds, but of a likeness that counts two and a half times.
    private static func sharpOdds(_ probability: Float) -> Float {
        let odds = probability / max(1 - probability, 1e-6)
        return odds * odds * odds.squareRoot()
    }
}
