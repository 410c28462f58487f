private import Audio
private import Core
import Evaluation
private import FoundationEssentials
import Inference
import Spotting

/// `beckon evaluate --stream FILE|DIR…`: long recordings, each with a label track beside it.
extension Evaluate {
    /// Thresholds for all words at which the whole detector is measured; closer together where it matters more.
    static let sweep: [Float] = [
        0.3, 0.4, 0.5, 0.55, 0.6, 0.65, 0.7, 0.74, 0.78, 0.8, 0.82, 0.84, 0.86, 0.88, 0.9, 0.91, 0.92, 0.93, 0.94, 0.95,
        0.96, 0.97, 0.98, 0.985, 0.99, 0.993, 0.996,
    ]

    /// One recording under one setting of the gate: at the thresholds in use, and at each of the sweep.
    private struct Tallies {
        var own: StreamTally
        var sweep: [StreamTally]

        mutating func add(_ other: Tallies) {
            own.add(other.own)
            for index in sweep.indices { sweep[index].add(other.sweep[index]) }
        }
    }

    /// The settings to measure: both modes unless the user chose one.
    private var gates: [GateSettings] {
        let modes = options.listening.mode.map { [$0] } ?? GateSettings.Mode.allCases
        return modes.map { mode in
            var gate = options.listening.gate
            gate.mode = mode
            return gate
        }
    }

    func runStreams() throws -> Int32 {
        let list = FileList(paths: options.paths)
        Interrupt.watch()
        let batch = Batch(files: list.files, problems: list.problems, jobs: options.listening.jobs)
        let gates = gates
        let results = batch.collect { number in
            let file = list.files[number]
            return (file: file, tallies: try measure(file, gates: gates, progress: batch.progress))
        }
        let status = batch.finish()
        // Where there is no result at all, what was wrong with each file has been said.
        guard status != 130, var totals = results.first?.tallies else { return status }
        for result in results.dropFirst() {
            for index in totals.indices { totals[index].add(result.tallies[index]) }
        }
        let report = StreamReport(
            tolerance: options.tolerance,
            seconds: totals.first?.own.seconds ?? 0,
            wordlessSeconds: totals.first?.own.wordlessSeconds ?? 0,
            files: results.map { result in
                StreamReport.File(
                    file: result.file,
                    seconds: result.tallies.first?.own.seconds ?? 0,
                    figures: result.tallies.map { StreamFigures($0.own.total, seconds: $0.own.seconds) }
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
        try show(report, text: StreamReportTables(report).text) { StreamReportPage(report, model: model.name).html }
        return status
    }

    /// Scores a recording once and decides about it under every setting.
    private func measure(_ file: String, gates: [GateSettings], progress: Progress) throws -> [Tallies] {
        let trackPath = PathName(file).withoutEnding + ".txt"
        let track = try Self.track(trackPath, of: file)
        let (trace, seconds) = try listen(to: file, progress: progress)
        try track.check(seconds: seconds, file: printable(trackPath))
        let truths = track.words(of: labels)
        func tally(_ gate: GateSettings, _ thresholds: Thresholds) -> StreamTally {
            StreamTally(
                words: labels.words.count,
                detections: trace.detections(settings: gate, thresholds: thresholds),
                truths: truths,
                seconds: seconds,
                tolerance: options.tolerance
            )
        }
        return gates.map { gate in
            Tallies(
                own: tally(gate, thresholds),
                sweep: Self.sweep.map { threshold in
                    var all = thresholds
                    all.setAll(threshold)
                    return tally(gate, all)
                }
            )
        }
    }

    /// The label track of a recording.
    private static func track(_ path: String, of file: String) throws -> LabelTrack {
        guard FileManager.default.fileExists(atPath: file) else { throw Failure("\(printable(file)): no such file") }
        guard FileManager.default.fileExists(atPath: path) else {
            throw Failure(
                "\(printable(file)): what is said in it is not known; make a label track \(printable(path)) with lines of "
                    + "start, end and word, tabs between (an empty one if no word is said)"
            )
        }
        guard let data = FileManager.default.contents(atPath: path) else {
            throw Failure("\(printable(path)): cannot read this label track")
        }
        return try LabelTrack(String(decoding: data, as: UTF8.self), file: printable(path))
    }

    /// The real chain up to the decisions: decoder, ring, network.
    private func listen(to file: String, progress: Progress) throws -> (trace: PosteriorTrace, seconds: Double) {
        var stream = try FileStream(path: file, mix: options.listening.mix)
        let asked = gates.lazy.compactMap(\.lookaheadQuiet).first
        var scorer = HopScorer(vocabulary, lookaheadQuiet: asked)
        var trace = PosteriorTrace(vocabulary)
        while !Interrupt.isRequested, try stream.next({ scorer.score(window: $0) }) {
            trace.add(scorer.scores, lookahead: scorer.lookahead, activity: scorer.activity)
            progress.report(file: file, seconds: stream.seconds, of: stream.expectedSeconds)
        }
        return (trace, stream.seconds)
    }
}
