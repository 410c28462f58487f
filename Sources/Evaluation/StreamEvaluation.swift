public import Audio
private import Inference
public import Spotting

/// Measures the whole detector on long recordings, each with a label track, under several settings at once.
///
/// A recording is scored once; smoother, gate and phrases then run over its scores for every setting and threshold.
/// Recordings may be measured on several threads at once.
public struct StreamEvaluation: Sendable {
    /// Common thresholds of all words at which the detector is measured, in addition to those in use; denser near 1.
    public static let sweep: [Float] = [
        0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.74, 0.78, 0.8, 0.82, 0.84, 0.86, 0.88, 0.9, 0.91, 0.92, 0.93, 0.94, 0.95,
        0.96, 0.97, 0.98, 0.985, 0.99, 0.993, 0.996,
    ]

    /// A recording with what was counted in it.
    public struct Measurement: Sendable {
        let file: String
        /// `[settings of the gate]`.
        let tallies: [Tallies]
    }

    /// The counts under one setting: at the thresholds in use, and at each of the sweep.
    struct Tallies: Sendable {
        var own: StreamTally
        var sweep: [StreamTally]

        mutating func add(_ other: Tallies) {
            own.add(other.own)
            for index in sweep.indices { sweep[index].add(other.sweep[index]) }
        }
    }

    private let scorer: FileScorer
    private let labels: LabelSet
    private let gates: [GateSettings]
    private let thresholds: Thresholds
    private let tolerance: Double
    private let mix: ChannelMix

    /// - Parameters:
    ///   - gates: the settings to measure.
    ///   - thresholds: the thresholds in use.
    ///   - tolerance: seconds after a word's end in which it may be decided.
    ///   - mix: how the channels of a recording become one.
    public init(
        _ vocabulary: Vocabulary,
        gates: [GateSettings],
        thresholds: Thresholds,
        tolerance: Double,
        mix: ChannelMix
    ) {
        scorer = FileScorer(vocabulary, lookaheadQuiet: gates.lazy.compactMap(\.lookaheadQuiet).first)
        labels = LabelSet(vocabulary.labels)
        self.gates = gates
        self.thresholds = thresholds
        self.tolerance = tolerance
        self.mix = mix
    }

    /// Measures one recording.
    ///
    /// - Parameters:
    ///   - track: the words said in it, and when.
    ///   - trackName: what messages call the track.
    ///   - workers: threads to use, the calling one among them.
    ///   - progress: gets the seconds read and the seconds expected (0 for unknown) after each hop; returns false to
    ///     stop.
    /// - Throws: `AudioError`, or ``EvaluationError`` if a label of the track starts after the recording's end.
    public func measure(
        _ file: String,
        track: LabelTrack,
        trackName: String,
        workers: Int = 1,
        progress: (_ seconds: Double, _ expectedSeconds: Double) -> Bool = { _, _ in true }
    ) throws -> Measurement {
        var trace = PosteriorTrace(scorer.vocabulary)
        var seconds = 0.0
        try scorer.forEachHop(of: FileStream(path: file, mix: mix), workers: workers) { hop, _ in
            trace.add(hop.scores, lookahead: hop.lookahead, activity: hop.activity)
            seconds = hop.seconds
            return progress(hop.seconds, hop.expectedSeconds)
        }
        try track.check(seconds: seconds, file: trackName)
        let truths = track.words(of: labels)
        func tally(_ gate: GateSettings, _ thresholds: Thresholds) -> StreamTally {
            StreamTally(
                words: labels.words.count,
                detections: trace.detections(settings: gate, thresholds: thresholds),
                truths: truths,
                seconds: seconds,
                tolerance: tolerance
            )
        }
        let tallies = gates.map { gate in
            Tallies(
                own: tally(gate, thresholds),
                sweep: Self.sweep.map { threshold in
                    var all = thresholds
                    all.setAll(threshold)
                    return tally(gate, all)
                }
            )
        }
        return Measurement(file: file, tallies: tallies)
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
                    file: measurement.file,
                    seconds: measurement.tallies.first?.own.seconds ?? 0,
                    figures: measurement.tallies.map { StreamFigures($0.own.total, seconds: $0.own.seconds) }
                )
            },
            settings: zip(gates, totals).map { gate, tallies in
                SettingReport(
                    mode: gate.mode.rawValue,
                    trigger: gate.trigger.rawValue,
                    tally: tallies.own,
                    sweep: zip(Self.sweep, tallies.sweep).map { ($0, $1) },
                    labels: labels,
                    thresholds: thresholds.values
                )
            }
        )
    }
}
