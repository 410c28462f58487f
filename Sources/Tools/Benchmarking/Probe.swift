import Core
public import KernelInterface
private import System

/// Work that can be repeated.
protocol Workload: AnyObject {
    /// Hops or windows per run; times are reported per unit.
    var units: Int { get }
    func run() throws
}

extension Workload {
    var units: Int { 1 }
}

/// A workload and its measured times, by round.
public final class Probe {
    public let stage: BenchStage
    /// Instruction set of the kernels; nil where the work does not depend on it.
    public let kernels: InstructionSet?
    /// Multiply-adds of one unit; nil where they are not counted.
    let multiplyAdds: Int?
    private let work: any Workload
    private var nanoseconds: [Int64] = []
    /// End index of each round in `nanoseconds`.
    private var ends: [Int] = []

    /// Times kept per round: enough for percentiles, few enough to leave the caches to the workload.
    private static let limit = 2000

    init(_ stage: BenchStage, _ kernels: InstructionSet?, multiplyAdds: Int? = nil, _ work: any Workload) {
        self.stage = stage
        self.kernels = kernels
        self.multiplyAdds = multiplyAdds
        self.work = work
    }

    /// Reserves memory, so that nothing is allocated between two clock readings.
    func reserve(rounds: Int) {
        nanoseconds.reserveCapacity(rounds * Self.limit)
        ends.reserveCapacity(rounds)
    }

    /// Repeats the work for `seconds`. The first tenth is not timed, because other work has filled the caches.
    ///
    /// - Parameter isKept: false for a round that only warms up.
    func round(seconds: Double, isKept: Bool) throws {
        // Plain integers, because all code between two clock readings is part of the measured time.
        let start = Clock.raw.nanoseconds
        let length = Duration.seconds(seconds).nanoseconds
        repeat { try work.run() } while Clock.raw.nanoseconds - start < length / 10
        guard isKept else { return }
        var count = 0
        var now = Clock.raw.nanoseconds
        repeat {
            let before = now
            try work.run()
            now = Clock.raw.nanoseconds
            nanoseconds.append(now - before)
            count += 1
        } while now - start < length && count < Self.limit
        ends.append(nanoseconds.count)
    }

    /// Microseconds per unit, `[rounds × runs]`.
    public var rounds: [[Double]] {
        zip([0] + ends, ends).map { start, end in
            nanoseconds[start..<end].map { Double($0) / 1000 / Double(work.units) }
        }
    }
}
