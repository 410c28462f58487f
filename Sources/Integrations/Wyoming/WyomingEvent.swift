import Core

/// An event from a client, without its payload: the keys that a wake-word server uses.
///
/// Source: PyPI `wyoming` 1.10.2, `event.py`, `wake.py`, `audio.py`, `info.py`, `ping.py`.
struct WyomingEvent: Equatable {
    enum Kind: Equatable {
        case describe, detect, audioStart, audioChunk, audioStop, ping
        /// One that this server drops, such as `pong`, `select-program` or one of a later version.
        case other
    }

    var kind = Kind.other
    /// `audio-start`, `audio-chunk`: samples a second, bytes of a sample, channels; in milliseconds, nil if not given.
    var rate: Int?
    var width: Int?
    var channels: Int?
    var timestamp: Int?
    /// `detect`: the words to detect; nil for all.
    var names: [String]?
    /// `ping`.
    var text: String?
    /// Bytes after the data.
    var payloadLength = 0
}

/// Why a client's bytes cannot be read on: what comes after is not known, so the connection ends.
struct ProtocolViolation: Error, Equatable, CustomStringConvertible {
    /// One line, for the client.
    let description: String

    static let line = ProtocolViolation(
        description: "an event begins with a line of JSON of at most \(WyomingParser.longestLine) bytes"
    )
    static let json = ProtocolViolation(description: "this is no JSON object of an event")
    static let type = ProtocolViolation(description: "the event has no type")
    static let dataLength = ProtocolViolation(
        description: "data_length is no number from 0 to \(WyomingParser.mostData)"
    )
    static let payloadLength = ProtocolViolation(
        description: "payload_length is no number from 0 to \(WyomingParser.mostPayload)"
    )
}

/// Events to a client, as bytes.
enum WyomingAnswer {
    static func detection(_ name: String, timestamp: Int) -> [UInt8] {
        encode("detection", ["name": .string(name), "timestamp": .number(timestamp), "speaker": .null])
    }

    static let notDetected = encode("not-detected", [:])

    static func pong(_ text: String?) -> [UInt8] { encode("pong", ["text": .optional(text)]) }

    /// - Parameter code: for programs, such as `too-many-connections`.
    static func error(_ text: String, code: String) -> [UInt8] {
        encode("error", ["text": .string(text), "code": .string(code)])
    }

    /// A line with the type, then the data in as many bytes as the line says; without members there is no data.
    ///
    /// The data do not stand in the line, because clients limit its length.
    static func encode(_ type: String, _ data: JSON) -> [UInt8] {
        let text = data == .object([]) ? [] : Array(data.description.utf8)
        var line: JSON = ["type": .string(type), "version": .string(version)]
        if !text.isEmpty { line.append(["data_length": .number(text.count)]) }
        return Array(line.line.utf8) + text
    }
}
