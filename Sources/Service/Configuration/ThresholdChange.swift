public import Core
public import Spotting

/// Other thresholds for a running daemon: `beckon set`.
public struct ThresholdChange: Equatable, Sendable {
    /// For all words without a choice of their own; nil changes nothing for them.
    public var all: Sensitivity?
    /// By word.
    public var words: [String: ThresholdChoice] = [:]

    public init(all: Sensitivity? = nil, words: [String: ThresholdChoice] = [:]) {
        self.all = all
        self.words = words
    }

    /// As a user writes it: `sensitivity eager stop=0.9`.
    public var text: String {
        let words = words.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        return ((all.map { ["sensitivity \($0.rawValue)"] } ?? []) + words).joined(separator: " ")
    }
}
