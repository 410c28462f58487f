private import Audio
private import Glibc
public import Inference
private import Spotting

/// Speech between two pauses, with a margin before and after.
public struct Utterance: Sendable, Equatable {
    /// Samples per second.
    public static let sampleRate = 16000

    /// Mono at 16 kHz, in [−1, 1].
    public let samples: [Float]
    /// Range of the speech in `samples`, accurate to one step of the activity history.
    public let speech: Range<Int>
    /// Position of the first sample in the audio that it was cut from.
    public internal(set) var start = 0

    /// Duration of the speech in seconds.
    public var seconds: Double { Double(speech.count) / Double(Self.sampleRate) }

    /// The samples in 16 bits, as a ``WordStore`` keeps them.
    public var pcm: [Int16] { samples.map(Int16.init(sample:)) }

    /// Sound at the edges that is so many dB below the upper quarter of the speech is no part of a word; and the steps in which levels are
    /// measured, in samples.
    private static let (edgeDrop, edgeStep): (Float, Int) = (32, 320)

    /// The same without faint noise, such as breath or a keyboard, at both ends of the speech.
    var trimmed: Utterance {
        let places = stride(from: speech.lowerBound, to: speech.upperBound, by: Self.edgeStep)
        let levels = places.map { rms(samples[$0..<min($0 + Self.edgeStep, speech.upperBound)]) }
        guard !levels.isEmpty else { return self }
        // Not the loudest: that may be a click.
        let loud = levels.sorted()[levels.count * 3 / 4]
        let least = loud * powf(10, -Self.edgeDrop / 20)
        guard let first = levels.firstIndex(where: { $0 >= least }), let last = levels.lastIndex(where: { $0 >= least })
        else { return self }
        let end = min(speech.lowerBound + (last + 1) * Self.edgeStep, speech.upperBound)
        return Utterance(samples: samples, speech: speech.lowerBound + first * Self.edgeStep..<end, start: start)
    }

    /// The part within a range of positions, with `start` counted from the range's start; nil without speech.
    fileprivate func clamped(to range: Range<Int>) -> Utterance? {
        let whole = start..<start + samples.count
        let said = (speech.lowerBound + start..<speech.upperBound + start).clamped(to: range)
        let kept = whole.clamped(to: range)
        guard !said.isEmpty else { return nil }
        return Utterance(
            samples: Array(samples[kept.lowerBound - start..<kept.upperBound - start]),
            speech: said.lowerBound - kept.lowerBound..<said.upperBound - kept.lowerBound,
            start: kept.lowerBound - range.lowerBound
        )
    }
}

/// Segments audio into utterances, hop by hop, by voice activity.
public struct UtteranceSegmenter: ~Copyable {
    /// Quiet that ends an utterance, in seconds: longer than the short pauses within a word or a phrase.
    public static let pause = 0.5
    /// Margin kept before and after the speech, in seconds.
    private static let margin = 0.3
    /// Utterances are cut at this length, in seconds.
    private static let longest = 5.0

    private let model: Model
    private var stream: InferenceStream
    private var detector: ActivityDetector
    /// The newest audio; `samples[0]` is at position `start`.
    private var samples: [Float] = []
    private var start = 0
    /// Position of the start of the first active step and of the end of the last.
    private var first: Int?
    private var last = 0

    public init(_ model: Model) {
        self.model = model
        stream = InferenceStream(model)
        detector = ActivityDetector(of: model)
    }

    /// Whether an utterance has begun and not yet ended.
    public var isOpen: Bool { first != nil }

    /// Processes one hop.
    ///
    /// - Parameter window: the newest `windowSamples` samples in [−1, 1]; the last hop is new since the previous call.
    /// - Returns: an utterance, if this hop ends one.
    public mutating func process(window: Span<Float>) -> Utterance? {
        stream.score(window: window)
        let hop = window.extracting(last: model.hopSamples)
        detector.add(hop: hop, logits: stream.activity)
        for index in hop.indices { samples.append(hop[index]) }
        let step = Int((detector.history.stepSeconds * Double(model.sampleRate)).rounded())
        let end = start + samples.count
        let steps = detector.history.newest(model.hopSamples / step)
        for (index, isActive) in steps.enumerated() where isActive {
            last = end - (steps.count - 1 - index) * step
            first = first ?? last - step
        }
        guard let first else {
            dropSamples(before: end - length(Self.margin))
            return nil
        }
        guard end - last >= length(Self.pause) || end - first >= length(Self.longest) else { return nil }
        return close()
    }

    /// Ends the audio and resets the segmenter.
    ///
    /// - Returns: the utterance that was open, if any.
    public mutating func finish() -> Utterance? {
        defer {
            stream.reset()
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
        let kept = Array(samples[from - start..<to - start])
        self.first = nil
        dropSamples(before: to)
        return Utterance(samples: kept, speech: max(0, first - from)..<last - from, start: from)
    }

    private mutating func dropSamples(before position: Int) {
        let count = min(max(0, position - start), samples.count)
        samples.removeFirst(count)
        start += count
    }

    private func length(_ seconds: Double) -> Int { Int(seconds * Double(model.sampleRate)) }

    /// The utterances of a recording.
    ///
    /// - Parameter samples: mono at 16 kHz. Speech at its very start or end has no margin there.
    public static func utterances(of samples: [Float], _ model: Model) -> [Utterance] {
        var segmenter = UtteranceSegmenter(model)
        let hop = model.hopSamples
        var quiet = QuietNoise(level: noiseFloor(samples))
        // Quiet around the recording, so that activity at both ends is detected.
        let lead = hop * 5
        let rest = (hop - samples.count % hop) % hop
        let all = quiet.samples(model.windowSamples) + quiet.samples(lead) + samples + quiet.samples(rest + hop * 7)
        var found: [Utterance] = []
        for end in stride(from: model.windowSamples + hop, through: all.count, by: hop) {
            let utterance = segmenter.process(window: all.span.extracting(end - model.windowSamples..<end))
            if let utterance { found.append(utterance) }
        }
        if let utterance = segmenter.finish() { found.append(utterance) }
        return found.compactMap { $0.clamped(to: lead..<lead + samples.count) }
    }

    /// Those that may be takes: not a click or a breath, which is shorter than a word, unless there is nothing else.
    public static func takes(in samples: [Float], _ model: Model) -> [Utterance] {
        let utterances = utterances(of: samples, model)
        let words = utterances.filter { $0.seconds >= TakeCheck.shortest }
        return words.isEmpty ? utterances : words
    }

    /// The root mean square of the quietest 50 ms of a recording, limited to 0.0002…0.003: even a good microphone in a
    /// quiet room is not below the lower limit.
    static func noiseFloor(_ samples: [Float]) -> Float { min(max(noiseLevel(samples), 2e-4), 3e-3) }

    /// The same without limits; 0 for a recording that is shorter.
    static func noiseLevel(_ samples: [Float]) -> Float {
        let part = 800
        let levels = stride(from: 0, to: samples.count - part + 1, by: part).map { rms(samples[$0..<$0 + part]) }
        return levels.min() ?? 0
    }
}

/// White noise to pad recordings with: the network was not trained on digital silence next to speech.
///
/// Source: Marsaglia's xorshift64 with a fixed seed, so that templates are reproducible.
struct QuietNoise {
    private var state: UInt64 = 0x9E37_79B9_7F4A_7C15
    private let peak: Float

    /// - Parameter level: root mean square.
    init(level: Float) { peak = level * Float(3).squareRoot() }

    mutating func samples(_ count: Int) -> [Float] {
        (0..<max(0, count)).map { _ in
            state ^= state << 13
            state ^= state >> 7
            state ^= state << 17
            return (Float(state >> 40) / Float(1 << 23) - 1) * peak
        }
    }
}

/// Root mean square; 0 without samples.
func rms(_ samples: ArraySlice<Float>) -> Float {
    guard !samples.isEmpty else { return 0 }
    return (samples.reduce(0) { $0 + $1 * $1 } / Float(samples.count)).squareRoot()
}
