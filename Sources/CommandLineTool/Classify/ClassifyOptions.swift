/// The options of `beckon classify`.
struct ClassifyOptions {
    enum Format: String, CaseIterable { case table, json, csv, audacity }

    var paths: [String] = []
    /// The operand `-` was given: paths come from standard input too, one per line, or NUL-separated with `-0`.
    var readsList = false
    var listIsNulSeparated = false
    var clips = false
    var format = Format.table
    var outputFolder: String?
    var phrases: [String] = []
    var stats = false
    var listening: ListeningOptions

    init(_ arguments: Arguments, processors: Int) throws(UsageError) {
        listening = try ListeningOptions(arguments, processors: processors)
        for operand in arguments.operands {
            if operand == "-" { readsList = true } else { paths.append(operand) }
        }
        listIsNulSeparated = arguments.has("--null")
        // `-0` implies that a list is read.
        if listIsNulSeparated { readsList = true }
        guard readsList || !paths.isEmpty else {
            throw UsageError("classify needs a file, a folder, or - for a list on standard input")
        }
        clips = arguments.has("--clips")
        stats = arguments.has("--stats")
        outputFolder = arguments.value("--output")
        phrases = arguments.all("--phrase")
        format = arguments.has("--json") ? .json : arguments.choice("--format") ?? .table
        guard outputFolder == nil || format == .audacity else {
            throw UsageError("--output goes with --format audacity; redirect the other formats")
        }
        guard !(clips && format == .audacity) else {
            throw UsageError("--clips gives one label per file, which is not a label track; use --json or --format csv")
        }
    }
}
