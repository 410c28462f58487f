import Configuration
import Core
import Spotting

/// What is to be done for each word and phrase: a configuration as the dispatcher needs it.
struct ActionPlan: Sendable {
    /// A word or a phrase.
    struct Subject: Equatable, Sendable {
        let name: String
        /// Seconds in which it is not acted on again.
        let cooldown: Double
        let actions: [Action]
    }

    let generation: UInt32
    let words: [Subject]
    let phrases: [Subject]

    /// - Parameter labels: the model's, in its order.
    init(_ configuration: Configuration, labels: [String], generation: UInt32) {
        self.generation = generation
        words = labels.map { label in
            let word = configuration.words[label] ?? Configuration.Word()
            return Subject(
                name: label,
                cooldown: word.cooldown ?? configuration.cooldown,
                actions: word.actions ?? configuration.actions
            )
        }
        phrases = configuration.phrases.map { phrase in
            Subject(
                name: phrase.phrase.split(whereSeparator: \.isWhitespace).joined(separator: " "),
                cooldown: phrase.cooldown ?? configuration.cooldown,
                actions: phrase.actions ?? configuration.actions
            )
        }
    }

    /// Who was heard; nil for an index that the plan has not. The beginning of a phrase leads to no action.
    func subject(of detection: Detection) -> Subject? {
        let subjects = detection.kind == .word ? words : phrases
        guard subjects.indices.contains(detection.index) else { return nil }
        let subject = subjects[detection.index]
        guard detection.kind == .phrasePartial else { return subject }
        return Subject(name: subject.name, cooldown: 0, actions: [])
    }

    /// Paths of the sockets that actions stream to, each once.
    var sockets: Set<String> {
        let actions = (words + phrases).flatMap(\.actions)
        return Set(actions.compactMap { if case .unix(let path) = $0.effect { path } else { nil } })
    }
}

/// Remembers when each word and phrase was acted on.
struct Cooldown: Sendable {
    /// By kind and name, on the stream's clock.
    private var last: [String: Double] = [:]

    /// Whether an event may be acted on; it then counts as acted on.
    mutating func admits(_ name: String, kind: Detection.Kind, cooldown: Double, time: Double) -> Bool {
        guard kind != .phrasePartial else { return true }
        let key = "\(kind.key) \(name)"
        // A stream that begins anew begins at nought.
        if let before = last[key], time >= before, time - before < cooldown { return false }
        last[key] = time
        return true
    }
}

/// Lets the same complaint through once in a while, and counts those between.
struct RateLimit: Sendable {
    /// Seconds between two of a kind.
    let interval: Double
    private var last: [String: (time: Instant, swallowed: Int)] = [:]

    init(interval: Double) { self.interval = interval }

    /// Nil for one that is to be swallowed, else how many were swallowed since the last.
    ///
    /// - Parameter now: on the monotonic clock.
    mutating func admit(_ kind: String, now: Instant) -> Int? {
        guard let before = last[kind], now - before.time < .seconds(interval) else {
            let swallowed = last[kind]?.swallowed ?? 0
            last[kind] = (now, 0)
            return swallowed
        }
        last[kind]?.swallowed += 1
        return nil
    }
}
