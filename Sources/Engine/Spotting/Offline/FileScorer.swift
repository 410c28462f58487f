public import Audio
private import Inference

/// A hop of an audio file and its scores.
public struct ScoredHop: Sendable {
    /// Scores of the hop.
    public let scores: HopScores
    /// The scores that the next hop will have if it stays quiet; nil unless the scorer looks ahead here.
    public let lookahead: HopScores?
    /// Speech or sound activity up to the hop's end.
    public let activity: ActivityHistory
    /// Audio of the file up to the hop's end, in seconds; the silence added after the file's end does not count.
    public let seconds: Double
    /// Length that the file's header promises, in seconds; 0 where it promises none.
    public let expectedSeconds: Double
}

/// Scores whole audio files hop by hop: decoder, resampler, network.
///
/// Without lookahead, many hops are computed at once and on several processors; the scores are equal to the last bit.
/// One instance may score several files at the same time.
public final class FileScorer: Sendable {
    public let vocabulary: Vocabulary
    private let lookaheadQuiet: ClosedRange<Double>?
    /// Whether what a loudspeaker plays is scored too.
    private let hearsPlayed: Bool
    /// Nil where hops have to be scored one by one.
    private let pipeline: ChunkPipeline?

    /// - Parameters:
    ///   - lookaheadQuiet: range of the time since the last sound, in seconds, in which ``ScoredHop/lookahead`` is computed; nil for never.
    ///   - hearsPlayed: whether what a loudspeaker plays is scored too.
    public init(_ vocabulary: Vocabulary, lookaheadQuiet: ClosedRange<Double>? = nil, hearsPlayed: Bool = false) {
        self.vocabulary = vocabulary
        self.lookaheadQuiet = lookaheadQuiet
        self.hearsPlayed = hearsPlayed
        pipeline = lookaheadQuiet == nil && !hearsPlayed ? ChunkPipeline(vocabulary) : nil
    }

    /// Scores a file from its start, and a second of silence after its end, in which the last word is decided.
    ///
    /// - Parameters:
    ///   - spare: threads that may help; the calling one works too.
    ///   - body: gets each hop, and the window of samples that ends with it: `[windowSamples]` at 16 kHz. Returns false to
    ///     stop.
    /// - Throws: what reading the file throws, after `body` got all hops that could be read.
    public func forEachHop(
        of stream: consuming FileStream,
        spare: SpareWorkers = SpareWorkers(),
        _ body: (ScoredHop, Span<Float>) -> Bool
    ) throws(AudioError) {
        if let pipeline {
            try score(stream, by: pipeline, spare: spare, body)
        } else {
            try scoreHopByHop(stream, body)
        }
    }

    private func score(
        _ stream: consuming FileStream,
        by pipeline: ChunkPipeline,
        spare: SpareWorkers,
        _ body: (ScoredHop, Span<Float>) -> Bool
    ) throws(AudioError) {
        var hops = ChunkHops(vocabulary)
        let model = vocabulary.model
        var count = 0
        try pipeline.run(stream, spare: spare) { chunk, scores in
            hops.forEach(of: chunk.audio, scores) { scores, activity, window in
                count += 1
                let hop = ScoredHop(
                    scores: scores,
                    lookahead: nil,
                    activity: activity,
                    seconds: min(Double(count * model.hopSamples) / Double(model.sampleRate), chunk.seconds),
                    expectedSeconds: chunk.expectedSeconds
                )
                return body(hop, window)
            }
        }
    }

    private func scoreHopByHop(
        _ stream: consuming FileStream,
        _ body: (ScoredHop, Span<Float>) -> Bool
    ) throws(AudioError) {
        var windows = try FileWindows(stream)
        var scorer = HopScorer(vocabulary, lookaheadQuiet: lookaheadQuiet, hearsPlayed: hearsPlayed)
        var goesOn = true
        var played = [Float](repeating: 0, count: hearsPlayed ? vocabulary.model.hopSamples : 0)
        while goesOn {
            // `seconds` and `expectedSeconds` belong to this hop only after its block has been read.
            guard try windows.advance() else { return }
            let (seconds, expected) = (windows.stream.seconds, windows.stream.expectedSeconds)
            _ = windows.ring.withWindow { window, _ in
                let hasPlayed = hearsPlayed && windows.ring.copyPlayed(to: &played)
                scorer.score(window: window, played: played.span.extracting(first: hasPlayed ? played.count : 0))
                let hop = ScoredHop(
                    scores: scorer.scores,
                    lookahead: scorer.lookahead,
                    activity: scorer.activity,
                    seconds: seconds,
                    expectedSeconds: expected
                )
                goesOn = body(hop, window)
            }
        }
    }
}

/// Detects the words of whole audio files: a ``FileScorer``, then smoother, gate and phrases.
///
/// The detections are those of a ``Detector`` that gets the file as a stream. One instance may work on several files at
/// the same time.
public struct FileDetector: Sendable {
    public let settings: DetectorSettings
    private let scorer: FileScorer

    public init(_ settings: DetectorSettings) {
        self.settings = settings
        scorer = FileScorer(
            settings.vocabulary,
            lookaheadQuiet: settings.lookaheadQuiet,
            hearsPlayed: settings.marksOwnSpeech
        )
    }

    /// Detects the words of a file from its start to its end.
    ///
    /// - Parameters:
    ///   - spare: threads that may help; the calling one works too.
    ///   - eachHop: called after each hop with the hop, its window of samples, and the handler, which shows the state
    ///     of smoother and gate. Returns false to stop. Use it to show progress, to cancel, or to trace the detector.
    ///   - report: called for each detection before `eachHop` of its hop. Start and end lie within the file, although a
    ///     word may be decided in the silence after it. What is pending after the last hop is decided then, unless `eachHop`
    ///     stopped it.
    /// - Throws: what reading the file throws, after all hops that could be read are processed.
    public func detect(
        in stream: consuming FileStream,
        spare: SpareWorkers = SpareWorkers(),
        eachHop: (ScoredHop, Span<Float>, PosteriorHandler) -> Bool = { _, _, _ in true },
        report: (Detection) -> Void
    ) throws(AudioError) {
        // Second looks are made ready at the first proposal: most short files have none.
        var words = WordStream(settings)
        let hopSamples = settings.vocabulary.model.hopSamples
        var seconds: Double?
        func finish() {
            guard let seconds else { return }
            words.finish { report($0.ended(by: seconds)) }
        }
        do throws(AudioError) {
            try scorer.forEachHop(of: stream, spare: spare) { hop, window in
                words.add(
                    hop.scores,
                    lookahead: hop.lookahead,
                    activity: hop.activity,
                    hop: window.extracting(last: hopSamples)
                ) { report($0.ended(by: hop.seconds)) }
                let goesOn = eachHop(hop, window, words.handler)
                seconds = goesOn ? hop.seconds : nil
                return goesOn
            }
        } catch {
            finish()
            throw error
        }
        finish()
    }

    /// All detections of a file.
    ///
    /// - Parameter mix: how the channels of the file become one.
    /// - Throws: what opening and reading the file throw; detections from before the error are then lost.
    public func detections(
        in path: String,
        mix: ChannelMix = .mix,
        spare: SpareWorkers = SpareWorkers()
    ) throws(AudioError) -> [Detection] {
        var found: [Detection] = []
        try detect(in: FileStream(path: path, mix: mix), spare: spare) { found.append($0) }
        return found
    }
}

extension Detection {
    /// The same detection with start and end no later than the end of the audio, in seconds.
    fileprivate func ended(by length: Double) -> Detection {
        var detection = self
        (detection.start, detection.end) = (min(start, length), min(end, length))
        return detection
    }
}
