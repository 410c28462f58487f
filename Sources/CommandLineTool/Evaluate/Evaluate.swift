private import Core
import Evaluation
private import FoundationEssentials
import Inference
import Spotting

/// `beckon evaluate`: how well a model hears, measured on recordings of which it is known what is said in them.
struct Evaluate {
    let options: EvaluateOptions
    let vocabulary: Vocabulary
    let thresholds: Thresholds
    let labels: LabelSet
    var model: Model { vocabulary.model }

    /// Loads the model and looks whether the report can be written, before any work is done.
    init(_ options: EvaluateOptions) throws {
        self.options = options
        vocabulary = try options.stream ? options.listening.loadVocabulary() : Vocabulary(options.listening.loadModel())
        thresholds = try options.listening.thresholds(for: vocabulary)
        labels = LabelSet(vocabulary.labels)
        guard let html = options.html else { return }
        var isFolder = false
        let exists = FileManager.default.fileExists(atPath: html, isDirectory: &isFolder)
        let folder = URL(fileURLWithPath: html).deletingLastPathComponent().path
        guard !(exists && isFolder), FileManager.default.isWritableFile(atPath: exists ? html : folder) else {
            throw Failure(
                "\(printable(html)): cannot write the report here; give --html a file in a folder that exists"
            )
        }
    }

    /// Does the work. Returns the exit status.
    func run() throws -> Int32 { try options.stream ? runStreams() : runClips() }

    /// Prints a report as the user wants it, and writes its page if there is to be one.
    func show(_ report: some Encodable, text: String, html: () -> String) throws {
        if options.json {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            Terminal.output(String(decoding: try encoder.encode(report), as: UTF8.self) + "\n")
        } else {
            Terminal.output(text)
        }
        guard let path = options.html else { return }
        do {
            try Data(html().utf8).write(to: URL(fileURLWithPath: path))
        } catch {
            throw Failure("\(printable(path)): cannot write the report here; is there room on the disk?")
        }
    }
}
