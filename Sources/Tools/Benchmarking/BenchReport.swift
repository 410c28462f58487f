private import Core
public import Inference
private import JSON
private import KernelInterface
private import System

/// The report of `beckon bench --json`, which `--compare` reads; times of stages are in microseconds.
public struct BenchReport: Codable, Sendable {
    public struct ModelFacts: Codable, Sendable {
        let name: String
        let identity: String
        /// Number format of the weights.
        let precision: String
        let multiplyAddsPerHop: Int
        let multiplyAddsPerWindow: Int
        let hopSeconds: Double
        /// Size of the weights in the layout of the kernels.
        let weightBytes: Int
        /// Size of the state that a stream keeps from hop to hop.
        let stateBytes: Int

        public init(_ model: Model) {
            name = model.name
            identity = model.identity
            precision = model.precision.rawValue
            multiplyAddsPerHop = model.multiplyAddsPerHop
            multiplyAddsPerWindow = model.multiplyAddsPerWindow
            hopSeconds = Double(model.hopSamples) / Double(model.sampleRate)
            weightBytes = model.weightBytes
            stateBytes = model.streamStateBytes
        }
    }

    struct Row: Codable, Sendable {
        let stage: String
        /// Instruction set of the kernels; nil for stages that do not depend on it.
        let kernels: String?
        /// Number of timed runs.
        let count: Int
        /// Time per hop or window.
        let microseconds: Timing
        /// Ratio of the slowest round's median to the fastest round's.
        let spread: Double
        /// At the median time, as are the next two; nil where multiply-adds are not counted.
        let multiplyAddsPerSecond: Double?
        /// Fraction of the float peak of the same kernels; an integer network may exceed 1, which a note explains.
        let shareOfPeak: Double?
        /// Streams that one processor can run in real time; nil for stages that are not a whole hop.
        let realTimeFactor: Double?

        var title: String { kernels.map { "\(stage) by \($0)" } ?? stage }
    }

    static let kind = "stages"
    static let currentFormat = 1

    let benchmark: String
    let format: Int
    /// Version of the program.
    let program: String
    let machine: BenchMachine
    let model: ModelFacts
    let seconds: Double
    let rounds: Int
    /// Streams at once; nil where they were not measured.
    let streams: Int?
    let stages: [Row]
    let startUp: StartUp
    let notes: [String]

    public init(machine: BenchMachine, model: ModelFacts, startUp: StartUp, streams: Int?, run: BenchRun) {
        benchmark = Self.kind
        format = Self.currentFormat
        program = version
        self.machine = machine
        self.model = model
        self.startUp = startUp
        self.streams = streams
        seconds = run.seconds
        rounds = run.rounds
        let peaks = run.probes.filter { $0.stage == .peak }
        stages = run.probes.compactMap { probe in
            BenchReport.row(probe, peak: peaks.first { $0.kernels == probe.kernels }, hopSeconds: model.hopSeconds)
        }
        notes = BenchNotes.all(machine: machine, model: model, rows: stages, probes: run.probes)
    }

    private static func row(_ probe: Probe, peak: Probe?, hopSeconds: Double) -> Row? {
        let rounds = probe.rounds
        guard let timing = Timing(rounds.flatMap { $0 }) else { return nil }
        let rate = probe.multiplyAdds.flatMap { count in timing.p50 > 0 ? Double(count) / timing.p50 * 1e6 : nil }
        let peakRate = peak.flatMap { peak in
            Timing(peak.rounds.flatMap { $0 }).map { Double(peak.multiplyAdds ?? 0) / $0.p50 * 1e6 }
        }
        let isHop = [.hop, .streams, .batch].contains(probe.stage)
        return Row(
            stage: probe.stage.rawValue,
            kernels: probe.kernels?.rawValue,
            count: rounds.reduce(0) { $0 + $1.count },
            microseconds: timing,
            spread: rounded(BenchNotes.spread(rounds)),
            multiplyAddsPerSecond: rate?.rounded(),
            shareOfPeak: rate.flatMap { rate in peakRate.map { rounded(rate / $0) } },
            realTimeFactor: isHop && timing.p50 > 0 ? (hopSeconds * 1e6 / timing.p50).rounded() : nil
        )
    }

    /// Reads a report of `beckon bench --json`.
    ///
    /// - Throws: ``BenchmarkError`` for a file that cannot be read or is not such a report.
    public init(file: String) throws(BenchmarkError) {
        let name = printable(file)
        let advice = "give --compare what beckon bench --json printed"
        let status: FileStatus
        do throws(SystemError) {
            status = try FileStatus(path: file)
        } catch {
            throw BenchmarkError("\(name): \(SystemError.text(error.number)); \(advice)")
        }
        guard status.isRegular, status.size <= 1 << 24 else {
            throw BenchmarkError("\(name): no report but a folder, a device or a huge file; \(advice)")
        }
        guard let data = try? readFile(file, limit: 1 << 24).bytes else {
            throw BenchmarkError("\(name): cannot be read; check its permissions")
        }
        struct Head: Decodable {
            let benchmark: String
            let format: Int?
        }
        guard let head = try? Head(json: data) else {
            throw BenchmarkError("\(name): no report of bench; \(advice)")
        }
        guard head.benchmark == Self.kind else {
            throw BenchmarkError("\(name): a report of bench --\(printable(head.benchmark)), not of stages; \(advice)")
        }
        guard head.format == Self.currentFormat, let report = try? Self(json: data) else {
            throw BenchmarkError("\(name): a report by another version of beckon, or damaged; measure again")
        }
        guard report.stages.allSatisfy({ $0.microseconds.p50 > 0 }), report.startUp.milliseconds.p50 > 0 else {
            throw BenchmarkError("\(name): a time in it is not positive; measure again")
        }
        self = report
    }
}
