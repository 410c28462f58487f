import Core
public import Events
import JSON
private import Spotting
private import System

/// A line of text with placeholders for the values of an event, such as `{word} {percent}`.
public struct Template: Equatable, Sendable {
    private enum Piece: Equatable, Sendable {
        case text(String)
        case placeholder(Placeholder)
    }

    enum Placeholder: String, CaseIterable {
        case event, word, session, confidence, percent, start, end, time, date, device, sequence, json
    }

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
            guard let placeholder = Placeholder(rawValue: name) else {
                let names = Placeholder.allCases.map(\.rawValue)
                let hint = nearestName(to: name, of: names).map { "did you mean {\($0)}?" }
                throw InvalidValue(
                    "unknown placeholder {\(name)}; \(hint ?? "there are " + names.joined(separator: ", "))"
                )
            }
            pieces.append(.placeholder(placeholder))
            rest = rest[rest.index(after: end)...]
        }
        pieces.append(.text(String(rest)))
        self.pieces = pieces
    }

    /// The text with the values of an event, without a line end.
    public func filled(with event: DetectionEvent) -> String {
        pieces.map { piece in
            switch piece {
            case .text(let text): text
            case .placeholder(let placeholder): value(of: placeholder, in: event)
            }
        }.joined()
    }

    private func value(of placeholder: Placeholder, in event: DetectionEvent) -> String {
        switch placeholder {
        case .event: event.kind.key
        case .word: event.name
        case .session: event.kind.isSession ? event.name : event.session ?? ""
        case .confidence: decimal(Double(event.confidence), 4)
        case .percent: Core.percent(event.confidence)
        case .start: decimal(event.start, 3)
        case .end: decimal(event.end, 3)
        case .time: decimal(event.time, 3)
        case .date: event.date.text
        case .device: event.device
        case .sequence: String(event.sequence)
        case .json: event.json.description
        }
    }
}
