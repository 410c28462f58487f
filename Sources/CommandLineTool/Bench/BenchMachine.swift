private import FoundationEssentials
private import System

/// The processor that is measured.
struct BenchMachine: Codable {
    let processor: String
    /// How many the system has.
    let processors: Int
    /// The one that all was measured on; nil where the system allowed none to be chosen.
    let pinned: Int?
    /// The clock that everything is timed by, and what one reading takes, which is part of each time.
    let clock: String
    let clockNanoseconds: Double

    /// Keeps the calling thread on one processor from here on.
    static func pin() -> BenchMachine {
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
        return Double((Clock.raw - start) * 10 / Int64(count)) / 10
    }

    /// As the kernel names it: `model name` on x86-64; other architectures have no such line.
    private static func processorName() -> String {
        let text = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
        for line in text.split(separator: "\n") where line.hasPrefix("model name") {
            return line.split(separator: ":").last.map { String($0.drop(while: \.isWhitespace)) } ?? "unknown"
        }
        return "unknown"
    }
}
