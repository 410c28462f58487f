public import Inference

/// What a detector can tell apart: a model's words and those that the user taught it.
public final class Vocabulary: Sendable {
    public let model: Model
    public let personal: [PersonalWord]
    /// What is reported, in order: the model's words, the user's own, then `_unknown_` and `_silence_`, which never fire.
    public let labels: [String]
    /// Confidence above which a label may fire, by label; those of the last two mean nothing.
    public let thresholds: [Float]
    /// Label of each of `personal`; those that have the name of one of the model's words share its label.
    let places: [Int]

    public init(_ model: Model, personal: [PersonalWord] = []) {
        self.model = model
        self.personal = personal
        let words = Array(model.labels.dropLast(2))
        var labels = words
        var thresholds = Array(model.thresholds.prefix(words.count))
        places = personal.map { word in
            if let place = labels.firstIndex(of: word.name) { return place }
            labels.append(word.name)
            thresholds.append(word.threshold)
            return labels.count - 1
        }
        self.labels = labels + model.labels.suffix(2)
        self.thresholds = thresholds + model.thresholds.suffix(2)
    }

    /// Index of `_silence_` among the labels.
    public var silenceIndex: Int { labels.count - 1 }

    /// Joins the model's posteriors with the probabilities of the user's own words.
    ///
    /// The likelier one of these is, the less is left for what the model says: if it is surely one of them, it is nothing
    /// else, and among each other they share by their probabilities.
    ///
    /// - Parameters:
    ///   - posteriors: one a label of the model.
    ///   - probabilities: one of each of `personal`.
    ///   - joined: gets one a label; its sum is that of the posteriors.
    func join(_ posteriors: [Float], _ probabilities: [Float], into joined: inout [Float]) {
        var (most, total): (Float, Float) = (0, 0)
        for index in probabilities.indices {
            most = max(most, probabilities[index])
            total += probabilities[index]
        }
        let words = model.labels.count - 2
        for index in joined.indices { joined[index] = 0 }
        for index in 0..<words { joined[index] = posteriors[index] * (1 - most) }
        for index in 0..<2 { joined[joined.count - 2 + index] = posteriors[words + index] * (1 - most) }
        guard total > 0 else { return }
        for index in probabilities.indices { joined[places[index]] += most * probabilities[index] / total }
    }
}
