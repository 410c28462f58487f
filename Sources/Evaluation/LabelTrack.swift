/// A word that was said; times in seconds from the recording's start.
public struct SpokenWord: Sendable, Equatable {
    /// Index of its label.
    public let label: Int
    public let start: Double
    public let end: Double

    public init(label: Int, start: Double, end: Double) {
        self.label = label
        self.start = start
        self.end = end
    }
}

/// What is said in a recording and when: a label track as Audacity exports it.
///
/// A line has start and end in seconds and a label, separated by tabs; lines that begin with a backslash hold frequencies
/// and are passed over. An empty track says that no word is spoken.
public struct LabelTrack: Sendable, Equatable {
    /// A line; its label in small letters.
    public struct Entry: Sendable, Equatable {
        public let start: Double
        public let end: Double
        public let label: String
    }

    public let entries: [Entry]

    /// - Parameter file: what error messages call the track.
    /// - Throws: ``EvaluationError/track(_:line:_:)``
    public init(_ text: String, file: String) throws(EvaluationError) {
        var entries: [Entry] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            let line = index == 0 && line.hasPrefix("\u{FEFF}") ? line.dropFirst() : line
            if line.allSatisfy(\.isWhitespace) || line.hasPrefix("\\") { continue }
            let fields = line.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count >= 2, let start = Self.seconds(fields[0]), let end = Self.seconds(fields[1]) else {
                throw .track(file, line: index + 1, "not a label")
            }
            guard start <= end else { throw .track(file, line: index + 1, "the label ends before it starts") }
            entries.append(Entry(start: start, end: end, label: fields.count > 2 ? Self.label(fields[2]) : ""))
        }
        self.entries = entries
    }

    /// The words that a model knows, by start; all other labels are other speech.
    public func words(of labels: LabelSet) -> [SpokenWord] {
        let words = entries.compactMap { entry in
            labels.names[labels.words].firstIndex { $0.lowercased() == entry.label }.map {
                SpokenWord(label: $0, start: entry.start, end: entry.end)
            }
        }
        return words.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
    }

    /// - Throws: ``EvaluationError/beyondEnd(_:start:seconds:)`` where a label starts behind the end of the audio.
    public func check(seconds: Double, file: String) throws(EvaluationError) {
        guard let last = entries.map(\.start).max(), last >= seconds, last > 0 else { return }
        throw .beyondEnd(file, start: last, seconds: seconds)
    }

    private static func seconds(_ text: Substring) -> Double? {
        let parts = text.split(whereSeparator: \.isWhitespace)
        guard parts.count == 1, let value = Double(parts[0]), value.isFinite, value >= 0 else { return nil }
        return value
    }

    /// Without the confidence that `classify --format audacity` puts behind a word, so that its tracks can be corrected
    /// and used.
    private static func label(_ text: Substring) -> String {
        let parts = text.split(whereSeparator: \.isWhitespace)
        if parts.count == 3, parts[2] == "%", Int(parts[1]) != nil { return parts[0].lowercased() }
        return parts.joined(separator: " ").lowercased()
    }
}
