import Core
import JSON
import Spotting

@testable import Configuration
@testable import Control
@testable import Evaluation

private let words = ["yes", "no", "up", "down", "left", "right", "on", "off", "stop", "go", "hey house"]

/// JSON: what is strict is JSON5 too, and the same; and it can be skipped.
func fuzzJSON(_ bytes: [UInt8]) {
    let text = String(decoding: bytes, as: UTF8.self)
    guard let node = try? JSONNode.parse(text) else { return }
    check((try? JSONNode.parse(text, .json5)) == node, "another value in JSON5")
    Array(text.utf8).withUnsafeBufferPointer { bytes in
        var reader = JSONReader(bytes)
        check((try? reader.skip()) != nil && (try? reader.end()) != nil, "it cannot be skipped")
    }
}

/// JSON5, and the configuration that it may be: a valid one reads back as it was written.
func fuzzConfiguration(_ bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self) else { return }
    guard let file = try? ParsedConfiguration(text: text, file: "f").validated(by: KnownWords(words)) else { return }
    let written = SettingKind.configuration.write(file.configuration).description
    guard let again = try? ParsedConfiguration(text: written, file: "g").validated(by: KnownWords(words)) else {
        fatalError("a written configuration is refused: \(written)")
    }
    check(again.configuration == file.configuration, "not the same configuration: \(written)")
    let labels = Labels(words: words).names
    _ = try? file.configuration.detectorPhrases(labels: labels)
}

/// Lines of the control socket, both ways: a command reads back as it was written.
func fuzzControl(_ bytes: [UInt8]) {
    let line = String(decoding: bytes, as: UTF8.self)
    if let command = try? ControlCommand(line: line) {
        if case .change(.thresholds(let change)) = command {
            for case .confidence(let value) in change.words.values {
                check(value > 0 && value < 1, "threshold \(value)")
            }
        }
        guard let again = try? ControlCommand(line: command.json.description) else {
            fatalError("a written command is refused: \(command.json)")
        }
        check(again == command, "not the same command: \(command.json)")
    }
    for command in [ControlCommand.status, .misses, .reload] {
        guard let reply = try? ControlReply(line: line, to: command) else { continue }
        check(
            (try? ControlReply(line: "\(reply.json)", to: command)) != nil,
            "a written reply is refused: \(reply.json)"
        )
    }
    _ = try? Template(line)
    if let address = try? WebAddress(line) { check(!address.target.isEmpty, "no target") }
}

private let labels = Labels(Labels(words: words).names)

/// Label tracks.
func fuzzLabels(_ bytes: [UInt8]) {
    guard let track = try? LabelTrack(String(decoding: bytes, as: UTF8.self), file: "f") else { return }
    let spoken = track.words(of: labels)
    check(zip(spoken, spoken.dropFirst()).allSatisfy { $0.start <= $1.start }, "words are not in order")
    check(spoken.allSatisfy { $0.start >= 0 && $0.start <= $0.end }, "a word ends before it starts")
    try? track.check(seconds: 10, file: "f")
}
