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
    /// What a loudspeaker played during the hop; empty where it is not asked for.
    var played: [Float] = []
}

/// Scores whole audio files hop by hop: decoder, resampler, network.
///
/// Without lookahead, many hops are computed at once and on several processors; the scores are equal to the last bit.
/// One instance may score several files at the same time.
public final class FileScorer: Sendable {
    public let vocabulary: Vocabulary
    private let lookaheadQuiet: ClosedRange<Double>?
    /// Whether hops have what a loudspeaker played.
    private let hearsPlayed: Bool
    /// Nil where hops have to be scored one by one.
    private let pipeline: ChunkPipeline?

    /// - Parameters:
    ///   - lookaheadQuiet: range of the time since the last sound, in seconds, in which ``ScoredHop/lookahead`` is computed; nil for never.
    ///   - hearsPlayed: whether hops have what a loudspeaker played.
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
        var scorer = HopScorer(vocabulary, lookaheadQuiet: lookaheadQuiet)
        var goesOn = true
        var played = [Float](repeating: 0, count: hearsPlayed ? vocabulary.model.hopSamples : 0)
        while goesOn {
            // `seconds` and `expectedSeconds` belong to this hop only after its block has been read.
            guard try windows.advance() else { return }
            let (seconds, expected) = (windows.stream.seconds, windows.stream.expectedSeconds)
            _ = windows.ring.withWindow { window, _ in
                scorer.score(window: window)
                let hasPlayed = hearsPlayed && windows.ring.copyPlayed(to: &played)
                let hop = ScoredHop(
                    scores: scorer.scores,
                    lookahead: scorer.lookahead,
                    activity: scorer.activity,
                    seconds: seconds,
                    expectedSeconds: expected,
                    played: hasPlayed ? played : []
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
        var handler = PosteriorHandler(settings)
        let model = settings.vocabulary.model
        // Second looks are made ready at the first proposal: most short files have none.
        let look = SecondLook(settings.vocabulary)
        let wakeWords = WakeWordStream(settings.vocabulary.wakeWords)
        let played = settings.marksOwnSpeech ? PlayedWords(settings) : nil
        var last: (activity: ActivityHistory, seconds: Double)?
        func finish() {
            guard let last else { return }
            handler.finish(activity: last.activity, confirmer: look) { report($0.ended(by: last.seconds)) }
        }
        do throws(AudioError) {
            try scorer.forEachHop(of: stream, spare: spare) { hop, window in
                let newest = window.extracting(last: model.hopSamples)
                let time = handler.gate.nextTime
                played?.add(hop.played.span) { handler.played.note($0, at: time) }
                look.add(hop: newest)
                wakeWords?.add(hop: newest) { word, score, before in
                    handler.add(wakeWord: word, score: score, before: before) { report($0.ended(by: hop.seconds)) }
                }
                handler.process(
                    hop.scores,
                    lookahead: hop.lookahead,
                    activity: hop.activity,
                    confirmer: look
                ) { detection in report(detection.ended(by: hop.seconds)) }
                let goesOn = eachHop(hop, window, handler)
                last = goesOn ? (hop.activity, hop.seconds) : nil
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
