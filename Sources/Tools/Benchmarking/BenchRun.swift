private import Inference
import KernelInterface
private import Kernels
public import Spotting

/// Measures all stages with all sets of kernels in turn, in rounds, so that other load affects all of them equally.
public struct BenchRun {
    public let probes: [Probe]
    let seconds: Double
    /// Rounds that are kept; one warm-up round precedes them.
    let rounds: Int

    /// - Parameters:
    ///   - detectors: one for each set of kernels.
    ///   - seconds: time for the whole measurement; work that takes longer than its share still runs once per round.
    ///   - streams: streams to run at once; nil leaves out the stages `streams` and `batch`.
    /// - Throws: `AudioError`, `SpottingError`.
    public init(_ detectors: [DetectorSettings], seconds: Double, streams: Int?) throws {
        self.seconds = seconds
        rounds = Int(min(max(2 * seconds, 4), 20))
        var probes: [Probe] = []
        // The resampler runs with the preferred kernels only.
        let resampler = KernelSet.preferred.instructionSet
        for stage in BenchStage.allCases {
            switch stage {
            case .resample48: probes.append(Probe(stage, resampler, try ResampleWork(rate: 48_000)))
            case .resample44: probes.append(Probe(stage, resampler, try ResampleWork(rate: 44_100)))
            case .gate: if let detector = detectors.first { probes.append(Probe(stage, nil, try GateWork(detector))) }
            default: probes += try detectors.compactMap { try BenchRun.probe(stage, $0, streams: streams) }
            }
        }
        self.probes = probes
    }

    /// The probe of a stage that depends on the kernels; nil where the model or the options do not have the stage.
    private static func probe(_ stage: BenchStage, _ detector: DetectorSettings, streams: Int?) throws -> Probe? {
        let model = detector.vocabulary.model
        let kernels = model.kernels.instructionSet
        let hopColumns = NetworkRunner(model).hopColumns
        let sound = benchSound(model.windowSamples, rate: model.sampleRate)
        switch stage {
        case .logMel:
            guard hopColumns > 0 else { return nil }
            let features = FeatureExtractor(model, newest: hopColumns)
            return Probe(stage, kernels, WindowWork(features, on: sound) { $0.run(window: $1) })
        case .network:
            guard hopColumns > 0 else { return nil }
            let columns = model.features(of: sound.span, newest: hopColumns)
            let work = WindowWork(NetworkRunner(model), on: columns) { $0.hop($1) }
            return Probe(stage, kernels, multiplyAdds: model.multiplyAddsPerHop, work)
        case .hop:
            return Probe(stage, kernels, try HopWork(detector, sound: HopWork.sound(model)))
        case .hopOneWord, .hopHundredWords:
            let count = stage == .hopOneWord ? 1 : 100
            guard let taught = detector.teaching(count) else { return nil }
            return Probe(stage, kernels, try HopWork(taught, sound: HopWork.sound(model)))
        case .streams:
            return try streams.map { Probe(stage, kernels, try StreamsWork(detector, count: $0)) }
        case .batch:
            return streams.map { Probe(stage, kernels, BatchWork(detector, count: $0)) }
        case .windowNetwork:
            let work = WindowWork(NetworkRunner(model), on: model.features(of: sound.span, newest: nil)) {
                $0.window($1)
            }
            return Probe(stage, kernels, multiplyAdds: model.multiplyAddsPerWindow, work)
        case .window:
            return Probe(stage, kernels, WindowWork(InferenceStream(model), on: sound) { $0.scoreWhole(window: $1) })
        case .look:
            guard let confirmation = model.confirmation else { return nil }
            return Probe(
                stage,
                kernels,
                multiplyAdds: confirmation.multiplyAdds,
                LookWork(confirmation, of: model, on: sound)
            )
        case .wordLook:
            return WordLookWork(model, on: sound).map { Probe(stage, kernels, $0) }
        case .soundLook:
            return SoundLookWork(kernels: model.kernels, on: sound).map { Probe(stage, kernels, $0) }
        case .peak:
            return model.kernels.fmaThroughput.map { peak in
                let work = PeakWork(peak)
                return Probe(stage, kernels, multiplyAdds: work.multiplyAdds, work)
            }
        case .resample48, .resample44, .gate: return nil
        }
    }

    /// Runs all rounds on the calling thread.
    ///
    /// - Parameter progress: called before each stage with the rounds done and their total; returns false to stop.
    /// - Returns: false where `progress` stopped it.
    /// - Throws: ``BenchmarkError`` where the resampler stops.
    public func measure(_ progress: (_ done: Int, _ rounds: Int) -> Bool) throws -> Bool {
        for probe in probes { probe.reserve(rounds: rounds) }
        let part = seconds / Double(probes.count * (rounds + 1))
        for round in 0...rounds {
            for probe in probes {
                guard progress(round, rounds + 1) else { return false }
                try probe.round(seconds: part, isKept: round > 0)
            }
        }
        return true
    }
}
