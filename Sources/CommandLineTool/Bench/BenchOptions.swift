import Benchmarking
import Configuration
import KernelInterface
private import Network
import Spotting

/// The options of `beckon bench`.
struct BenchOptions {
    /// The kind of measurement; each but the first is selected by its own option.
    enum Kind {
        /// The stages of the engine, for each set of kernels.
        case stages
        /// Latency from a word to its action: the capture device, the label track of the audio played into it, and the
        /// program that records the time at which it was started.
        case endToEnd(device: String, track: String, stamp: String)
        case firstScore
        /// A wake-word server under this many connections.
        case wyoming(WyomingBench.Settings)
        /// Two JSON reports.
        case compare(String, String)
    }

    private let arguments: Arguments
    let kind: Kind
    let listening: ListeningOptions

    var json: Bool { arguments.has("--json") }
    /// Kernel sets to measure; empty for the default ones.
    var kernels: [InstructionSet] { arguments.list("--kernels") }
    /// The duration of the measurement, in seconds.
    var seconds: Double { arguments.number("--seconds") ?? 10 }
    var streams: Int? { arguments.whole("--streams") }

    /// The gate of `listen`, with the mode and the trigger of the command line.
    var gate: GateSettings {
        var gate = Configuration().gate
        gate.mode = listening.mode ?? gate.mode
        gate.trigger = listening.trigger ?? gate.trigger
        return gate
    }

    private static let modes = ["--end-to-end", "--first-score", "--compare", "--wyoming"]

    /// Options that belong to one measurement, by the option that selects it; nil for the measurement of stages.
    private static let owned: [(modes: [String?], names: [String])] = [
        (["--end-to-end"], ["--device", "--track", "--stamp"]), ([nil], ["--streams"]),
        ([nil, "--wyoming"], ["--seconds"]), (["--wyoming"], ["--chunk", "--file", "--most", "--connect"]),
    ]

    init(_ arguments: Arguments) throws(UsageError) {
        self.arguments = arguments
        let modes = Self.modes.filter { arguments.has($0) }
        guard modes.count <= 1 else { throw UsageError("bench does one of \(modes.joined(separator: ", ")) at a time") }
        let mode = modes.first
        for (owners, names) in Self.owned where !owners.contains(mode) {
            guard let name = names.first(where: { arguments.has($0) }) else { continue }
            let owner = owners.map { $0 ?? "the measurement of stages" }.joined(separator: " and ")
            throw UsageError("\(name) goes with \(owner) only")
        }
        if mode == "--compare" {
            guard arguments.operands.count == 2 else { throw UsageError("--compare takes two files of bench --json") }
            guard !arguments.has("--json") else { throw UsageError("--compare prints a table only") }
        } else if let operand = arguments.operands.first {
            throw UsageError("bench takes options only, not '\(operand)'")
        }
        switch mode {
        case "--end-to-end": kind = try Self.endToEnd(arguments)
        case "--first-score": kind = .firstScore
        case "--wyoming": kind = .wyoming(try Self.wyoming(arguments))
        case "--compare": kind = .compare(arguments.operands[0], arguments.operands[1])
        default: kind = .stages
        }
        listening = try ListeningOptions(arguments)
    }

    private static func wyoming(_ arguments: Arguments) throws(UsageError) -> WyomingBench.Settings {
        var settings = WyomingBench.Settings()
        settings.connections = arguments.whole("--wyoming") ?? settings.connections
        settings.seconds = arguments.number("--seconds") ?? settings.seconds
        settings.chunk = arguments.whole("--chunk") ?? settings.chunk
        settings.recording = arguments.value("--file") ?? "/usr/share/sounds/alsa/Front_Left.wav"
        settings.findsMost = arguments.has("--most")
        settings.address = arguments.value("--connect").flatMap { try? ListenAddress($0) }
        guard settings.seconds >= 1 else { throw UsageError("--wyoming measures for a second at least") }
        guard settings.address == nil || !settings.findsMost else {
            throw UsageError("--most measures the own server, not one of --connect")
        }
        return settings
    }

    private static func endToEnd(_ arguments: Arguments) throws(UsageError) -> Kind {
        func needed(_ name: String) throws(UsageError) -> String {
            guard let value = arguments.value(name) else { throw UsageError("bench --end-to-end needs \(name)") }
            return value
        }
        let (device, track, stamp) = (try needed("--device"), try needed("--track"), try needed("--stamp"))
        guard stamp.hasPrefix("/") else {
            throw UsageError("--stamp takes a program's full path, not '\(stamp)'")
        }
        return .endToEnd(device: device, track: track, stamp: stamp)
    }
}
