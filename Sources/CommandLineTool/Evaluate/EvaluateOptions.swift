import Core
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
    var json: Bool { arguments.has("--json") }
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
        if stream {
            guard !paths.isEmpty else { throw UsageError("evaluate --stream needs a recording or a folder of them") }
            guard list == nil else { throw UsageError("--list names clips; it does not go with --stream") }
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
