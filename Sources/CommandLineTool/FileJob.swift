import Audio
import Inference
import Spotting

/// One file of `classify` through the whole chain: decode, mix, resample, blocks, ring, detector.
struct FileJob {
    let file: String
    let number: Int
    let options: ClassifyOptions
    let model: Model
    let thresholds: Thresholds
    let phrases: [Phrase]
    let destination: Destination
    let batch: Batch

    /// Does the work and prints what it finds.
    ///
    /// - Parameter seconds: counts the audio heard, so that it is right after a failure in the middle too.
    func run(_ seconds: inout Double) throws {
        if options.clips { seconds = try label() } else { try spot(&seconds) }
    }

    private func spot(_ seconds: inout Double) throws {
        var stream = try FileStream(path: file, mix: options.listening.mix)
        var detector = Detector(
            model: model,
            settings: options.listening.gate,
            thresholds: thresholds,
            phrases: phrases
        )
        let sink = try destination.open(file: file)
        defer { sink.close() }
        var found: [Detection] = []
        var heard = 0
        while !Interrupt.isRequested,
            try stream.next({ window in detector.hear(window: window) { found.append($0) } })
        {
            seconds = stream.seconds
            for detection in found {
                let event = Event(detection, name: detector.name(of: detection), file: file, fileLength: seconds)
                put(destination.format.event(event), sink)
            }
            heard += found.count
            found.removeAll(keepingCapacity: true)
            batch.progress.report(file: file, seconds: seconds, of: stream.expectedSeconds)
        }
        if heard == 0, !Interrupt.isRequested { put(destination.format.nothing(file: file), sink) }
    }

    private func put(_ text: String, _ sink: Destination.Sink) {
        if sink.isShared { batch.output.put(text, file: number) } else { sink.write(text) }
    }

    /// Gives the file its one label. Returns its length in seconds.
    private func label() throws -> Double {
        var scorer = ClipScorer(model)
        let (posteriors, seconds) = try scorer.score(file: file, mix: options.listening.mix)
        let scores = Array(zip(model.labels, posteriors))
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
