import Inference

/// One of the streams of a ``BatchDetector``: its newest samples, and its own smoother, gate and phrase matcher.
///
/// All its memory is allocated when it is made, and again when other words or another model need more.
public final class DetectorStream {
    /// Samples of the next hop that are there already.
    private var filled = 0
    /// Hops that were processed.
    private var hops = 0

    fileprivate var network: BatchStream
    /// The stream in the batch before, which scores until the network's window holds a second of audio; see ``BatchDetector``.
    fileprivate var former: BatchStream?
    /// Hops until then.
    fileprivate var hopsToFill = 0
    fileprivate var scorers: WordScorers
    fileprivate var words: WordStream
    /// The settings and the network's batch that it was adapted to; see ``BatchDetector``.
    fileprivate var generation: Int
    fileprivate var batchGeneration: Int

    /// The end of the hop before, as far as the next one needs it, then the next hop.
    private var window: UnsafeMutableBufferPointer<Float>
    private let hopSamples: Int

    fileprivate init(_ network: BatchStream, _ batch: borrowing BatchDetector) {
        self.network = network
        scorers = WordScorers(batch.settings.vocabulary)
        words = WordStream(batch.settings)
        generation = batch.generation
        batchGeneration = batch.batchGeneration
        hopSamples = batch.settings.vocabulary.model.hopSamples
        window = .allocate(capacity: batch.newestSamples)
        window.initialize(repeating: 0)
    }

    deinit { window.deallocate() }

    /// Whether the next hop is complete, and waits for ``BatchDetector/process(_:report:)``.
    public var isComplete: Bool { filled == hopSamples }

    /// Time of the newest hop's end, in seconds since the stream was made: the time of its detections.
    public var time: Double { Double(hops) * HopScorer.hopSeconds(of: words.settings.vocabulary.model) }

    /// Samples since the stream was made, those of the next hop included.
    public var sampleCount: Int { hops * hopSamples + filled }

    /// Smoothed scores of the newest hop, `[labels]`. Allocates.
    public var scores: [Float] { words.handler.scoresOfAll }

    /// Appends samples of the next hop.
    ///
    /// - Parameter body: gets the room that the hop has left, and returns the number of samples that it wrote to its beginning.
    public func fill(_ body: (UnsafeMutableBufferPointer<Float>) -> Int) {
        let room = UnsafeMutableBufferPointer(rebasing: window.suffix(hopSamples - filled))
        filled += max(0, min(room.count, body(room)))
    }

    /// Whether the audio ends with the next hop: what is pending after it is decided then.
    public var endsWithHop = false

    /// What the newest hop's posteriors are taken from.
    fileprivate var scoring: BatchStream { former ?? network }

    /// The samples that the network reads.
    fileprivate var samples: UnsafeBufferPointer<Float> { UnsafeBufferPointer(window) }

    /// The newest hop.
    fileprivate var hop: UnsafeBufferPointer<Float> {
        UnsafeBufferPointer(rebasing: UnsafeBufferPointer(window).suffix(hopSamples))
    }

    /// The samples of the next hop that are there already.
    fileprivate var pendingSamples: [Float] { Array(hop.prefix(filled)) }

    /// Makes room for the next hop, after this one was scored.
    fileprivate func shift() {
        filled = 0
        endsWithHop = false
        hops += 1
        hopsToFill = max(0, hopsToFill - 1)
        if hopsToFill == 0 { former = nil }
        guard let base = window.baseAddress else { return }
        base.update(from: base + hopSamples, count: window.count - hopSamples)
    }

    /// Begins again with silence in the window.
    fileprivate func silence(samples count: Int) {
        filled = 0
        endsWithHop = false
        former = nil
        if window.count != count {
            window.deallocate()
            window = .allocate(capacity: count)
        }
        window.initialize(repeating: 0)
        words.flush()
        scorers.flush()
    }
}

/// Detects words and phrases in many live streams, one hop of each at a time: for servers with many microphones.
///
/// The network scores the streams of a call together, see ``StreamBatch``. A stream's detections equal those of a ``Detector`` of
/// its own with the same settings, but without lookahead, which only the mode `command` uses. One thread owns a batch and its
/// streams.
public struct BatchDetector: ~Copyable {
    public private(set) var settings: DetectorSettings
    private var batch: StreamBatch
    /// The batch before, if it was of the same model: its streams go on in it until their windows in the new one are full.
    private var formerBatch: StreamBatch?
    /// How often there was a second look at proposals of all streams, and how often no word was found then.
    public private(set) var looks = 0
    public private(set) var refusals = 0
    /// Counts changes of the settings; a stream adapts to them before its next hop.
    fileprivate private(set) var generation = 0
    /// Counts the network's batches.
    fileprivate private(set) var batchGeneration = 0

    public init(_ settings: DetectorSettings) {
        self.settings = settings
        batch = StreamBatch(settings.vocabulary.model, embeds: settings.vocabulary.embeds)
        settings.vocabulary.reserveLooks()
    }

    fileprivate var newestSamples: Int { batch.newestSamples }

    /// Applies other settings from each stream's next hop on. Streams keep their state. The first taught word needs more of the network:
    /// a second of each stream is scored with and without it, so that nothing is lost. With another model they begin again with
    /// silence in the window.
    ///
    /// - Parameter new: their vocabulary's model must have the same hop length.
    public mutating func update(_ new: DetectorSettings) {
        let (vocabulary, old) = (new.vocabulary, settings.vocabulary)
        if vocabulary.model !== old.model || vocabulary.embeds != old.embeds {
            var other = StreamBatch(vocabulary.model, embeds: vocabulary.embeds)
            swap(&batch, &other)
            formerBatch = consume other
            if vocabulary.model !== old.model { formerBatch = nil }
            batchGeneration += 1
        }
        if vocabulary !== old { vocabulary.reserveLooks() }
        settings = new
        generation += 1
    }

    /// A new stream, with silence in its window.
    public mutating func makeStream() -> DetectorStream {
        DetectorStream(batch.makeStream(), self)
    }

    /// Begins a stream again, with silence in its window; its time goes on.
    public mutating func reset(_ stream: DetectorStream) {
        adapt(stream)
        batch.reset(stream.network)
        stream.silence(samples: batch.newestSamples)
    }

    /// Processes one hop of each of these streams, which must be complete; none may occur twice.
    ///
    /// - Parameter report: called for each detection, with the index of its stream, in the order of
    ///   ``PosteriorHandler/process(_:lookahead:activity:looks:report:)``.
    public mutating func process(_ streams: [DetectorStream], report: (Int, Detection) -> Void) {
        for stream in streams { adapt(stream) }
        batch.score(streams.map(\.network)) { streams[$0].samples }
        let filling = streams.filter { $0.former != nil }
        if !filling.isEmpty { formerBatch?.score(filling.compactMap(\.former)) { filling[$0].samples } }
        for (index, stream) in streams.enumerated() {
            stream.scorers.add(
                hop: stream.hop.span,
                logits: stream.scoring.activity,
                embedding: settings.vocabulary.embeds ? stream.network.embedding : []
            )
            let (looks, refusals) = (stream.words.handler.looks, stream.words.handler.refusals)
            stream.words.add(
                HopScores(posteriors: stream.scoring.posteriors, words: stream.scorers.scores),
                activity: stream.scorers.activity,
                hop: stream.hop.span
            ) { report(index, $0) }
            if stream.endsWithHop { stream.words.finish { report(index, $0) } }
            self.looks += stream.words.handler.looks - looks
            self.refusals += stream.words.handler.refusals - refusals
            stream.shift()
        }
    }

    /// Applies the settings in force to a stream that was made or adapted under others.
    private mutating func adapt(_ stream: DetectorStream) {
        guard stream.generation != generation else { return }
        stream.generation = generation
        let vocabulary = settings.vocabulary
        if vocabulary !== stream.words.settings.vocabulary { stream.scorers.update(vocabulary) }
        _ = stream.words.adapt(to: settings)
        guard stream.batchGeneration != batchGeneration else { return }
        let isOneBehind = stream.batchGeneration + 1 == batchGeneration
        stream.batchGeneration = batchGeneration
        if isOneBehind, formerBatch != nil, stream.former == nil {
            stream.former = stream.network
            stream.hopsToFill = vocabulary.model.windowSamples / vocabulary.model.hopSamples
            stream.network = batch.makeStream()
            return
        }
        stream.network = batch.makeStream()
        let kept = stream.pendingSamples
        stream.silence(samples: batch.newestSamples)
        stream.fill { room in
            for index in kept.indices { room[index] = kept[index] }
            return kept.count
        }
    }
}
