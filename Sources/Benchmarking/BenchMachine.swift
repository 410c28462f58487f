import Core
private import FoundationEssentials
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
            processors: ProcessInfo.processInfo.processorCount,
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

    /// `model name` of /proc/cpuinfo; other architectures than x86-64 have no such line.
    private static func processorName() -> String {
        let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        for line in text.split(separator: "\n") where line.hasPrefix("model name") {
            return line.split(separator: ":").last.map { String($0.drop(while: \.isWhitespace)) } ?? "unknown"
        }
        return "unknown"
    }
}
