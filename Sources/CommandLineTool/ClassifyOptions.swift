import Spotting

/// What `beckon classify` was asked to do.
struct ClassifyOptions {
    enum Format: String, CaseIterable { case table, json, csv, audacity }

    var paths: [String] = []
    /// The operand `-` was given: paths come from standard input too, one a line, or NUL-separated with `-0`.
    var readsList = false
    var listIsNulSeparated = false
    var clips = false
    var format = Format.table
    var outputFolder: String?
    var modelFolder: String?
    var threshold: Float?
    var wordThresholds: [(word: String, threshold: Float)] = []
    var phrases: [String] = []
    var gate = GateSettings()
    var channel: Int?
    var jobs: Int
    var stats = false

    static let options: [Arguments.Option] = [
        .init("--clips"), .init("--json"), .init("--format", short: "-f", takesValue: true),
        .init("--output", short: "-o", takesValue: true), .init("--model", short: "-m", takesValue: true),
        .init("--threshold", short: "-t", takesValue: true), .init("--word", short: "-w", takesValue: true),
        .init("--phrase", takesValue: true), .init("--mode", takesValue: true),
        .init("--trigger", takesValue: true), .init("--channel", takesValue: true),
        .init("--jobs", short: "-j", takesValue: true), .init("--null", short: "-0"), .init("--stats"),
        .init("--help", short: "-h"),
    ]

    init(_ arguments: Arguments, processors: Int) throws(UsageError) {
        jobs = processors
        for operand in arguments.operands {
            if operand == "-" { readsList = true } else { paths.append(operand) }
        }
        listIsNulSeparated = arguments.has("--null")
        // `-0` alone already says that a list is to be read.
        if listIsNulSeparated { readsList = true }
        guard readsList || !paths.isEmpty else {
            throw UsageError("classify needs a file, a folder, or - for a list on standard input")
        }
        clips = arguments.has("--clips")
        stats = arguments.has("--stats")
        modelFolder = arguments.value("--model")
        outputFolder = arguments.value("--output")
        phrases = arguments.all("--phrase")
        if let name = arguments.value("--format") { format = try choice(name, "--format") }
        if arguments.has("--json") { format = .json }
        if let text = arguments.value("--mode") { gate.mode = try choice(text, "--mode") }
        if let text = arguments.value("--trigger") { gate.trigger = try choice(text, "--trigger") }
        if let text = arguments.value("--threshold") { threshold = try Self.threshold(text, of: "--threshold") }
        for text in arguments.all("--word") {
            let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                throw UsageError("--word takes WORD=THRESHOLD, such as yes=0.7, not '\(text)'")
            }
            wordThresholds.append((parts[0], try Self.threshold(parts[1], of: "--word")))
        }
        if let text = arguments.value("--channel"), text != "mix" {
            guard let number = Int(text), (0..<8).contains(number) else {
                throw UsageError("--channel takes a number from 0 to 7, or mix, not '\(text)'")
            }
            channel = number
        }
        if let text = arguments.value("--jobs") {
            guard let number = Int(text), (1...256).contains(number) else {
                throw UsageError("--jobs takes a number from 1 to 256, not '\(text)'")
            }
            jobs = number
        }
        guard outputFolder == nil || format == .audacity else {
            throw UsageError("--output goes with --format audacity; redirect the other formats")
        }
        guard !(clips && format == .audacity) else {
            throw UsageError("--clips gives one label a file, which is no label track; use --json or --format csv")
        }
    }

    private static func threshold(_ text: String, of option: String) throws(UsageError) -> Float {
        guard let value = Float(text), value > 0, value < 1 else {
            throw UsageError("\(option) takes a confidence between 0 and 1, such as 0.7, not '\(text)'")
        }
        return value
    }

    private func choice<Value: RawRepresentable & CaseIterable>(
        _ text: String,
        _ option: String
    ) throws(UsageError) -> Value where Value.RawValue == String {
        if let value = Value(rawValue: text) { return value }
        let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError("\(option) takes one of \(names), not '\(text)'")
    }
}
