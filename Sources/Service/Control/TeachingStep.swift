private import Core
import JSON

/// A step of teaching words by the service itself, as the live page does it. The control socket refuses it: it needs the page's token.
public enum TeachingStep: Equatable, Sendable {
    /// Begins to teach a word: a new one, or further takes of one that is taught.
    case begin(word: String, more: Bool)
    /// Begins to make a word from its name alone, or does it anew with other pronunciations, in IPA or ARPAbet; none for what the spelling
    /// gives. The state of the teaching tells what to expect of it; `save` stores it.
    case type(word: String, sounds: [String])
    /// Records the next take from the microphone.
    case record
    /// Records what a client of the wake-word server says next, of this number.
    case recordClient(Int)
    /// Makes the recording of a recent word a take.
    case take(RecordedWord)
    /// Removes the newest take.
    case redo
    /// Stores the word.
    case save
    /// Ends without storing anything.
    case cancel
    /// Adds the recording of a recent word to a taught word, and stores it.
    case add(word: String, RecordedWord)
    /// Makes the recording of a recent word a negative example of a taught word.
    case not(word: String, RecordedWord)
    /// Removes a taught word.
    case forget(word: String)
    /// Gives a taught word another name.
    case rename(word: String, to: String)
    /// Gives a client of the wake-word server, of this number, another name; an empty one takes it back.
    case name(client: Int, to: String)

    private static let alone: [(name: String, step: TeachingStep)] = [
        ("record", .record), ("redo", .redo), ("save", .save), ("cancel", .cancel),
    ]
    private static let names = "begin, type, record, take, redo, save, cancel, add, not, forget, rename, name"

    /// Reads `{"command": "teach", "step": "begin", "word": "computer"}`.
    ///
    /// - Throws: ``ControlError/command``.
    init(_ node: JSONNode) throws(ControlError) {
        var (step, word, name): (String?, String?, String?) = (nil, nil, nil)
        var recorded: RecordedWord?
        var more: Bool?
        var sounds: [String]?
        for member in node.members {
            switch (member.name, member.node.value) {
            case ("command", _): break
            case ("step", .string(let text)): step = text
            case ("word", .string(let text)): word = text
            case ("to", .string(let text)): name = text
            case ("recent", .number), ("client", .number):
                // Above it, JSON readers take some numbers for others (RFC 8259, 6).
                guard let number = member.node.integer, (1..<1 << 53).contains(number), recorded == nil else {
                    throw .command.saying("either recent or client is the number of a recent word, from 1 on")
                }
                recorded = member.name == "recent" ? .own(number) : .ofClient(number)
            case ("more", .bool(let flag)): more = flag
            case ("sounds", .array(let ways)):
                let texts = ways.compactMap(\.text)
                guard texts.count == ways.count else {
                    throw .command.saying("sounds is a list of pronunciations, such as [\"h eɪ h aʊ s\"]")
                }
                sounds = texts
            default:
                throw .command.saying(
                    "unknown or ill-typed key '\(member.name.prefix(40))'; there are command, step, word, to, recent, client, "
                        + "sounds and more"
                )
            }
        }
        if let known = Self.alone.first(where: { $0.name == step })?.step, word == nil, name == nil,
            recorded == nil, more == nil, sounds == nil
        {
            self = known
            return
        }
        if step == "type", let word, name == nil, recorded == nil, more == nil {
            self = .type(word: word, sounds: sounds ?? [])
            return
        }
        // No other step has any.
        switch (sounds == nil ? step : nil, word, name, recorded, more) {
        case ("begin", let word?, nil, nil, let more): self = .begin(word: word, more: more ?? false)
        case ("take", nil, nil, let recorded?, nil): self = .take(recorded)
        case ("add", let word?, nil, let recorded?, nil): self = .add(word: word, recorded)
        case ("not", let word?, nil, let recorded?, nil): self = .not(word: word, recorded)
        case ("forget", let word?, nil, nil, nil): self = .forget(word: word)
        case ("rename", let word?, let name?, nil, nil): self = .rename(word: word, to: name)
        case ("record", nil, nil, .ofClient(let client)?, nil): self = .recordClient(client)
        case ("name", nil, let name?, .ofClient(let client)?, nil): self = .name(client: client, to: name)
        default:
            throw .command.saying(
                "not a step of teaching; there are \(Self.names); begin, type, add, not, forget and rename need a word, rename also to, its new "
                    + "name; type may have sounds; take, add and not need recent or client, the number of a recent word; record may have, and name needs, "
                    + "client, the number of a client"
            )
        }
    }

    /// As ``init(_:)`` reads it.
    var json: JSON {
        var json: JSON = ["command": "teach", "step": .string(name)]
        switch self {
        case .begin(let word, let more): json.append(["word": .string(word), "more": .bool(more)])
        case .take(let recorded): json.append([recorded.key: .number(recorded.number)])
        case .add(let word, let recorded), .not(let word, let recorded):
            json.append(["word": .string(word), recorded.key: .number(recorded.number)])
        case .type(let word, let sounds): json.append(["word": .string(word), "sounds": .strings(sounds)])
        case .forget(let word): json.append(["word": .string(word)])
        case .rename(let word, let name): json.append(["word": .string(word), "to": .string(name)])
        case .recordClient(let client): json.append(["client": .number(client)])
        case .name(let client, let name): json.append(["client": .number(client), "to": .string(name)])
        case .record, .redo, .save, .cancel: break
        }
        return json
    }

    private var name: String {
        switch self {
        case .begin: "begin"
        case .type: "type"
        case .take: "take"
        case .add: "add"
        case .not: "not"
        case .forget: "forget"
        case .rename: "rename"
        case .name: "name"
        case .recordClient: "record"
        case .record, .redo, .save, .cancel: Self.alone.first { $0.step == self }?.name ?? ""
        }
    }
}

/// A recent word whose recording is kept, by its number: one of the service's own, or one of a client of the wake-word server.
public enum RecordedWord: Equatable, Sendable {
    case own(Int)
    case ofClient(Int)

    /// In a command of JSON.
    fileprivate var key: String {
        switch self {
        case .own: "recent"
        case .ofClient: "client"
        }
    }

    fileprivate var number: Int {
        switch self {
        case .own(let number), .ofClient(let number): number
        }
    }
}
