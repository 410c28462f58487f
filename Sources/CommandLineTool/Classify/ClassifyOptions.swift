import Audio

/// The options of `beckon classify`.
struct ClassifyOptions {
    enum Format: String, CaseIterable { case table, json, csv, audacity }

    /// What a file is called that is the audio on standard input.
    static let standardInput = "-"

    var paths: [String]
    /// A file that lists further paths, one per line, or NUL-separated with `-0`; `-` for standard input.
    var list: String?
    var listIsNulSeparated = false
    /// The format of the audio on standard input; nil if it has a header.
    var raw: RawFormat?
    var clips = false
    var format = Format.table
    var outputFolder: String?
    var phrases: [String] = []
    var stats = false
    var listening: ListeningOptions

    init(_ arguments: Arguments, processors: Int) throws(UsageError) {
        listening = try ListeningOptions(arguments, processors: processors)
        paths = arguments.operands
        list = arguments.value("--files-from")
        listIsNulSeparated = arguments.has("--null")
        raw = arguments.value("--raw").flatMap { RawFormat($0) }
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

    /// Whether standard input is audio.
    var readsAudio: Bool { paths.contains(Self.standardInput) }
}
