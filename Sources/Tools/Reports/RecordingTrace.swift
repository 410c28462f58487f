public import Audio
private import Core
import Diagnostics
private import Inference
public import Spotting

/// A recording and the output of each part of the chain, hop by hop: samples, features, scores, state of the gate, words.
public struct RecordingTrace: Sendable {
    /// The file, the part of it to trace, and the settings of the detector.
    public struct Settings: Sendable {
        public var file: String
        public var detector: DetectorSettings
        /// Channels of the file to mix into one.
        public var mix: ChannelMix
        /// Start of the part in seconds, a whole number of hops.
        public var from: Double
        /// End of the part in seconds, a whole number of hops; nil for the file's end, at most `longest` after `from`.
        public var to: Double?
        /// Longest part in seconds, where `to` is nil.
        public var longest = 300.0

        public init(
            file: String,
            _ detector: DetectorSettings,
            mix: ChannelMix = .mix,
            from: Double = 0,
            to: Double? = nil
        ) {
            self.file = file
            self.detector = detector
            self.mix = mix
            self.from = from
            self.to = to
        }
    }

    /// One hop of 100 ms.
    struct Hop {
        /// End of the hop, in seconds from the file's start.
        let time: Double
        /// Smoothed scores, `[labels]`; of a wake word with a model of its own, the newest.
        let scores: [Float]
        /// Whether each activity step was speech, or sound where the model has no activity layer; oldest first.
        let sounds: [Bool]
        let inSpeech: Bool
        /// Labels that fired and have not been re-armed.
        let refractory: [Int]
        /// What confirming networks answered to a word that was proposed and did not fire; nil where they did not look.
        let refusal: Verdict?
        /// Label of the word that fired at this hop; nil where none did.
        fileprivate(set) var fired: Int?
    }

    /// A word that was detected.
    struct Word {
        let name: String
        let confidence: Float
        /// Where networks confirmed it: its score in the streaming network, and their posterior.
        let proposed: Float?
        let confirmed: Float?
        /// Estimated bounds and decision time, in seconds from the file's start.
        let start: Double
        let end: Double
        let time: Double

        /// Both parts of its confidence; nil where no network confirmed it.
        var parts: String? {
            guard let proposed, let confirmed else { return nil }
            return "proposed \(percent(proposed)), confirmed \(percent(confirmed))"
        }
    }

    let settings: Settings
    var vocabulary: Vocabulary { settings.detector.vocabulary }
    /// Container and coding of the file.
    let format: String
    let sampleRate: Int
    let channels: Int
    /// Channels, from 0, that are mixed into the model's input.
    let usedChannels: [Int]
    /// End of the traced part, in seconds from the file's start, without the silence added after the file's end.
    private(set) var to: Double
    /// Whether the file goes on after `to`.
    private(set) var isCut = false
    /// The model's input: one channel at 16 kHz.
    private(set) var samples: [Float] = []
    /// Output of the front end, `[columns × bands]`; empty where it has no bands.
    private(set) var columns: [Float] = []
    private(set) var hops: [Hop] = []
    private(set) var words: [Word] = []
    /// Statistics of each used channel, before mixing and resampling.
    private(set) var statistics: [SampleStatistics] = []
    /// What is corrected in their mix.
    private(set) var faults = ChannelFaults()
    /// Why the file could not be read to its end; nil where it could.
    public private(set) var problem: String?

    var file: String { settings.file }
    var from: Double { settings.from }

    /// Whether each activity step was active, the length of a step, and the time at which the first one begins, in seconds.
    var activity: (steps: [Bool], stepSeconds: Double, start: Double) {
        let steps = hops.flatMap(\.sounds)
        guard let last = hops.last, !steps.isEmpty else { return ([], 0.025, from) }
        let length = HopScorer.hopSeconds(of: vocabulary.model) * Double(hops.count) / Double(steps.count)
        return (steps, length, last.time - length * Double(steps.count))
    }

    /// Runs the detector over a file from its start, and keeps the hops of the requested part.
    ///
    /// - Parameter progress: called after each hop with the seconds read and those expected (0: unknown); false stops.
    /// - Throws: `AudioError` where the file cannot be opened or nothing can be read; a later failure is kept in `problem`.
    ///   ``ReportError`` where the file ends before the part begins.
    public init(
        _ settings: Settings,
        progress: (_ seconds: Double, _ expectedSeconds: Double) -> Bool = { _, _ in true }
    ) throws {
        var isCancelled = false
        let traces = try Self.traces([settings]) { seconds, expected in
            isCancelled = !progress(seconds, expected)
            return !isCancelled
        }
        self = traces[0]
        guard samples.isEmpty, !isCancelled else { return }
        throw ReportError(
            description: "\(printable(file)): the recording ends before --from \(decimal(from, 1)) seconds"
        )
    }

    /// Traces several parts of one file in one pass; all settings but `from` and `to` are those of the first part.
    ///
    /// - Returns: a trace for each part; one without samples where the file ends before it, or `progress` stopped.
    /// - Throws: as `init`.
    public static func traces(
        _ parts: [Settings],
        progress: (_ seconds: Double, _ expectedSeconds: Double) -> Bool = { _, _ in true }
    ) throws -> [RecordingTrace] {
        guard let settings = parts.first else { return [] }
        let source = try AudioFile(path: settings.file)
        var traces = parts.map { RecordingTrace($0, source) }
        do {
            try detect(&traces, progress)
        } catch {
            guard traces.contains(where: { !$0.samples.isEmpty }) else { throw error }
            for index in traces.indices { traces[index].problem = "\(error)" }
        }
        try? measureChannels(&traces)
        return traces
    }

    private init(_ settings: Settings, _ source: borrowing AudioFile) {
        self.settings = settings
        format = source.format
        sampleRate = source.sampleRate
        channels = source.channels
        usedChannels = (0..<channels).filter(settings.mix.contains)
        to = settings.from
    }

    /// End of the requested part, in seconds.
    private var end: Double { settings.to ?? from + settings.longest }

    private static func detect(
        _ traces: inout [RecordingTrace],
        _ progress: (Double, Double) -> Bool
    ) throws(AudioError) {
        guard let settings = traces.first?.settings else { return }
        let model = settings.detector.vocabulary.model
        let detector = FileDetector(settings.detector)
        var found: [Detection] = []
        var number = 0
        var before = 0.0
        defer {
            // What was decided after the last hop, because nothing follows it.
            for index in traces.indices where !traces[index].isCut { traces[index].keepLast(found) }
        }
        try detector.detect(in: FileStream(path: settings.file, mix: settings.mix)) { hop, window, handler in
            defer { found.removeAll(keepingCapacity: true) }
            number += 1
            // Samples that this hop adds: none in the silence after the file's end.
            let count = Int(((hop.seconds - before) * Double(model.sampleRate)).rounded())
            before = hop.seconds
            let time = Double(number) * HopScorer.hopSeconds(of: model)
            var goesOn = false
            for index in traces.indices {
                if hop.seconds > traces[index].end + 1e-6 {
                    traces[index].isCut = true
                } else {
                    goesOn = true
                    if time > traces[index].from + 1e-6 {
                        traces[index].keep(hop, window, count: count)
                        traces[index].keep(hop, handler, found, time: time)
                    }
                }
            }
            return goesOn && progress(hop.seconds, hop.expectedSeconds)
        } report: { detection in
            found.append(detection)
        }
    }

    /// Keeps the newest samples of a window and their features.
    private mutating func keep(_ hop: ScoredHop, _ window: Span<Float>, count: Int) {
        let model = vocabulary.model
        let newestHop = window.extracting(last: model.hopSamples).extracting(first: count)
        for index in newestHop.indices { samples.append(newestHop[index]) }
        if !model.frontEnd.bandHertz.isEmpty {
            columns += model.features(of: window, newest: max(1, model.hopSamples / model.frontEnd.hopSamples))
        }
        to = hop.seconds
    }

    private mutating func keep(_ hop: ScoredHop, _ handler: PosteriorHandler, _ found: [Detection], time: Double) {
        let length = HopScorer.hopSeconds(of: vocabulary.model)
        hops.append(
            Hop(
                time: time,
                scores: handler.scoresOfAll,
                sounds: hop.activity.newest(Int((length / hop.activity.stepSeconds).rounded())),
                inSpeech: handler.gate.inSpeech,
                refractory: handler.gate.refractoryLabels,
                refusal: handler.refusal,
                fired: found.first { $0.kind == .word }?.index
            )
        )
        keep(found)
    }

    /// Keeps what was decided at the end of the file, after its last hop.
    private mutating func keepLast(_ found: [Detection]) {
        guard let last = hops.indices.last, let word = found.first(where: { $0.kind == .word }) else { return }
        if hops[last].fired == nil { hops[last].fired = word.index }
        keep(found)
    }

    private mutating func keep(_ found: [Detection]) {
        words += found.map { detection in
            Word(
                name: detection.name(labels: vocabulary.labels, phrases: []),
                confidence: detection.confidence,
                proposed: detection.proposed,
                confirmed: detection.confirmed,
                start: detection.start,
                end: detection.end,
                time: detection.time
            )
        }
    }

    /// Measures each used channel of each part before mixing and resampling.
    private static func measureChannels(_ traces: inout [RecordingTrace]) throws {
        guard let first = traces.first else { return }
        var source = try AudioFile(path: first.file)
        let count = source.channels
        let rate = Double(source.sampleRate)
        let parts = traces.map { Int($0.from * rate)..<max(Int($0.to * rate), Int($0.from * rate) + 1) }
        for index in traces.indices {
            traces[index].statistics = first.usedChannels.map { _ in SampleStatistics(sampleRate: source.sampleRate) }
        }
        var mixers = traces.map { _ in ChannelMixer(first.settings.mix, channels: count) }
        defer { for index in traces.indices { traces[index].faults = mixers[index].faults } }
        var interleaved = [Float](repeating: 0, count: 4096 * count)
        var one = [Float](repeating: 0, count: 4096)
        let end = parts.map(\.upperBound).max() ?? 0
        var position = 0
        while position < end {
            var room = interleaved.mutableSpan
            let frames = try source.read(into: &room)
            guard frames > 0 else { return }
            for (index, part) in parts.enumerated() {
                let inside = part.clamped(to: position..<position + frames)
                guard !inside.isEmpty else { continue }
                let sound = interleaved.span.extracting(
                    (inside.lowerBound - position) * count..<(inside.upperBound - position) * count
                )
                for (number, channel) in first.usedChannels.enumerated() {
                    var target = one.mutableSpan
                    ChannelMixer.pick(channel, of: sound, channels: count, into: &target)
                    traces[index].statistics[number].add(one.span.extracting(first: inside.count))
                }
                var target = one.mutableSpan
                mixers[index].mix(sound, into: &target)
            }
            position += frames
        }
    }
}

/// Why a recording cannot be traced.
public struct ReportError: Error, CustomStringConvertible, Sendable {
    /// One line: the file, what is wrong with it.
    public let description: String
}
