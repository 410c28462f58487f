import Audio
import Core
import JSON

/// An event from a client, without its payload: the keys that a wake-word server or a satellite uses.
///
/// Source: PyPI `wyoming` 1.10.2, `event.py`, `wake.py`, `audio.py`, `info.py`, `ping.py`, `satellite.py`, `asr.py`, `error.py`.
struct WyomingEvent: Equatable {
    /// By the type on the wire.
    enum Kind: String {
        case describe, detect, info, ping, pong
        case audioStart = "audio-start"
        case audioChunk = "audio-chunk"
        case audioStop = "audio-stop"
        /// To a satellite: send words from now on; send nothing.
        case runSatellite = "run-satellite"
        case pauseSatellite = "pause-satellite"
        /// To a satellite: the command was understood, or something failed.
        case transcript, error
        /// One that is dropped, such as `select-program` or one of a later version.
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
    /// `detect`: an object that answers give back, as its text; nil if there is none, or it is larger than
    /// ``WyomingParser/mostContext``.
    var context: String?
    /// `ping`.
    var text: String?
    /// `info`: what a satellite says it is called.
    var name: String?
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
    static let json = ProtocolViolation(description: "this is not a JSON object of an event")
    static let type = ProtocolViolation(description: "the event has no type")
    static let dataLength = ProtocolViolation(
        description: "data_length is not a number from 0 to \(WyomingParser.mostData)"
    )
    static let payloadLength = ProtocolViolation(
        description: "payload_length is not a number from 0 to \(WyomingParser.mostPayload)"
    )
}

/// Events to a client, as bytes.
enum WyomingAnswer {
    /// - Parameter context: that of the client's `detect`, as JSON.
    static func detection(_ name: String, timestamp: Int, context: String? = nil) -> [UInt8] {
        var data: JSON = ["name": .string(name), "timestamp": .number(timestamp), "speaker": .null]
        if let context { data.append(["context": .encoded(context)]) }
        return encode("detection", data)
    }

    /// - Parameter context: that of the client's `detect`, as JSON.
    static func notDetected(context: String?) -> [UInt8] {
        encode("not-detected", context.map { ["context": .encoded($0)] } ?? [:])
    }

    static func pong(_ text: String?) -> [UInt8] { encode("pong", ["text": .optional(text)]) }

    /// A question whether the client is there.
    static let ping = encode("ping", [:])

    /// - Parameter code: for programs, such as `too-many-connections`.
    static func error(_ text: String, code: String) -> [UInt8] {
        encode("error", ["text": .string(text), "code": .string(code)])
    }

    /// A command follows, which Home Assistant is to recognise and carry out.
    ///
    /// - Parameter plays: whether it is to send an answer that is spoken.
    static func runPipeline(plays: Bool) -> [UInt8] {
        encode(
            "run-pipeline",
            ["start_stage": "asr", "end_stage": plays ? "tts" : "handle", "restart_on_end": false]
        )
    }

    /// Samples at 16 kHz, 16 bits, one channel.
    ///
    /// - Parameter timestamp: of the first sample, in milliseconds.
    static func audioChunk(_ samples: [Float], timestamp: Int) -> [UInt8] {
        let bytes = samples.flatMap { sample -> [UInt8] in
            let whole = UInt16(bitPattern: Int16(sample: sample))
            return [UInt8(truncatingIfNeeded: whole), UInt8(truncatingIfNeeded: whole >> 8)]
        }
        let format: JSON = [
            "rate": .number(AudioFormat.sampleRate), "width": 2, "channels": 1, "timestamp": .number(timestamp),
        ]
        return encode("audio-chunk", format, payload: bytes)
    }

    static func audioStop(timestamp: Int) -> [UInt8] { encode("audio-stop", ["timestamp": .number(timestamp)]) }

    /// Audio was played, as far as it can be.
    static let played = encode("played", [:])

    /// What Home Assistant takes as a sign of life, and nothing else: `wyoming` 1.9 has it for what has no event of its own.
    static let playing = encode("user-event", ["name": "playing"])

    /// A line with the type, then the data and the payload in as many bytes as the line says; without members there is no data.
    ///
    /// The data do not stand in the line, because clients limit its length.
    static func encode(_ type: String, _ data: JSON, payload: [UInt8] = []) -> [UInt8] {
        let text = data == .object([]) ? [] : Array(data.description.utf8)
        var line: JSON = ["type": .string(type), "version": .string(version)]
        if !text.isEmpty { line.append(["data_length": .number(text.count)]) }
        if !payload.isEmpty { line.append(["payload_length": .number(payload.count)]) }
        return Array(line.line.utf8) + text + payload
    }
}
