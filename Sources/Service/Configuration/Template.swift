import Core
public import Events
import JSON
private import Spotting
private import System

/// A line of text with placeholders for the values of an event, such as `{word} {percent}`.
public struct Template: Equatable, Sendable {
    private enum Piece: Equatable, Sendable {
        case text(String)
        /// One of ``values``.
        case placeholder(String)
    }

    /// What the placeholders stand for, by name. `state` is that of the voice assistant, which words have not.
    private static let values: KeyValuePairs<String, @Sendable (DetectionEvent) -> String> = [
        "event": \.kind.key, "word": \.name,
        "session": { $0.kind.isSession ? $0.name : $0.session ?? "" },
        "confidence": { decimal(Double($0.confidence), 4) }, "percent": { Core.percent($0.confidence) },
        "start": { decimal($0.start, 3) }, "end": { decimal($0.end, 3) }, "time": { decimal($0.time, 3) },
        "state": { _ in "" }, "date": \.date.text, "device": \.device, "sequence": { String($0.sequence) },
        "json": \.json.description,
    ]

    /// As the user wrote it.
    public let text: String
    private let pieces: [Piece]

    /// - Throws: ``InvalidValue`` for an unmatched brace or an unknown placeholder.
    public init(_ text: String) throws(InvalidValue) {
        self.text = text
        var pieces: [Piece] = []
        var rest = text[...]
        while let brace = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            pieces.append(.text(String(rest[..<brace])))
            guard rest[brace] == "{", let end = rest[brace...].firstIndex(of: "}") else {
                throw InvalidValue("an unmatched brace in '\(text)'; placeholders look like {word}")
            }
            let name = String(rest[rest.index(after: brace)..<end])
            let names = Self.values.map(\.key)
            guard names.contains(name) else {
                let hint = nearestName(to: name, of: names).map { "did you mean {\($0)}?" }
                throw InvalidValue(
                    "unknown placeholder {\(name)}; \(hint ?? "there are " + names.joined(separator: ", "))"
                )
            }
            pieces.append(.placeholder(name))
            rest = rest[rest.index(after: end)...]
        }
        pieces.append(.text(String(rest)))
        self.pieces = pieces
    }

    /// The text with the values of an event, without a line end.
    public func filled(with event: DetectionEvent) -> String {
        filled { name in Self.values.first { $0.key == name }?.value(event) ?? "" }
    }

    /// The text with the values of a state of the voice assistant, without a line end; what only words have is empty.
    public func filled(with change: AssistantChange) -> String {
        filled { name in
            switch name {
            case "event": AssistantChange.key
            case "state": change.state.rawValue
            case "date": change.date.text
            case "json": "\(change.json)"
            default: ""
            }
        }
    }

    private func filled(_ value: (String) -> String) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .placeholder(let name): value(name)
            }
        }.joined()
    }
}
