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
    var phrases: [String] = []
    var stats = false
    var listening: ListeningOptions

    static let options: [Arguments.Option] =
        ListeningOptions.options + [
            ListeningOptions.wordsOption,
            .init("--clips"), .init("--json"), .init("--format", short: "-f", takesValue: true),
            .init("--output", short: "-o", takesValue: true), .init("--phrase", takesValue: true),
            .init("--null", short: "-0"), .init("--stats"),
        ]

    init(_ arguments: Arguments, processors: Int) throws(UsageError) {
        listening = try ListeningOptions(arguments, processors: processors)
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
        outputFolder = arguments.value("--output")
        phrases = arguments.all("--phrase")
        if let name = arguments.value("--format") { format = try arguments.choice(name, "--format") }
        if arguments.has("--json") { format = .json }
        guard outputFolder == nil || format == .audacity else {
            throw UsageError("--output goes with --format audacity; redirect the other formats")
        }
        guard !(clips && format == .audacity) else {
            throw UsageError("--clips gives one label a file, which is no label track; use --json or --format csv")
        }
    }
}
