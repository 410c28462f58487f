public import Audio
public import Core
private import Inference
public import Spotting

/// Measures the whole detector on long recordings, each with a label track, under several settings at once.
///
/// A recording is scored once; smoother, gate and phrases then run over its scores for every setting and threshold.
/// Recordings may be measured on several threads at once.
public struct StreamEvaluation: Sendable {
    /// Common thresholds of all words at which the detector is measured, in addition to those in use; denser near 1.
    public static let sweep: [Float] = [
        0.1, 0.2, 0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.74, 0.78, 0.8, 0.82, 0.84, 0.86, 0.88, 0.9, 0.91, 0.92, 0.93,
        0.94, 0.95, 0.96, 0.97, 0.98, 0.985, 0.99, 0.993, 0.996, 0.9975, 0.9985, 0.999, 0.9994, 0.9997, 0.9999,
    ]

    /// What one column of the report measures.
    public struct Setting: Sendable {
        /// The gate, and the thresholds in use with it.
        public let detector: DetectorSettings
        /// The thresholds of each sensitivity that the vocabulary has.
        public let sensitivities: [(sensitivity: Sensitivity, thresholds: Thresholds)]

        public init(
            _ detector: DetectorSettings,
            sensitivities: [(sensitivity: Sensitivity, thresholds: Thresholds)] = []
        ) {
            self.detector = detector
            self.sensitivities = sensitivities
        }
    }

    /// A recording with what was counted in it.
    public struct Measurement: Sendable {
        let file: String
        /// `[settings]`.
        let tallies: [Tallies]
    }

    /// The counts under one setting: at the thresholds in use, at those of each sensitivity, and at each of the sweep.
    struct Tallies: Sendable {
        var own: StreamTally
        var sensitivities: [StreamTally]
        var sweep: [StreamTally]
        /// With the thresholds in use.
        var errors: [DetectionError]

        mutating func add(_ other: Tallies) {
            own.add(other.own)
            for index in sensitivities.indices { sensitivities[index].add(other.sensitivities[index]) }
            for index in sweep.indices { sweep[index].add(other.sweep[index]) }
            errors += other.errors
        }
    }

    private let scorer: FileScorer
    private let labels: Labels
    /// Words that the user taught.
    private let taught: Set<String>
    private let settings: [Setting]
    private let tolerance: Double
    private let mix: ChannelMix

    /// - Parameters:
    ///   - settings: what to measure.
    ///   - tolerance: seconds after a word's end in which it may be decided.
    ///   - mix: how the channels of a recording become one.
    public init(
        _ vocabulary: Vocabulary,
        settings: [Setting],
        tolerance: Double,
        mix: ChannelMix
    ) {
        scorer = FileScorer(
            vocabulary,
            lookaheadQuiet: settings.lazy.compactMap(\.detector.lookaheadQuiet).first,
            hearsPlayed: settings.contains { $0.detector.marksOwnSpeech }
        )
        labels = Labels(vocabulary.labels)
        taught = Set(vocabulary.taught.map(\.name))
        self.settings = settings
        self.tolerance = tolerance
        self.mix = mix
    }

    /// Measures one recording.
    ///
    /// - Parameters:
    ///   - track: the words said in it, and when.
    ///   - trackName: what messages call the track.
    ///   - spare: threads that may help; the calling one works too.
    ///   - progress: gets the seconds read and the seconds expected (0 for unknown) after each hop; returns false to
    ///     stop.
    /// - Throws: `AudioError`, or ``EvaluationError`` if a label of the track starts after the recording's end.
    public func measure(
        _ file: String,
        track: LabelTrack,
        trackName: String,
        spare: SpareWorkers = SpareWorkers(),
        progress: (_ seconds: Double, _ expectedSeconds: Double) -> Bool = { _, _ in true }
    ) throws -> Measurement {
        let vocabulary = scorer.vocabulary
        var trace = PosteriorTrace(vocabulary)
        var seconds = 0.0
        try scorer.forEachHop(of: FileStream(path: file, mix: mix), spare: spare) { hop, window in
            trace.add(hop.scores, lookahead: hop.lookahead, activity: hop.activity, window: window)
            seconds = hop.seconds
            return progress(hop.seconds, hop.expectedSeconds)
        }
        try track.check(seconds: seconds, file: trackName)
        let truths = track.words(of: labels)
        func tally(_ detector: DetectorSettings, _ thresholds: Thresholds) -> StreamTally {
            var detector = detector
            detector.thresholds = thresholds
            return StreamTally(
                words: labels.wordIndices.count,
                detections: Self.acting(trace.detections(detector)),
                truths: truths,
                seconds: seconds,
                tolerance: tolerance
            )
        }
        let tallies = settings.map { setting in
            Tallies(
                own: tally(setting.detector, setting.detector.thresholds),
                sensitivities: setting.sensitivities.map { tally(setting.detector, $0.thresholds) },
                sweep: Self.sweep.map { threshold in
                    var all = setting.detector.thresholds
                    all.setAll(threshold)
                    return tally(setting.detector, all)
                },
                errors: errors(file, trace, setting, truths)
            )
        }
        return Measurement(file: file, tallies: tallies)
    }

    /// The words on which something acts: not those that a loudspeaker says.
    private static func acting(_ found: [Detection]) -> [Detection] { found.filter { !$0.isOwnSpeech } }

    /// The errors in one recording with the thresholds in use.
    private func errors(
        _ file: String,
        _ trace: PosteriorTrace,
        _ setting: Setting,
        _ truths: [SpokenWord]
    ) -> [DetectionError] {
        let hopSeconds = HopScorer.hopSeconds(of: scorer.vocabulary.model)
        var highest = truths.map { (score: Float(0), time: $0.end) }
        let rising = Dictionary(scorer.vocabulary.risingLabels.enumerated().map { ($1, $0) }) { first, _ in first }
        var first = 0
        // Words are sorted by start, not by end, so this only skips those at the beginning that are over.
        let found = trace.detections(setting.detector) { number, handler in
            let time = Double(number + 1) * hopSeconds
            while first < truths.count, truths[first].end + tolerance < time { first += 1 }
            for index in truths[first...].indices {
                guard truths[index].start <= time else { break }
                guard truths[index].end + tolerance >= time else { continue }
                let label = truths[index].label
                let risen = rising[label].flatMap { trace.highest(rising: $0, hop: number) } ?? 0
                let score = max(risen, handler.scores[label])
                if score > highest[index].score { highest[index] = (score, time) }
            }
        }
        let detections = Self.acting(found).filter { labels.wordIndices.contains($0.index) }
        return DetectionError.all(
            path: file,
            detections: detections,
            outcomes: outcomes(of: detections, truths: truths, tolerance: tolerance),
            truths: truths,
            highest: highest,
            labels: labels,
            thresholds: setting.detector.thresholds.values
        )
    }

    /// The report of all measurements; nil without measurements.
    public func report(_ measurements: [Measurement]) -> StreamReport? {
        guard var totals = measurements.first?.tallies else { return nil }
        for measurement in measurements.dropFirst() {
            for index in totals.indices { totals[index].add(measurement.tallies[index]) }
        }
        return StreamReport(
            tolerance: tolerance,
            seconds: totals.first?.own.seconds ?? 0,
            wordlessSeconds: totals.first?.own.wordlessSeconds ?? 0,
            files: measurements.map { measurement in
                StreamReport.File(
                    file: FileName.shown(measurement.file),
                    seconds: measurement.tallies.first?.own.seconds ?? 0,
                    figures: measurement.tallies.map { StreamFigures($0.own.total, seconds: $0.own.seconds) }
                )
            },
            settings: zip(settings, totals).map { setting, tallies in
                SettingReport(
                    mode: setting.detector.gate.mode.rawValue,
                    trigger: setting.detector.gate.trigger.rawValue,
                    tally: tallies.own,
                    sweep: zip(Self.sweep, tallies.sweep).map { ($0, $1) },
                    sensitivities: zip(setting.sensitivities, tallies.sensitivities).map {
                        ($0.sensitivity, $0.thresholds.values, $1)
                    },
                    labels: labels,
                    taught: taught,
                    thresholds: setting.detector.thresholds.values,
                    errors: tallies.errors
                )
            }
        )
    }
}
