public import Inference
private import Spotting

/// Cuts audio into utterances, hop by hop: from a stretch of speech to the pause that ends it.
///
/// Where there is speech is told by the model's activity layer, or by level where it has none.
public struct UtteranceCutter: ~Copyable {
    /// Quiet that ends an utterance, in seconds: longer than the closures and breaths within a word or a phrase.
    public static let pause = 0.5
    /// What is kept before and after the speech, in seconds.
    static let margin = 0.3
    /// Utterances are cut off here, in seconds; nobody names anything as long.
    static let longest = 5.0

    private let model: Model
    private var session: Session
    private var detector: ActivityDetector
    /// What was heard lately; `samples[0]` is sample number `start` of all.
    private var samples: [Float] = []
    private var start = 0
    /// First and last step of the speech, as their ends in samples from the beginning.
    private var first: Int?
    private var last = 0

    public init(_ model: Model) {
        self.model = model
        session = Session(model)
        detector = ActivityDetector(of: model)
    }

    /// Whether somebody is just speaking, or has just stopped.
    public var isOpen: Bool { first != nil }

    /// Hears one hop more.
    ///
    /// - Parameter window: the last second; the last hop of it is new since the call before.
    /// - Returns: an utterance, if this hop ends one.
    public mutating func hear(window: Span<Float>) -> Utterance? {
        session.score(window: window)
        let hop = window.extracting(last: model.hopSamples)
        detector.add(hop: hop, logits: session.activity)
        for index in hop.indices { samples.append(hop[index]) }
        let step = Int((detector.history.stepSeconds * Double(model.sampleRate)).rounded())
        let end = start + samples.count
        let sounds = detector.history.newest(model.hopSamples / step)
        for (index, isSound) in sounds.enumerated() where isSound {
            last = end - (sounds.count - 1 - index) * step
            first = first ?? last - step
        }
        guard let first else {
            keep(from: end - length(Self.margin))
            return nil
        }
        guard end - last >= length(Self.pause) || end - first >= length(Self.longest) else { return nil }
        return close()
    }

    /// The utterance that has not ended yet, if there is one; the cutter is then as new.
    public mutating func finish() -> Utterance? {
        defer {
            session.reset()
            detector.flush()
            samples = []
            start = 0
        }
        return first == nil ? nil : close()
    }

    private mutating func close() -> Utterance? {
        guard let first else { return nil }
        let from = max(start, first - length(Self.margin))
        let to = min(start + samples.count, last + length(Self.margin))
        let piece = Array(samples[from - start..<to - start])
        self.first = nil
        keep(from: to)
        return Utterance(samples: piece, speech: max(0, first - from)..<last - from, start: from)
    }

    private mutating func keep(from position: Int) {
        let count = min(max(0, position - start), samples.count)
        samples.removeFirst(count)
        start += count
    }

    private func length(_ seconds: Double) -> Int { Int(seconds * Double(model.sampleRate)) }

    /// The utterances of a recording.
    ///
    /// - Parameter samples: mono at 16 kHz. What is said in its first or last moment stands there without a margin.
    public static func utterances(of samples: [Float], _ model: Model) -> [Utterance] {
        var cutter = UtteranceCutter(model)
        let hop = model.hopSamples
        var quiet = QuietNoise(level: floor(samples))
        // Heard before it begins and after it ends, so that both ends can be told.
        let lead = hop * 5
        let rest = (hop - samples.count % hop) % hop
        let all = quiet.samples(model.windowSamples) + quiet.samples(lead) + samples + quiet.samples(rest + hop * 7)
        var found: [Utterance] = []
        for end in stride(from: model.windowSamples + hop, through: all.count, by: hop) {
            let utterance = cutter.hear(window: all.span.extracting(end - model.windowSamples..<end))
            if let utterance { found.append(utterance) }
        }
        if let utterance = cutter.finish() { found.append(utterance) }
        return found.compactMap { $0.clamped(to: lead..<lead + samples.count) }
    }

    /// The level of the quietest part of a recording, and not less than what a good microphone has in a quiet room.
    static func floor(_ samples: [Float]) -> Float {
        let part = 800
        let levels = stride(from: 0, to: samples.count - part + 1, by: part).map { level(samples[$0..<$0 + part]) }
        return min(max(levels.min() ?? 0, 2e-4), 3e-3)
    }
}
