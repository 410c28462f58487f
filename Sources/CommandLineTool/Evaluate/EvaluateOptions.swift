/// The options of `beckon evaluate`.
struct EvaluateOptions {
    /// The folder of clips, or the recordings with `--stream`.
    var paths: [String]
    var stream = false
    /// The path of a file that lists the clips to use; nil for all.
    var list: String?
    var json = false
    var html: String?
    /// The longest time after a word's end in which a detection still counts, in seconds.
    var tolerance: Double
    var listening: ListeningOptions

    init(_ arguments: Arguments, processors: Int) throws(UsageError) {
        listening = try ListeningOptions(arguments, processors: processors)
        paths = arguments.operands
        stream = arguments.has("--stream")
        list = arguments.value("--list")
        json = arguments.has("--json")
        html = arguments.value("--html")
        tolerance = arguments.number("--tolerance") ?? 1
        if stream {
            guard !paths.isEmpty else { throw UsageError("evaluate --stream needs a recording or a folder of them") }
            guard list == nil else { throw UsageError("--list names clips; it does not go with --stream") }
        } else {
            guard paths.count == 1 else {
                throw UsageError("evaluate takes one folder of clips, or recordings with --stream")
            }
            for option in ["--mode", "--trigger", "--tolerance", "--words"] where arguments.has(option) {
                throw UsageError("\(option) applies to recordings; it goes with --stream")
            }
        }
    }
}
