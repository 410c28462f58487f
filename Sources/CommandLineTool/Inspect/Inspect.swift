private import Core
private import JSON
import Reports
import Spotting
private import System

/// `beckon inspect FILE…`: the model's features and scores over a recording, as an HTML page or as JSON.
struct Inspect {
    private let options: InspectOptions
    private let detector: DetectorSettings
    /// Nil if the page or JSON goes to standard output.
    private let page: ReportFile?
    private let path: String?
    private let pagePath: InspectPagePath

    /// Loads the model, and checks first that the page can be written.
    init(_ arguments: Arguments) throws {
        options = try InspectOptions(arguments)
        detector = try options.listening.detector()
        pagePath = InspectPagePath(options.file)
        guard let named = options.path, !options.json, !options.isMany else {
            (page, path) = (nil, nil)
            return
        }
        let path = options.output == nil ? pagePath.firstFree(named) : named
        self.path = path
        guard !Self.areSame(path, options.file) else {
            throw Failure("\(printable(path)): the report would replace the recording; name another file with --output")
        }
        page =
            options.output == nil
            ? ReportFile(made: path, option: "--output") : try ReportFile(path, option: "--output")
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        guard !options.isMany else { return try InspectPages(options: options, detector: detector).run() }
        Interrupt.watch()
        let progress = Progress(files: 1, isShown: Terminal.errorIsTerminal)
        let trace = try RecordingTrace(options.traceSettings(detector, file: options.file)) {
            progress.report(file: options.file, seconds: $0, of: $1)
            return !Interrupt.isRequested
        }
        progress.clear()
        if Interrupt.isRequested {
            Output.report(.error, "interrupted; no report was written")
            return 130
        }
        let report = InspectReport(trace)
        if options.json {
            Output.write(report.json.line)
        } else if let page, let path {
            try page.write(pagePath.marked(html(report)))
            Output.write("\(printable(path))\n")
        } else {
            Output.write(try html(report))
        }
        if let note = report.note { Output.report(.notice, "\(printable(options.file)): \(note)") }
        guard let problem = trace.problem else { return 0 }
        Output.report(.error, problem)
        return 1
    }

    private func html(_ report: InspectReport) throws -> String {
        var page = InspectPage(report)
        page.hasSound = options.audio
        return try page.html()
    }

    /// Whether two paths are the same file; follows links.
    private static func areSame(_ left: String, _ right: String) -> Bool {
        guard let left = try? FileStatus(path: left), let right = try? FileStatus(path: right) else { return false }
        return left.device == right.device && left.inode == right.inode
    }
}
