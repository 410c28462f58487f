private import Core
private import FoundationEssentials
private import Inspection
import Spotting
private import System

/// `beckon inspect FILE`: what the model sees of a recording, as a page to look at or as JSON.
struct Inspect {
    private let options: InspectOptions
    private let vocabulary: Vocabulary
    private let thresholds: Thresholds

    /// Loads the model and looks whether the report can be written, before any work is done.
    init(_ options: InspectOptions) throws {
        self.options = options
        vocabulary = try options.listening.loadVocabulary()
        thresholds = try options.listening.thresholds(for: vocabulary)
        guard let path = options.path, !options.json else { return }
        var isFolder = false
        let manager = FileManager.default
        let exists = manager.fileExists(atPath: path, isDirectory: &isFolder)
        guard !exists || !Self.areSame(path, options.file) else {
            throw Failure("\(printable(path)): the report would replace the recording; name another file with --output")
        }
        let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
        guard !isFolder, manager.isWritableFile(atPath: exists ? path : folder) else {
            throw Failure(
                "\(printable(path)): cannot write the report here; give --output a file in a folder that exists and may "
                    + "be written to"
            )
        }
    }

    /// Does the work. Returns the exit status.
    func run() throws -> Int32 {
        Interrupt.watch()
        let progress = Progress(files: 1, isShown: Terminal.errorIsTerminal)
        let hearing = try RecordingTrace(options, vocabulary: vocabulary, thresholds: thresholds, progress: progress)
        progress.clear()
        if Interrupt.isRequested {
            Terminal.tell(.error, "interrupted; no report was written")
            return 130
        }
        let report = InspectReport(hearing, options: options, vocabulary: vocabulary, thresholds: thresholds)
        if options.json {
            Terminal.output(try report.json + "\n")
        } else {
            try write(InspectPage(report, hearing: hearing, vocabulary: vocabulary, thresholds: thresholds).html)
        }
        if let note = report.note { Terminal.tell(.notice, "\(printable(options.file)): \(note)") }
        guard let problem = hearing.problem else { return 0 }
        Terminal.tell(.error, problem)
        return 1
    }

    private func write(_ html: String) throws {
        guard let path = options.path else {
            Terminal.output(html)
            return
        }
        // A file is replaced as a whole or not at all; a device or a pipe cannot be replaced.
        let kind = try? FileManager.default.attributesOfItem(atPath: path)[.type] as? FileAttributeType
        do {
            let whole = kind == nil || kind == .typeRegular
            try Data(html.utf8).write(to: URL(fileURLWithPath: path), options: whole ? .atomic : [])
        } catch {
            throw Failure("\(printable(path)): cannot write the report; is there room left, and may it be written to?")
        }
        Terminal.output("\(printable(path))\n")
    }

    /// Whether two paths lead to one file, through links too.
    private static func areSame(_ left: String, _ right: String) -> Bool {
        guard let left = try? FileStatus(path: left), let right = try? FileStatus(path: right) else { return false }
        return left.device == right.device && left.inode == right.inode
    }
}
