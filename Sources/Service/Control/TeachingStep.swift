private import Core
import JSON

/// A step of teaching words by the service itself, as the live page does it. The control socket refuses it: it needs the page's token.
public enum TeachingStep: Equatable, Sendable {
    /// Begins to teach a word: a new one, or further takes of one that is taught.
    case begin(word: String, more: Bool)
    /// Records the next take from the microphone.
    case record
    /// Makes the recording of a recent word a take, by its number.
    case take(recent: Int)
    /// Removes the newest take.
    case redo
    /// Stores the word.
    case save
    /// Ends without storing anything.
    case cancel
    /// Adds the recording of a recent word to a taught word, and stores it.
    case add(word: String, recent: Int)
    /// Makes the recording of a recent word a negative example of a taught word.
    case not(word: String, recent: Int)
    /// Removes a taught word.
    case forget(word: String)

    private static let alone: [(name: String, step: TeachingStep)] = [
        ("record", .record), ("redo", .redo), ("save", .save), ("cancel", .cancel),
    ]
    private static let names = "begin, record, take, redo, save, cancel, add, not, forget"

    /// Reads `{"command": "teach", "step": "begin", "word": "computer"}`.
    ///
    /// - Throws: ``ControlError/command``.
    init(_ node: JSONNode) throws(ControlError) {
        var (step, word, recent): (String?, String?, Int?) = (nil, nil, nil)
        var more: Bool?
        for member in node.members {
            switch (member.name, member.node.value) {
            case ("command", _): break
            case ("step", .string(let text)): step = text
            case ("word", .string(let text)): word = text
            case ("recent", .number):
                // Above it, JSON readers take some numbers for others (RFC 8259, 6).
                guard let number = member.node.integer, (1..<1 << 53).contains(number) else {
                    throw .command.saying("recent is the number of a recent word, from 1 on")
                }
                recent = number
            case ("more", .bool(let flag)): more = flag
            default:
                throw .command.saying(
                    "unknown or ill-typed key '\(member.name.prefix(40))'; there are command, step, word, recent and more"
                )
            }
        }
        if let known = Self.alone.first(where: { $0.name == step })?.step, word == nil, recent == nil, more == nil {
            self = known
            return
        }
        switch (step, word, recent, more) {
        case ("begin", let word?, nil, let more): self = .begin(word: word, more: more ?? false)
        case ("take", nil, let recent?, nil): self = .take(recent: recent)
        case ("add", let word?, let recent?, nil): self = .add(word: word, recent: recent)
        case ("not", let word?, let recent?, nil): self = .not(word: word, recent: recent)
        case ("forget", let word?, nil, nil): self = .forget(word: word)
        default:
            throw .command.saying(
                "not a step of teaching; there are \(Self.names); begin, add, not and forget need a word, take, add and not the number "
                    + "of a recent word"
            )
        }
    }

    /// As ``init(_:)`` reads it.
    var json: JSON {
        var json: JSON = ["command": "teach", "step": .string(name)]
        switch self {
        case .begin(let word, let more): json.append(["word": .string(word), "more": .bool(more)])
        case .take(let recent): json.append(["recent": .number(recent)])
        case .add(let word, let recent), .not(let word, let recent):
            json.append(["word": .string(word), "recent": .number(recent)])
        case .forget(let word): json.append(["word": .string(word)])
        case .record, .redo, .save, .cancel: break
        }
        return json
    }

    private var name: String {
        switch self {
        case .begin: "begin"
        case .take: "take"
        case .add: "add"
        case .not: "not"
        case .forget: "forget"
        case .record, .redo, .save, .cancel: Self.alone.first { $0.step == self }?.name ?? ""
        }
    }
}
