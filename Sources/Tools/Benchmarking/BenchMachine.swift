import Core
private import Glibc
private import System

/// The processor and the clock of a measurement.
public struct BenchMachine: Codable, Sendable {
    let processor: String
    /// Number of processors of the system.
    let processors: Int
    /// Number of the processor that the thread was pinned to; nil where the system did not allow pinning.
    let pinned: Int?
    /// Name of the clock of all times.
    let clock: String
    /// Cost of one clock reading, in ns; each measured time contains it.
    let clockNanoseconds: Double

    /// Pins the calling thread to one processor and describes it.
    public static func pin() -> BenchMachine {
        let number = pinThread()
        return BenchMachine(
            processor: processorName(),
            processors: Int(sysconf(Int32(_SC_NPROCESSORS_CONF))),
            pinned: number,
            clock: "CLOCK_MONOTONIC_RAW",
            clockNanoseconds: clockCost()
        )
    }

    private static func clockCost() -> Double {
        let count = 1000
        let start = Clock.raw
        for _ in 0..<count - 1 { _ = Clock.raw }
        return Double((Clock.raw - start).nanoseconds * 10 / Int64(count)) / 10
    }

    private static func processorName() -> String {
        processorName(
            cpuinfo: kernelText("/proc/cpuinfo") ?? "",
            board: kernelText("/proc/device-tree/model") ?? ""
        )
    }

    /// `model name` of /proc/cpuinfo. On arm64, which has no such line: the board by the device tree, such as a Raspberry Pi 4, and the
    /// cores by their part number.
    static func processorName(cpuinfo: String, board: String) -> String {
        var parts: [String] = []
        for line in cpuinfo.split(separator: "\n") {
            let value =
                line.split(separator: ":", maxSplits: 1).last.map { String($0.drop(while: \.isWhitespace)) } ?? ""
            if line.hasPrefix("model name"), !value.isEmpty { return value }
            guard line.hasPrefix("CPU part"), !value.isEmpty else { continue }
            let name = coreNames[value] ?? "arm64 part \(value)"
            if !parts.contains(name) { parts.append(name) }
        }
        let name = board.filter { $0 != "\0" && $0 != "\n" }
        if !name.isEmpty { parts.insert(name, at: 0) }
        return parts.isEmpty ? "unknown" : parts.joined(separator: ", ")
    }

    /// Cores of the Raspberry Pi 3, 4 and 5 and of other boards and servers, by the part number of the register MIDR_EL1 (Arm).
    private static let coreNames = [
        "0xd03": "Cortex-A53", "0xd05": "Cortex-A55", "0xd07": "Cortex-A57", "0xd08": "Cortex-A72",
        "0xd09": "Cortex-A73",
        "0xd0a": "Cortex-A75", "0xd0b": "Cortex-A76", "0xd0c": "Neoverse N1", "0xd40": "Neoverse V1",
        "0xd49": "Neoverse N2",
    ]
}
