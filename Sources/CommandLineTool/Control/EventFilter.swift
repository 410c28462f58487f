import Control
import Core
import Events
private import JSON
import System

/// What `beckon events --once`, `--seconds` and `--words` wait for: the words of the service that runs, for scripts.
///
/// They filter what is printed. What the service detects, and its actions, stay as they are.
struct EventFilter {
    /// Whether the first word or phrase is printed alone, and ends it.
    let once: Bool
    /// The longest time in seconds; nil for no limit.
    let seconds: Double?
    /// The only words and phrases that count, as they were given; nil for all.
    let words: [String]?

    init(_ arguments: Arguments) throws(UsageError) {
        once = arguments.has("--once")
        seconds = arguments.number("--seconds")
        words = arguments.value("--words").map { text in
            text.split(separator: ",", omittingEmptySubsequences: false).map { WordName.trimmed(String($0)) }
        }
        if let words, words.contains("") {
            throw UsageError("--words takes words with commas between, such as yes,no")
        }
    }

    /// Whether it ends by itself.
    var ends: Bool { once || seconds != nil }
    /// Whether any of these options was given.
    var isSet: Bool { ends || words != nil }

    /// Refuses words that the service cannot find, as far as it says what it finds.
    func check(_ status: ServiceStatus) throws(Failure) {
        guard let words, let thresholds = status.thresholds else { return }
        let known = thresholds.map(\.word) + (status.sessions ?? []).flatMap { $0.thresholds.map(\.word) }
        for word in words where !word.contains(" ") && WordName.match(word, in: known) == nil {
            let hint = nearestName(to: word, of: known).map { "did you mean '\($0)'? It" } ?? "it"
            throw Failure(
                "the service does not find the word '\(word)'; \(hint) finds \(known.joined(separator: ", "))"
            )
        }
    }

    /// What is printed of an event; nil for nothing.
    ///
    /// - Parameter json: whether of the last event the line is printed, not the name.
    func text(_ line: String, json: Bool) -> String? {
        guard once || words != nil else { return line }
        guard let node = try? JSONNode.parse(line), let kind = node["event"]?.text, kind == "word" || kind == "phrase",
            let name = node[kind]?.text, counts(name)
        else { return nil }
        return once && !json ? printable(name) : line
    }

    private func counts(_ name: String) -> Bool {
        guard let words else { return true }
        let folded = WordName.folded(name)
        return words.contains { WordName.folded($0) == folded }
    }
}
