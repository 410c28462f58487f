import KernelInterface
private import System

/// A piece of work that can be done again and again.
protocol Workload: AnyObject {
    /// What one run does, counted in what is reported: hops, windows.
    var units: Int { get }
    func run() throws
}

extension Workload {
    var units: Int { 1 }
}

/// One row in the making: a workload and the times it took, round by round.
final class Probe {
    let stage: BenchStage
    /// Nil where kernels make no difference.
    let kernels: InstructionSet?
    /// Of one unit; nil where they are not counted.
    let multiplyAdds: Int?
    private let work: any Workload
    private var nanoseconds: [Int64] = []
    /// Where each round ends in them.
    private var ends: [Int] = []

    /// Times kept of a round: enough for a percentile, and few enough to leave the caches alone.
    private static let limit = 2000

    init(_ stage: BenchStage, _ kernels: InstructionSet?, multiplyAdds: Int? = nil, _ work: any Workload) {
        self.stage = stage
        self.kernels = kernels
        self.multiplyAdds = multiplyAdds
        self.work = work
    }

    /// Makes room, so that nothing is allocated between two times.
    func reserve(rounds: Int) {
        nanoseconds.reserveCapacity(rounds * Self.limit)
        ends.reserveCapacity(rounds)
    }

    /// Does the work for so many seconds, first some of it untimed, since what ran before has taken the caches.
    ///
    /// - Parameter isKept: false for a round that only warms up.
    func round(seconds: Double, isKept: Bool) throws {
        let start = Clock.raw
        let length = Int64(seconds * 1e9)
        repeat { try work.run() } while Clock.raw - start < length / 10
        guard isKept else { return }
        var count = 0
        var now = Clock.raw
        repeat {
            let before = now
            try work.run()
            now = Clock.raw
            nanoseconds.append(now - before)
            count += 1
        } while now - start < length && count < Self.limit
        ends.append(nanoseconds.count)
    }

    /// Microseconds a unit, by round.
    var rounds: [[Double]] {
        zip([0] + ends, ends).map { start, end in
            nanoseconds[start..<end].map { Double($0) / 1000 / Double(work.units) }
        }
    }
}
