public import Core
private import System

/// A word that is said in a recording. Times are in seconds from the recording's start.
public struct SpokenWord: Sendable, Equatable {
    /// Index of its label.
    public let label: Int
    public let start: Double
    public let end: Double
}

/// The words of a recording and their times: a label track as Audacity exports it.
///
/// A line has start and end in seconds and a label, separated by tabs. Lines that begin with a backslash hold
/// frequencies and are ignored. An empty track means that no word is said.
public struct LabelTrack: Sendable, Equatable {
    /// Limits beyond which a file is not a label track.
    public enum Limit {
        public static let fileBytes = 64 << 20
        public static let lineBytes = 64 << 10
        /// Lines with a label: one a second for eleven days.
        public static let labels = 1_000_000
    }

    /// One line. Its label is in lower case.
    public struct Entry: Sendable, Equatable {
        public let start: Double
        public let end: Double
        public let label: String
    }

    /// The lines, in the order of the text.
    public let entries: [Entry]

    /// Reads a track.
    ///
    /// - Throws: if it cannot be read, or a line in it.
    public init(path: String) throws(EvaluationError) {
        let bytes: [UInt8]
        do throws(ReadFileError) {
            bytes = try readFile(path, limit: Limit.fileBytes).bytes
        } catch {
            switch error {
            case .system(let error): throw .unreadable(printable(path), "\(error)")
            case .notRegularFile, .foreign: throw .unreadable(printable(path), "not a regular file")
            case .tooLarge: throw .unreadable(printable(path), "longer than \(Limit.fileBytes >> 20) MiB")
            case .truncated: throw .unreadable(printable(path), "it became shorter while it was read")
            }
        }
        try self.init(String(decoding: bytes, as: UTF8.self), file: printable(path))
    }

    /// - Parameters:
    ///   - text: the track's text.
    ///   - file: name for error messages.
    /// - Throws: for a line that cannot be read.
    public init(_ text: String, file: String) throws(EvaluationError) {
        try self.init(text, file: file, limit: Limit.labels)
    }

    /// - Parameter limit: the most labels.
    init(_ text: String, file: String, limit: Int) throws(EvaluationError) {
        var entries: [Entry] = []
        for (index, line) in text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).enumerated() {
            guard line.utf8.count <= Limit.lineBytes else {
                throw .track(file, line: index + 1, "longer than \(Limit.lineBytes >> 10) KiB")
            }
            let line = index == 0 && line.hasPrefix("\u{FEFF}") ? line.dropFirst() : line
            if line.allSatisfy(\.isWhitespace) || line.hasPrefix("\\") { continue }
            let fields = line.split(separator: "\t", maxSplits: 2, omittingEmptySubsequences: false)
            guard fields.count >= 2, let start = Self.seconds(fields[0]), let end = Self.seconds(fields[1]) else {
                throw .track(file, line: index + 1, "not a label")
            }
            guard entries.count < limit else {
                throw .track(file, line: index + 1, "more than \(limit) labels")
            }
            guard start <= end else { throw .track(file, line: index + 1, "the label ends before it starts") }
            entries.append(Entry(start: start, end: end, label: fields.count > 2 ? Self.label(fields[2]) : ""))
        }
        self.entries = entries
    }

    /// The words of a model, sorted by start time. All other labels count as other speech.
    public func words(of labels: Labels) -> [SpokenWord] {
        let names = labels.wordIndices.map { (WordName.folded(labels.names[$0]), $0) }
        let indices = Dictionary(names, uniquingKeysWith: { first, _ in first })
        let words = entries.compactMap { entry in
            indices[WordName.folded(entry.label)].map { SpokenWord(label: $0, start: entry.start, end: entry.end) }
        }
        return words.sorted { ($0.start, $0.end) < ($1.start, $1.end) }
    }

    /// Checks that the track fits a recording.
    ///
    /// - Throws: if a label starts after the end of the audio.
    public func check(seconds: Double, file: String) throws(EvaluationError) {
        guard let last = entries.map(\.start).max(), last >= seconds, last > 0 else { return }
        func milliseconds(_ seconds: Double) -> Double { (seconds * 1000).rounded() / 1000 }
        throw EvaluationError(
            description:
                "\(file): a label starts at \(milliseconds(last)) s, but the audio ends at \(milliseconds(seconds)) s; "
                + "is it the track of another recording?"
        )
    }

    private static func seconds(_ text: Substring) -> Double? {
        let parts = text.split(whereSeparator: \.isWhitespace)
        guard parts.count == 1, let value = Double(decimal: parts[0]), value >= 0 else { return nil }
        return value
    }

    /// A label in lower case, without the confidence that `classify --format audacity` appends: its tracks can be
    /// corrected and used here.
    private static func label(_ text: Substring) -> String {
        let parts = text.split(whereSeparator: \.isWhitespace)
        if parts.count == 3, parts[2] == "%", Int(digits: parts[1]) != nil { return parts[0].lowercased() }
        return parts.joined(separator: " ").lowercased()
    }
}

/// Why a label track or a recording cannot be used.
public struct EvaluationError: Error, CustomStringConvertible, Sendable {
    /// One line: where, what is wrong, what to do.
    public let description: String

    /// A label track that cannot be read.
    static func unreadable(_ file: String, _ problem: String) -> EvaluationError {
        EvaluationError(description: "\(file): cannot read this label track: \(problem)")
    }

    /// A line that cannot be read.
    static func track(_ file: String, line: Int, _ problem: String) -> EvaluationError {
        EvaluationError(
            description: "\(file), line \(line): \(problem); a label track has lines of "
                + "start, end (both in seconds) and label, with tabs between"
        )
    }
}
