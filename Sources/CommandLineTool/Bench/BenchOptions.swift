import KernelInterface
private import Service
import Spotting

/// What `beckon bench` was asked to measure, and on what.
struct BenchOptions {
    /// What is done; all but the first are asked for by an option of their own.
    enum Kind {
        /// The engine's stages, by each set of kernels.
        case stages
        case endToEnd(EndToEnd.Setting)
        case firstScore
        /// Two files.
        case compare(String, String)
    }

    let kind: Kind
    let listening: ListeningOptions
    let json: Bool
    /// Empty where the user left the choice to the program.
    let kernels: [InstructionSet]
    /// How long to measure.
    let seconds: Double
    let streams: Int?

    /// What `listen` would decide by.
    var gate: GateSettings {
        var gate = Configuration().gate
        gate.mode = listening.mode ?? gate.mode
        gate.trigger = listening.trigger ?? gate.trigger
        return gate
    }

    private static let modes = ["--end-to-end", "--first-score", "--compare"]

    /// Options that belong to one thing, by what asks for it; nil is the measuring of stages.
    private static let owned: [(mode: String?, names: [String])] = [
        ("--end-to-end", ["--device", "--track", "--stamp"]), (nil, ["--seconds", "--streams"]),
    ]

    static let options: [Arguments.Option] =
        ListeningOptions.options.filter { $0.name != "--jobs" } + modes.map { .init($0) } + [
            .init("--kernels", short: "-k", takesValue: true), .init("--seconds", short: "-s", takesValue: true),
            .init("--streams", takesValue: true), .init("--device", short: "-d", takesValue: true),
            .init("--track", takesValue: true), .init("--stamp", takesValue: true), .init("--json"),
        ]

    init(_ arguments: Arguments) throws(UsageError) {
        let modes = Self.modes.filter { arguments.has($0) }
        guard modes.count <= 1 else { throw UsageError("bench does one of \(modes.joined(separator: ", ")) at a time") }
        let mode = modes.first
        for (owner, names) in Self.owned where owner != mode {
            guard let name = names.first(where: { arguments.has($0) }) else { continue }
            throw UsageError("\(name) goes with \(owner ?? "the measuring of stages") only")
        }
        if mode == "--compare" {
            guard arguments.operands.count == 2 else { throw UsageError("--compare takes two files of bench --json") }
            guard !arguments.has("--json") else { throw UsageError("--compare prints a table only") }
        } else if let operand = arguments.operands.first {
            throw UsageError("bench takes options only, not '\(operand)'")
        }
        switch mode {
        case "--end-to-end": kind = .endToEnd(try EndToEnd.Setting(arguments))
        case "--first-score": kind = .firstScore
        case "--compare": kind = .compare(arguments.operands[0], arguments.operands[1])
        default: kind = .stages
        }
        listening = try ListeningOptions(arguments, processors: 1)
        json = arguments.has("--json")
        kernels = try Self.kernels(arguments.value("--kernels"))
        let text = arguments.value("--seconds") ?? "10"
        guard let seconds = Double(text), (0.01...3600).contains(seconds) else {
            throw UsageError("--seconds takes a time from 0.01 to 3600, not '\(text)'")
        }
        self.seconds = seconds
        streams = try arguments.value("--streams").map { text throws(UsageError) in
            guard let count = Int(text), (1...10_000).contains(count) else {
                throw UsageError("--streams takes a number from 1 to 10000, not '\(text)'")
            }
            return count
        }
    }

    private static func kernels(_ text: String?) throws(UsageError) -> [InstructionSet] {
        guard let text else { return [] }
        var sets: [InstructionSet] = []
        for name in text.split(separator: ",", omittingEmptySubsequences: false) {
            guard let set = InstructionSet(rawValue: String(name)) else {
                let names = InstructionSet.allCases.map(\.rawValue).joined(separator: ", ")
                throw UsageError("--kernels takes some of \(names), with commas between, not '\(text)'")
            }
            if !sets.contains(set) { sets.append(set) }
        }
        return sets
    }
}
