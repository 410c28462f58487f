import Audio
import Spotting

/// One file of `classify` through the whole chain: decode, mix, resample, blocks, ring, detector.
struct FileJob {
    let file: String
    let number: Int
    let options: ClassifyOptions
    let vocabulary: Vocabulary
    let thresholds: Thresholds
    let phrases: [Phrase]
    let destination: Destination
    let batch: Batch
    /// Nil where hops have to be heard one by one.
    let line: ChunkPipeline?
    /// Processors for this file.
    let workers: Int

    /// Does the work and prints what it finds.
    ///
    /// - Parameter seconds: counts the audio heard, so that it is right after a failure in the middle too.
    func run(_ seconds: inout Double) throws {
        if options.clips { seconds = try label() } else { try spot(&seconds) }
    }

    private func spot(_ seconds: inout Double) throws {
        let stream = try FileStream(path: file, mix: options.listening.mix)
        let track = try destination.open(file: file)
        let heard =
            if let line,
                let detector = ChunkDetector(
                    vocabulary,
                    settings: options.listening.gate,
                    thresholds: thresholds,
                    phrases: phrases
                )
            {
                try spot(in: line, stream, detector, track, &seconds)
            } else {
                try spot(hopByHop: stream, track, &seconds)
            }
        if heard == 0, !Interrupt.isRequested { put(destination.format.nothing(file: file), track) }
        try track?.finish()
    }

    /// Many hops at a time, on as many processors as are this file's. Returns how much was detected.
    private func spot(
        in line: ChunkPipeline,
        _ stream: consuming FileStream,
        _ detector: consuming ChunkDetector,
        _ track: TrackWriter?,
        _ seconds: inout Double
    ) throws -> Int {
        var heard = 0
        var length = 0.0
        defer { seconds = length }
        let expected = stream.expectedSeconds
        var detector = detector
        try line.run(stream, workers: workers) { part, answers in
            length = part.seconds
            detector.decide(part.piece, answers) { detection in
                report(detection, track, fileLength: length)
                heard += 1
            }
            batch.progress.report(file: file, seconds: length, of: expected)
            return !Interrupt.isRequested
        }
        return heard
    }

    private func spot(
        hopByHop stream: consuming FileStream,
        _ track: TrackWriter?,
        _ seconds: inout Double
    ) throws -> Int {
        var detector = Detector(
            vocabulary,
            settings: options.listening.gate,
            thresholds: thresholds,
            phrases: phrases
        )
        var found: [Detection] = []
        var heard = 0
        while !Interrupt.isRequested,
            try stream.next({ window in detector.process(window: window) { found.append($0) } })
        {
            seconds = stream.seconds
            for detection in found { report(detection, track, fileLength: seconds) }
            heard += found.count
            found.removeAll(keepingCapacity: true)
            batch.progress.report(file: file, seconds: seconds, of: stream.expectedSeconds)
        }
        return heard
    }

    private func report(_ detection: Detection, _ track: TrackWriter?, fileLength: Double) {
        let name = detection.name(labels: vocabulary.labels, phrases: phrases)
        put(destination.format.event(Event(detection, name: name, file: file, fileLength: fileLength)), track)
    }

    private func put(_ text: String, _ track: TrackWriter?) {
        if let track { track.write(text) } else { batch.output.put(text, file: number) }
    }

    /// Gives the file its one label. Returns its length in seconds.
    private func label() throws -> Double {
        var scorer = ClipScorer(vocabulary)
        let (posteriors, seconds) = try scorer.score(file: file, mix: options.listening.mix)
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
