private import Core
import Reports
import Spotting
private import System

/// The options of `beckon inspect`.
struct InspectOptions {
    private let arguments: Arguments
    /// The recordings, and folders of them.
    var paths: [String] { arguments.operands }
    /// The only recording, or the first path of several.
    let file: String
    /// Whether there may be several recordings, which get an index page.
    let isMany: Bool
    /// The folder of the pages of several recordings.
    var folder: String { output ?? "inspect" }
    /// The start in seconds, rounded down to a hop (0.1 s).
    let from: Double
    /// The end in seconds, rounded up to a hop (0.1 s); nil for the file's end.
    let to: Double?
    let listening: ListeningOptions
    /// The longest part that one report shows, in seconds.
    private static let longest = 300.0

    /// Nil for the recording's name with the extension `html`, in the current folder; `-` for standard output.
    var output: String? { arguments.value("--output") }
    var json: Bool { arguments.has("--json") }
    /// Embed the sound in the page.
    var audio: Bool { arguments.has("--audio") }

    init(_ arguments: Arguments) throws(UsageError) {
        self.arguments = arguments
        guard let file = arguments.operands.first else {
            throw UsageError("inspect needs a recording, or a folder of them")
        }
        if let page = arguments.operands.last, arguments.operands.count > 1, page.hasSuffix(".html") {
            let page = printable(page)
            throw UsageError("\(page) is no recording; did you mean --output \(ShellWord.quoted(page))?")
        }
        self.file = file
        isMany = arguments.operands.count > 1 || isFolder(file)
        listening = try ListeningOptions(arguments)
        // The epsilon keeps a multiple of 0.1 at its hop, although binary floating point does not hold it exactly.
        from = arguments.number("--from").map { ($0 * 10 + 1e-6).rounded(.down) / 10 } ?? 0
        to = arguments.number("--to").map { ($0 * 10 - 1e-6).rounded(.up) / 10 }
        guard !json || !audio else { throw UsageError("--audio embeds the sound in the page; --json writes no page") }
        guard output == nil || !json else {
            throw UsageError("--json prints to standard output, in place of the report that --output names")
        }
        guard output != "" else { throw UsageError("--output needs the name of a file, or - for standard output") }
        if isMany, let output, output.hasSuffix(".html"), !isFolder(output) {
            throw UsageError(
                "--output names the folder of the pages of several recordings, not a page as \(printable(output))"
            )
        }
        guard !isMany || output != "-" else {
            throw UsageError("several pages do not fit standard output; name a folder with --output, or give --json")
        }
        if let to {
            guard to > from else { throw UsageError("--to must lie after --from") }
            guard to - from <= Self.longest + 0.05 else {
                throw UsageError("a report shows at most 300 seconds; choose --from and --to closer together")
            }
        }
    }

    func traceSettings(_ detector: DetectorSettings, file: String) -> RecordingTrace.Settings {
        RecordingTrace.Settings(file: file, detector, mix: listening.mix, from: from, to: to)
    }

    /// The path of the report; nil for standard output.
    var path: String? {
        if output == "-" { return nil }
        if let output { return output }
        let name = file.split(separator: "/").last.map(String.init) ?? file
        let stem = name.lastIndex(of: ".").map { $0 == name.startIndex ? name[...] : name[..<$0] } ?? name[...]
        return FileName.shown(String(stem)) + ".html"
    }
}
