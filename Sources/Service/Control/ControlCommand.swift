public import Configuration
private import Core
public import JSON
private import Spotting

/// A command to the running daemon.
public enum ControlCommand: Equatable, Sendable {
    case status
    /// Lists the last detected and nearly detected words.
    case misses
    /// Streams all events from now on to the client that asks.
    case events
    /// Starts or ends a command to the voice assistant, as a button does.
    case talk(TalkStep)
    /// Changes settings, or closes or opens the microphone.
    case change(SettingsChange)

    public static let mute = change(.mute(true)), unmute = change(.mute(false)), reload = change(.configuration)

    /// Sets thresholds. Each lasts until it is set again or the configuration gives another one.
    public static func set(_ thresholds: ThresholdChange) -> ControlCommand { change(.thresholds(thresholds)) }

    /// A step of teaching a word; only as JSON.
    public static func teach(_ step: TeachingStep) -> ControlCommand { change(.teaching(step)) }

    /// Parses a line: words such as `mute` or `set sensitivity eager yes=0.7 no=strict`, or JSON such as
    /// `{"command": "set", "sensitivity": "eager", "words": {"yes": 0.7, "no": "strict"}}`.
    ///
    /// - Throws: ``ControlError/command``.
    public init(line: String) throws(ControlError) {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        self = words.first?.hasPrefix("{") == true ? try Self.fromJSON(line) : try ControlCommand(words: words)
    }

    /// Parses words, split at blanks.
    ///
    /// - Throws: ``ControlError/command``.
    public init(words: [String]) throws(ControlError) {
        guard let name = words.first else { throw .command.saying("an empty command; there are \(Self.names)") }
        switch name {
        case "set": self = .set(try ThresholdChange(parts: words.dropFirst()))
        case "talk": self = .talk(try Self.step(words.dropFirst()))
        default: self = try Self.named(name, isAlone: words.count == 1)
        }
    }

    /// The command as a line of JSON.
    public var json: JSON {
        if case .change(.teaching(let step)) = self { return step.json }
        if case .talk(let step) = self { return ["command": "talk", "step": .string(step.rawValue)] }
        guard case .change(.thresholds(let change)) = self else { return ["command": .string(name)] }
        let words = change.words.sorted { $0.key < $1.key }.map { word, choice in
            JSON.Member(word, choice.confidence.map { .shortest($0) } ?? .optional(choice.sensitivity?.rawValue))
        }
        var json: JSON = ["command": "set"]
        json.append([
            "sensitivity": change.all.map { .string($0.rawValue) }, "words": words.isEmpty ? nil : .object(words),
        ])
        return json
    }

    private static let simple: [(name: String, command: ControlCommand)] = [
        ("status", .status), ("mute", .mute), ("unmute", .unmute), ("reload", .reload), ("events", .events),
        ("misses", .misses),
    ]
    private static let allNames = simple.map(\.name) + ["set", "talk"]
    private static let names = allNames.joined(separator: ", ")

    /// Of a command that is not `set`.
    private var name: String { Self.simple.first { $0.command == self }?.name ?? "reload" }

    private static func step(_ words: some Collection<String>) throws(ControlError) -> TalkStep {
        guard let word = words.first else { return .start }
        guard words.count == 1, let step = TalkStep(rawValue: word) else {
            let steps = TalkStep.allCases.map(\.rawValue).joined(separator: ", ")
            throw .command.saying("talk takes one of \(steps), not '\(word.prefix(40))'")
        }
        return step
    }

    /// - Parameter isAlone: whether nothing follows the name.
    private static func named(_ name: String, isAlone: Bool) throws(ControlError) -> ControlCommand {
        guard let command = simple.first(where: { $0.name == name })?.command else {
            let hint = nearestName(to: name, of: allNames).map { "did you mean \($0)?" }
            throw .command.saying("unknown command '\(name.prefix(40))'; \(hint ?? "there are \(names)")")
        }
        guard isAlone else { throw .command.saying("\(name) takes nothing after it") }
        return command
    }

    private static func fromJSON(_ line: String) throws(ControlError) -> ControlCommand {
        let node: JSONNode
        do throws(JSONError) {
            node = try JSONNode.parse(line, .strict)
        } catch {
            throw .command.saying("not a JSON object: \(error.reason)")
        }
        if node["command"]?.text == "talk" {
            let (steps, others) = (node.members.filter { $0.name == "step" }, node.members.filter { $0.name != "step" })
            guard others.count == 1 else { throw .command.saying("talk has the key step only") }
            return .talk(try step(steps.map { $0.node.text ?? $0.node.description }))
        }
        if node["command"]?.text == "teach" { return .change(.teaching(try TeachingStep(node))) }
        var name: String?
        var change = ThresholdChange()
        for member in node.members {
            switch (member.name, member.node.value) {
            case ("command", .string(let text)): name = text
            case ("words", .object(let entries)):
                for entry in entries {
                    switch entry.node.value {
                    case .number(let number): try change.add(entry.name, number: number)
                    case .string(let text): try change.add(entry.name, name: text)
                    default:
                        throw .command.saying(
                            "the threshold of '\(entry.name)' is \(entry.node.description), neither a number nor a name"
                        )
                    }
                }
            case ("sensitivity", .string(let text)): change.all = try ThresholdChange.sensitivity(text)
            default:
                throw .command.saying(
                    "unknown or ill-typed key '\(member.name.prefix(40))'; there are command, sensitivity and words"
                )
            }
        }
        guard let name else { throw .command.saying("the key command is missing; there are \(names)") }
        guard name == "set" else { return try named(name, isAlone: change == ThresholdChange()) }
        guard change != ThresholdChange() else {
            throw .command.saying("set needs words with their thresholds, or a sensitivity")
        }
        return .set(change)
    }
}

/// A change of settings while the daemon runs. It may come from a signal, the control socket or a changed file.
public enum SettingsChange: Equatable, Sendable {
    /// Reads the configuration again, and all files that it names: SIGHUP, `beckon reload`.
    case configuration
    /// Reads the file of the user's taught words again, because it has changed. No client asks for it alone: a reload does it, too.
    case words
    /// Sets other thresholds: `beckon set`.
    case thresholds(ThresholdChange)
    /// Closes (true) or opens (false) the microphone.
    case mute(Bool)
    /// A step of teaching a word; the file of taught words changes with those that store something.
    case teaching(TeachingStep)
}
