import Core
import JSON
import Spotting

/// The files of one run of `classify`: finds their words and prints them.
struct FileJobs: Sendable {
    let classifier: FileClassifier
    let options: ClassifyOptions
    let destination: Destination
    let batch: Batch
    /// The audio on standard input; nil if it is not read.
    let spool: SpooledAudio?

    /// Processes a file and prints the results.
    ///
    /// - Parameter seconds: receives the seconds of audio read, even if an error ends the work early.
    func run(_ number: Int, _ file: String, _ seconds: inout Double) throws {
        let spooled = file == ClassifyOptions.standardInput ? spool?.path : nil
        let path = spooled ?? file
        if options.format == .records {
            return try record(number, file, path, &seconds)
        }
        do {
            if options.clips {
                let (clip, length) = try classifier.label(of: path, name: file)
                seconds = length
                batch.output.put(destination.format.clip(clip), file: number)
            } else {
                try spot(number, file, path, &seconds)
            }
        } catch {
            guard spooled != nil else { throw error }
            let name = "the audio on standard input"
            throw Failure(
                "\(error)".replacing("audio file '\(path)'", with: name).replacing("'\(path)'", with: name)
            )
        }
    }

    private func spot(_ number: Int, _ file: String, _ path: String, _ seconds: inout Double) throws {
        let stream = try classifier.open(path)
        var track = try destination.track(file: file)
        var count = 0
        func put(_ text: String) {
            if track != nil { track?.write(text) } else { batch.output.put(text, file: number) }
        }
        try classifier.words(in: stream, name: file, spare: batch.spare) { hop in
            seconds = hop.seconds
            batch.progress.report(file: file, seconds: hop.seconds, of: hop.expectedSeconds)
            return !Interrupt.isRequested
        } report: { detection in
            put(destination.format.detection(detection))
            count += 1
        }
        // After Ctrl-C it is incomplete.
        guard !Interrupt.isRequested else { return }
        if count == 0 { put(destination.format.nothing(file: file)) }
        try track?.finish()
    }

    private func record(_ number: Int, _ file: String, _ path: String, _ seconds: inout Double) throws {
        let record = classifier.record(of: path, name: file, spare: batch.spare) { hop in
            batch.progress.report(file: file, seconds: hop.seconds, of: hop.expectedSeconds)
            return !Interrupt.isRequested
        }
        seconds = record.seconds
        // After Ctrl-C it is incomplete.
        guard !Interrupt.isRequested else { return }
        batch.output.put(record.json.line, file: number)
        if let error = record.error { throw Failure(error) }
    }
}
