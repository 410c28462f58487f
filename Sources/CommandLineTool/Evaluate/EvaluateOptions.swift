import Core
import Evaluation
import Reports

/// The options of `beckon evaluate`.
struct EvaluateOptions {
    private let arguments: Arguments
    let listening: ListeningOptions

    /// The folder of clips, or the recordings with `--stream`.
    var paths: [String] { arguments.operands }
    var stream: Bool { arguments.has("--stream") }
    /// The path of a file that lists the clips to use; nil for all.
    var list: String? { arguments.value("--list") }
    /// How the results are written for other programs.
    enum Format { case text, json, csv }
    let format: Format
    /// The file for the results; nil for standard output.
    var output: String? { arguments.value("--output") }
    /// How many errors are listed.
    var errors: Int { arguments.value("--errors").map { Int(digits: $0) ?? .max } ?? 0 }
    /// What proposed thresholds are to reach, and how it was written.
    struct Target {
        let value: ThresholdTarget
        let text: String
    }
    /// Nil where none are asked for.
    let target: Target?
    /// The file for a configuration with the proposed thresholds.
    var configuration: String? { arguments.value("--write-config") }
    var html: String? { arguments.value("--html") }
    /// Embed the sound in the pages of errors.
    var audio: Bool { arguments.has("--audio") }
    /// How many pages of errors to write.
    var pages: Int { arguments.whole("--pages") ?? 100 }
    /// The longest time after a word's end in which a detection still counts, in seconds.
    var tolerance: Double { arguments.number("--tolerance") ?? 1 }
    /// The options that a page of `inspect` needs to show the same, as they were given.
    var inspectOptions: [String] {
        Self.shared.flatMap { option in arguments.all(option).flatMap { [option, $0] } }
            + (listening.confirms ? [] : ["--no-confirm"])
    }

    init(_ arguments: Arguments) throws(UsageError) {
        self.arguments = arguments
        listening = try ListeningOptions(arguments)
        format = try Self.format(arguments)
        target = try Self.target(arguments)
        if stream {
            guard !paths.isEmpty else { throw UsageError("evaluate --stream needs a recording or a folder of them") }
            guard list == nil else { throw UsageError("--list names clips; it does not go with --stream") }
            guard format != .csv else {
                throw UsageError("CSV has one row a clip; with --stream give --json, which lists every error")
            }
        } else {
            guard paths.count == 1 else {
                throw UsageError("evaluate takes one folder of clips, or recordings with --stream")
            }
            for option in ["--mode", "--trigger", "--tolerance", "--pages", "--audio"]
            where arguments.has(option) {
                throw UsageError("\(option) applies to recordings; it goes with --stream")
            }
        }
    }

    private static func format(_ arguments: Arguments) throws(UsageError) -> Format {
        guard !arguments.has("--json") || !arguments.has("--csv") else {
            throw UsageError("--json and --csv exclude each other; give one of them")
        }
        if arguments.has("--json") { return .json }
        if arguments.has("--csv") { return .csv }
        guard let output = arguments.value("--output") else { return .text }
        switch PathName(output).ending.lowercased() {
        case "csv": return .csv
        case "json": return .json
        case "html", "htm":
            throw UsageError(
                "--output is for other programs; did you mean --html \(ShellWord.quoted(printable(output)))?"
            )
        default: throw UsageError("--output needs a format: a name that ends in .csv or .json, or --csv or --json")
        }
    }

    private static func target(_ arguments: Arguments) throws(UsageError) -> Target? {
        let rate = arguments.value("--target").flatMap { text in
            ThresholdTarget(perHour: text).map { Target(value: $0, text: "\(text) false accepts of a word") }
        }
        let precision = arguments.value("--target-precision").flatMap { text in
            ThresholdTarget(precision: text).map { Target(value: $0, text: "a precision of \(text)") }
        }
        guard rate == nil || precision == nil else {
            throw UsageError("--target and --target-precision exclude each other; give one of them")
        }
        guard rate != nil || precision != nil || !arguments.has("--write-config") else {
            throw UsageError("--write-config writes proposed thresholds; add --target 0.5/h or --target-precision 0.99")
        }
        return rate ?? precision
    }

    /// Options that `inspect` has too, but `--mode`.
    private static let shared = [
        "--trigger", "--sensitivity", "--threshold", "--word", "--model", "--words", "--wake-word", "--channel",
        "--echo-reference",
    ]

    /// The command that shows a part of a recording as the evaluation met it.
    func inspectCommand(_ part: ErrorPages.Part, mode: DetectionMode) -> String {
        let times = ["--from", decimal(part.from, 1), "--to", decimal(part.to, 1)]
        let words = ["beckon", "inspect", "--mode", mode.rawValue] + inspectOptions + times + [part.path]
        return words.map(ShellWord.quoted).joined(separator: " ")
    }
}

extension OptionValue {
    static let errorCount = OptionValue(
        placeholder: "N|all",
        title: "number",
        synopsis: "Ar number | Cm all",
        completion: .names(["all"]),
        expected: "a number, or all",
        accepts: { $0 == "all" || Int(digits: $0) != nil }
    )

    static let rateTarget = OptionValue(
        placeholder: "N/h",
        title: "rate",
        completion: .nothing,
        expected: "false accepts of a word an hour, such as 0.5/h",
        accepts: { ThresholdTarget(perHour: $0) != nil },
        suggests: { text in
            let rate = text.hasSuffix("/h") ? text : text + "/h"
            if ThresholdTarget(perHour: rate) != nil { return rate }
            return ThresholdTarget(precision: text).map { _ in "--target-precision \(text)" }
        }
    )

    static let precisionTarget = OptionValue(
        placeholder: "P",
        title: "share",
        completion: .nothing,
        expected: "a share from 0.5 to 1, such as 0.99",
        accepts: { ThresholdTarget(precision: $0) != nil },
        suggests: { text in
            guard let number = Double(decimal: text), number > 1, number <= 100 else { return nil }
            return shortest(number / 100)
        }
    )
}
