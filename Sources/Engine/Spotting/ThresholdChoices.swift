public import Core
private import Inference

/// What decides a word's threshold: a confidence, or a sensitivity by name.
public enum ThresholdChoice: Equatable, Sendable, CustomStringConvertible {
    /// Between 0 and 1, both excluded.
    case confidence(Float)
    case sensitivity(Sensitivity)

    /// The threshold, else the sensitivity; nil without both.
    public init?(_ threshold: Float?, else sensitivity: Sensitivity?) {
        guard let choice = threshold.map(Self.confidence) ?? sensitivity.map(Self.sensitivity) else { return nil }
        self = choice
    }

    /// Nil for a sensitivity.
    public var confidence: Float? { if case .confidence(let threshold) = self { threshold } else { nil } }
    /// Nil for a confidence.
    public var sensitivity: Sensitivity? { if case .sensitivity(let named) = self { named } else { nil } }

    /// As a user writes it: `0.7` or `strict`.
    public var description: String {
        switch self {
        case .confidence(let threshold): "\(threshold)"
        case .sensitivity(let sensitivity): sensitivity.rawValue
        }
    }
}

/// What a user chose for the thresholds of all words and of single ones.
public struct ThresholdChoices: Equatable, Sendable {
    /// For words without a choice of their own.
    public var all = ThresholdChoice.sensitivity(.balanced)
    /// By word.
    public var words: [String: ThresholdChoice] = [:]
    /// Words that never fire.
    public var disabled: Set<String> = []
    /// The only words that may fire, however they are written; nil for all that are not disabled.
    public var only: [String]?
    /// Whether only wake words with models of their own may fire.
    public var onlyWakeWords = false

    public init() {}

    /// Whether a word never fires.
    public func disables(_ word: String) -> Bool {
        if disabled.contains(word) { return true }
        guard let only else { return false }
        let folded = WordName.folded(word)
        return !only.contains { WordName.folded($0) == folded }
    }

    /// The thresholds for a vocabulary.
    ///
    /// A taught word without an estimate for the sensitivity of all words keeps its own threshold, and a wake word that of its manifest, so
    /// that they do not prevent the others from using that sensitivity.
    ///
    /// - Throws: ``SpottingError/unknownWord(_:known:)``; ``SpottingError/noThresholds`` if the model, or a word whose own
    ///   choice it is, has no thresholds for a sensitivity.
    public func thresholds(of vocabulary: Vocabulary, mode: DetectionMode) throws(SpottingError) -> Thresholds {
        let known = Labels(vocabulary.labels).words
        for word in disabled.union(words.keys).sorted() where !known.contains(word) {
            throw .unknownWord(word, known: known)
        }
        for word in only ?? [] where WordName.match(word, in: known) == nil {
            let hint = nearestName(to: word, of: known).map { "did you mean '\($0)'? It" } ?? "it"
            throw .unknownWord(word, known: known).saying(
                "the model does not know the word '\(word)'; \(hint) knows \(known.joined(separator: ", "))"
            )
        }
        var values: [Float?] = []
        var alone = [Float?](repeating: nil, count: vocabulary.labels.count)
        for (label, name) in vocabulary.labels.enumerated() {
            let isLeftOut = onlyWakeWords && !vocabulary.risingLabels.contains(label)
            if Labels.isSpecial(name) || disables(name) || isLeftOut {
                values.append(nil)
                continue
            }
            switch words[name] ?? all {
            case .confidence(let threshold): values.append(threshold)
            case .sensitivity(let sensitivity):
                let isOwnChoice = words[name] != nil
                let owner = isOwnChoice ? nil : vocabulary.owner(of: label)
                let fallback = owner.map { $0.kind.threshold(of: $0.word) }
                guard let threshold = vocabulary.threshold(label: label, sensitivity, mode) ?? fallback else {
                    throw vocabulary.noThresholds(label: label, sensitivity, mode)
                }
                values.append(threshold)
                alone[label] = vocabulary.aloneThreshold(label: label, sensitivity)
            }
        }
        return Thresholds(labels: vocabulary.labels, values: values, alone: alone)
    }
}

extension Vocabulary {
    /// The thresholds of the sensitivity `balanced`, which every model and every taught word has.
    public func thresholds(mode: DetectionMode) -> Thresholds {
        Thresholds(
            labels: labels,
            values: labels.indices.map {
                Labels.isSpecial(labels[$0]) ? nil : threshold(label: $0, .balanced, mode)
            },
            alone: labels.indices.map { aloneThreshold(label: $0, .balanced) }
        )
    }

    /// The threshold of a word beside the model's where it is said alone: that of mode `command`, also in mode `spot`; nil for others.
    fileprivate func aloneThreshold(label: Int, _ sensitivity: Sensitivity) -> Float? {
        guard let (kind, word) = owner(of: label), kind.rule == .gate else { return nil }
        return kind.threshold(of: word, sensitivity, .command)
    }

    /// The threshold of a label, 0…1; nil if the model, or the kind of the word, has none for this sensitivity and mode.
    public func threshold(label: Int, _ sensitivity: Sensitivity, _ mode: DetectionMode) -> Float? {
        if let (kind, word) = owner(of: label) {
            return kind.threshold(of: word, sensitivity, mode)
                ?? (sensitivity == .balanced ? kind.threshold(of: word) : nil)
        }
        guard let thresholds = model.thresholds[sensitivity, mode], thresholds.indices.contains(label) else {
            return nil
        }
        return thresholds[label]
    }

    /// Why a label has no threshold for a sensitivity.
    public func noThresholds(label: Int, _ sensitivity: Sensitivity, _ mode: DetectionMode) -> SpottingError {
        if let (kind, word) = owner(of: label) { return .noThresholds.saying(kind.noThreshold(of: word, sensitivity)) }
        let present = model.thresholds.sensitivities(mode: mode).map(\.rawValue).joined(separator: ", ")
        return .noThresholds.saying(
            "the model '\(model.name)' has no thresholds for the sensitivity \(sensitivity.rawValue) in "
                + "\(mode.rawValue) mode; it has \(present); choose one of these, or a threshold such as 0.8"
        )
    }
}
