import Benchmarking
import Core
private import Events
private import Inference
import JSON
import KernelInterface
private import Kernels
private import Spotting
private import System

/// `beckon bench`: measures the stages, the latency from a word to its action, or the start-up; or compares two
/// reports.
struct Bench {
    private let options: BenchOptions

    init(_ arguments: Arguments) throws(UsageError) { options = try BenchOptions(arguments) }

    /// Measures and prints. Returns the exit status.
    func run() throws -> Int32 {
        switch options.kind {
        case .stages: return try runStages()
        case .endToEnd(let device, let track, let stamp):
            return try runEndToEnd(device: device, track: track, stamp: stamp)
        case .wyoming(let settings): return try runWyoming(settings)
        case .firstScore:
            let score = try FirstScore(detector(kernels: options.kernels.last))
            let object: JSON = [
                "nanoseconds": .number(score.nanoseconds), "residentBytes": .number(score.residentBytes),
                "streamBytes": .number(score.streamBytes),
            ]
            Output.write(object.line)
            return 0
        case .compare(let first, let second):
            Output.write(try BenchCompare(first, second).text)
            return 0
        }
    }

    private func detector(kernels: InstructionSet?) throws -> DetectorSettings {
        try options.listening.detector(Vocabulary(options.listening.loadModel(kernels: kernels)), gate: options.gate)
    }

    // MARK: - Stages

    private func runStages() throws -> Int32 {
        let detectors = try kernels.map(detector)
        guard let best = detectors.last?.vocabulary.model else { return 1 }
        Interrupt.watch()
        // Before this thread is kept on one processor, which its copies would inherit: a program starts on all.
        let first = try measureStartUp(kernels: best.kernels.instructionSet)
        let machine = BenchMachine.pin()
        let run = try BenchRun(detectors, seconds: options.seconds, streams: options.streams)
        guard let startUp = first, try measureRounds(of: run), !Interrupt.isRequested else {
            Output.writeError("beckon: interrupted; nothing was measured\n")
            return 130
        }
        let report = BenchReport(
            machine: machine,
            model: .init(best),
            startUp: startUp,
            streams: options.streams,
            run: run
        )
        guard !options.json else {
            Output.write(try encodedJSON(report))
            return 0
        }
        Output.write(report.table)
        if Terminal.outputIsTerminal, let hop = run.probes.last(where: { $0.stage == .hop }) {
            let histogram = Histogram(hop.rounds.flatMap { $0 }, rows: 12)
            Output.write("\nA hop by \(hop.kernels?.rawValue ?? "–"), µs:\n" + histogram.text(width: 40))
        }
        return 0
    }

    /// The kernel sets of the command line, else the one of `BECKON_KERNELS`, else all but the scalar loops, which
    /// would take most of the time. The slowest first.
    private var kernels: [InstructionSet?] {
        if !options.kernels.isEmpty { return options.kernels.sorted() }
        let forced = OwnEnvironment.variables["BECKON_KERNELS"] ?? ""
        return forced.isEmpty ? InstructionSet.supported.filter { $0 != .scalar } : [nil]
    }

    /// Measures the start-up; nil if the user pressed Ctrl-C, which also ends the child processes that measure it.
    private func measureStartUp(kernels: InstructionSet) throws -> StartUp? {
        let folder = ModelFolder.find(options.listening.modelFolder) ?? ""
        let arguments =
            ["bench", "--first-score", "--kernels", kernels.rawValue, "--model", folder]
            + (options.listening.confirms ? [] : ["--no-confirm"])
        let measured = Result { try StartUp(kernels: kernels.rawValue, arguments: arguments) }
        return Interrupt.isRequested ? nil : try measured.get()
    }

    private func measureRounds(of run: BenchRun) throws -> Bool {
        var bar: Progress?
        defer { bar?.clear() }
        return try run.measure { done, rounds in
            let progress = bar ?? Progress(files: rounds, isShown: Terminal.errorIsTerminal)
            bar = progress
            while progress.done < done { progress.finish() }
            progress.report(file: "rounds", seconds: 0, of: 1)
            return !Interrupt.isRequested
        }
    }

    // MARK: - Wyoming

    private func runWyoming(_ settings: WyomingBench.Settings) throws -> Int32 {
        var gate = options.listening.gate
        gate.mode = .spot
        let vocabulary = Vocabulary(try options.listening.loadModel(kernels: options.kernels.last))
        let bench = try WyomingBench(settings, options.listening.detector(vocabulary, gate: gate))
        Interrupt.watch()
        var rows: [WyomingBench.Row] = []
        try bench.run { row in
            rows.append(row)
            if !options.json, settings.findsMost {
                Output.writeError("\(counted(row.result.connections, "connection was", "connections were")) measured\n")
            }
            return !Interrupt.isRequested
        }
        guard !Interrupt.isRequested else { return 130 }
        Output.write(options.json ? WyomingBench.json(rows, settings).line : WyomingBench.table(rows, settings))
        return rows.contains { $0.result.detections > 0 } ? 0 : 1
    }

    // MARK: - End to end

    private func runEndToEnd(device: String, track: String, stamp: String) throws -> Int32 {
        let bench = try EndToEnd(
            device: device,
            track: track,
            stamp: stamp,
            mix: options.listening.mix,
            detector: detector(kernels: nil)
        )
        let result = try bench.run(
            environment: OwnEnvironment.variables,
            log: ServiceLog { level, text in Output.report(level, text) }
        )
        let (mode, trigger) = (options.gate.mode.rawValue, options.gate.trigger.rawValue)
        if options.json {
            let object: JSON = [
                "benchmark": "end-to-end", "mode": .string(mode), "trigger": .string(trigger),
                "words": .number(result.words), "heard": .number(result.heard), "others": .number(result.others),
                "milliseconds": result.times.json,
            ]
            Output.write(object.line)
        } else {
            Output.write(
                result.times.table.text
                    + "\(result.heard) of \(counted(result.words, "word")) found, \(counted(result.others, "other")); mode \(mode), trigger \(trigger)\n"
            )
        }
        return result.heard > 0 ? 0 : 1
    }
}
