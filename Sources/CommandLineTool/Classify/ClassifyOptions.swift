import Audio
private import Core
import Corpus

/// The options of `beckon classify`.
struct ClassifyOptions {
    enum Format: String, CaseIterable { case table, json, csv, records, audacity }

    /// What a file is called that is the audio on standard input.
    static let standardInput = "-"

    private let arguments: Arguments
    var listening: ListeningOptions

    var paths: [String] { arguments.operands }
    /// A file that lists further paths, one per line, or NUL-separated with `-0`; `-` for standard input.
    var list: String? { arguments.value("--files-from") }
    var listIsNulSeparated: Bool { arguments.has("--null") }
    /// The format of the audio on standard input; nil if it has a header.
    var raw: RawFormat? { arguments.value("--raw").flatMap { RawFormat($0) } }
    var clips: Bool { arguments.has("--clips") }
    var format: Format {
        if arguments.has("--json") { return .json }
        if arguments.has("--csv") { return .csv }
        return arguments.choice("--format") ?? output.flatMap(Self.format(ofFile:)) ?? .table
    }
    /// The folder for label tracks, or the file for the results of other formats; nil for standard output.
    var output: String? { arguments.value("--output") }
    /// Whether to go on with the file of results.
    var resumes: Bool { arguments.has("--resume") }
    /// The files to process; nil for all.
    var shard: Shard? { arguments.value("--shard").flatMap { Shard($0) } }
    /// Whether to serve requests on standard input.
    var isWorker: Bool { arguments.has("--worker") }
    var phrases: [String] { arguments.all("--phrase") }
    var stats: Bool { arguments.has("--stats") }

    init(_ arguments: Arguments) throws(UsageError) {
        self.arguments = arguments
        listening = try ListeningOptions(arguments)
        guard isWorker else {
            try checkInput()
            try checkOutput()
            return
        }
        // An engine has many workers.
        if !arguments.has("--jobs") { listening.jobs = 1 }
        let others = [
            "--files-from", "--output", "--resume", "--shard", "--raw", "--stats", "--format", "--json", "--csv",
        ]
        guard paths.isEmpty, !others.contains(where: arguments.has) else {
            throw UsageError(
                "--worker gets files from standard input and answers in JSON; give neither files nor output options"
            )
        }
    }

    /// Whether standard input is audio.
    var readsAudio: Bool { paths.contains(Self.standardInput) }

    private func checkInput() throws(UsageError) {
        let uses = paths.count { $0 == Self.standardInput } + (list == Self.standardInput ? 1 : 0)
        guard uses <= 1 else { throw UsageError("standard input can be read only once; give - once") }
        guard list != nil || !listIsNulSeparated else {
            throw UsageError("--null says how the names of --files-from end; add --files-from - for standard input")
        }
        guard raw == nil || readsAudio else {
            throw UsageError("--raw is the format of audio on standard input; give - for it")
        }
        guard list != nil || !paths.isEmpty else {
            throw UsageError("classify needs a file, a folder, or - for audio on standard input")
        }
    }

    /// The format that the name of a file says; nil for a name that says none.
    private static func format(ofFile path: String) -> Format? {
        switch PathName(path).ending.lowercased() {
        case "csv": .csv
        case "json", "jsonl", "ndjson": .json
        default: nil
        }
    }

    private func checkOutput() throws(UsageError) {
        var formats = ["--json", "--csv"].filter(arguments.has)
        if let format = arguments.value("--format"), !formats.contains("--" + format) {
            formats.append("--format " + format)
        }
        guard formats.count <= 1 else {
            throw UsageError("\(formats.joined(separator: " and ")) exclude each other; give one of them")
        }
        guard output == nil || format != .table else {
            throw UsageError(
                "--output needs a format: a name that ends in .csv or .json, or --format csv, json, records or audacity; a table "
                    + "goes to standard output"
            )
        }
        if let output, format != .audacity, FileWalk.audioEndings.contains(PathName(output).ending.lowercased()) {
            throw UsageError(
                "--output is the file for results, and \(printable(output)) would be a recording; name another file"
            )
        }
        guard !resumes || output != nil && format != .audacity else {
            throw UsageError("--resume continues the file of --output, in --format json, csv or records")
        }
        guard !resumes || !readsAudio else {
            throw UsageError("--resume is for files; audio on standard input begins anew")
        }
        guard !(clips && format == .audacity) else {
            throw UsageError("--clips gives one label per file, which is not a label track; use --json or --format csv")
        }
    }
}

extension OptionValue {
    static let shard = OptionValue(
        placeholder: "I/N",
        title: "part",
        synopsis: "Ar number Ns / Ns Ar count",
        completion: .nothing,
        expected: "a part and the number of parts, such as 3/16",
        accepts: { Shard($0) != nil }
    )
}
