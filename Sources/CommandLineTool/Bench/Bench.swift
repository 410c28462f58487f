private import Core
private import FoundationEssentials
import Inference
import KernelInterface
private import Kernels
private import Spotting

/// `beckon bench`: what each stage of the engine takes, by each set of kernels, on one processor.
struct Bench {
    private let options: BenchOptions
    private let recipes: [DetectorRecipe]

    /// Loads the model once for each set of kernels, the plainest first.
    init(_ options: BenchOptions) throws {
        self.options = options
        recipes = try Bench.kernels(options).map { set in
            let model = try options.listening.loadModel(kernels: set)
            return try DetectorRecipe(
                model: model,
                gate: options.gate,
                thresholds: options.listening.thresholds(for: Vocabulary(model))
            )
        }
    }

    /// Those asked for, or what `BECKON_KERNELS` names, or all but the plain loops, which would take most of the time.
    private static func kernels(_ options: BenchOptions) -> [InstructionSet?] {
        if !options.kernels.isEmpty { return options.kernels.sorted() }
        let forced = ProcessInfo.processInfo.environment["BECKON_KERNELS"] ?? ""
        return forced.isEmpty ? InstructionSet.supported.filter { $0 != .scalar } : [nil]
    }

    /// Measures and prints. Returns the exit status.
    func run() throws -> Int32 {
        guard let best = recipes.last else { return 1 }
        Interrupt.watch()
        let machine = BenchMachine.pin()
        let folder = ModelFolder.find(options.listening.modelFolder) ?? ""
        let run = try BenchRun(recipes, seconds: options.seconds, streams: options.streams)
        let startUp: StartUp?
        do {
            startUp = try run.measure() ? StartUp(model: folder, kernels: best.model.kernels.instructionSet) : nil
        } catch  where Interrupt.isRequested {
            // Ctrl-C ends the copies of the program too.
            startUp = nil
        }
        guard let startUp, !Interrupt.isRequested else {
            Terminal.error("beckon: interrupted; nothing was measured\n")
            return 130
        }
        let report = BenchReport(
            machine: machine,
            model: .init(best.model),
            startUp: startUp,
            streams: options.streams,
            run: run
        )
        guard !options.json else {
            Terminal.output(try report.json)
            return 0
        }
        Terminal.output(BenchTable(report).text)
        if Terminal.outputIsTerminal, let hop = run.probes.last(where: { $0.stage == .hop }) {
            let histogram = Histogram(hop.rounds.flatMap { $0 }, rows: 12)
            Terminal.output("\nA hop by \(hop.kernels?.rawValue ?? "–"), µs:\n" + histogram.text(width: 40))
        }
        return 0
    }
}
