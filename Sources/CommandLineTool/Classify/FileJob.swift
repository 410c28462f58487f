import Audio
import Spotting

/// One file of `classify`: finds its words and prints them.
struct FileJob {
    /// What the file is called in the results.
    let file: String
    /// The file to open if it is not `file`; for audio on standard input.
    let path: String?
    let number: Int
    let options: ClassifyOptions
    let vocabulary: Vocabulary
    let phrases: [Phrase]
    let destination: Destination
    let batch: Batch
    let detector: FileDetector
    /// Threads for this file.
    let workers: Int

    /// Processes the file and prints the results.
    ///
    /// - Parameter seconds: receives the seconds of audio read, even if an error ends the work early.
    func run(_ seconds: inout Double) throws {
        do {
            if options.clips { seconds = try label() } else { try spot(&seconds) }
        } catch let error as AudioError {
            guard let path else { throw error }
            let name = "the audio on standard input"
            throw Failure(
                error.description.replacing("audio file '\(path)'", with: name).replacing("'\(path)'", with: name)
            )
        }
    }

    private func spot(_ seconds: inout Double) throws {
        let stream = try FileStream(path: path ?? file, mix: options.listening.mix)
        let track = try destination.open(file: file)
        var count = 0
        try detector.detect(in: stream, workers: workers) { hop, _, _ in
            seconds = hop.seconds
            batch.progress.report(file: file, seconds: hop.seconds, of: hop.expectedSeconds)
            return !Interrupt.isRequested
        } report: { detection in
            let name = detection.name(labels: vocabulary.labels, phrases: phrases)
            put(
                destination.format.detection(FileDetection(file: file, name: name, detection: detection)),
                track
            )
            count += 1
        }
        if count == 0, !Interrupt.isRequested { put(destination.format.nothing(file: file), track) }
        try track?.finish()
    }

    private func put(_ text: String, _ track: TrackWriter?) {
        if let track { track.write(text) } else { batch.output.put(text, file: number) }
    }

    /// Prints the label of a clip. Returns its length in seconds.
    private func label() throws -> Double {
        var scorer = ClipScorer(vocabulary)
        let (posteriors, seconds) = try scorer.score(file: path ?? file, mix: options.listening.mix)
        let scores = Array(zip(vocabulary.labels, posteriors))
        guard let best = scores.max(by: { $0.1 < $1.1 }) else { return 0 }
        let clip = ClipLabel(
            file: file,
            label: best.0,
            confidence: best.1,
            scores: scores.map { (label: $0.0, score: $0.1) }
        )
        batch.output.put(destination.format.clip(clip), file: number)
        return seconds
    }
}
