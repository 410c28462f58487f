import Core
public import KernelInterface
private import System

/// Work that can be repeated.
protocol Workload: AnyObject {
    /// Hops or windows that one run does; times are reported for one of them.
    var units: Int { get }
    func run() throws
}

extension Workload {
    var units: Int { 1 }
}

/// A workload and the times it took, round by round.
public final class Probe {
    public let stage: BenchStage
    /// Nil where kernels make no difference.
    public let kernels: InstructionSet?
    /// Of one unit; nil where they are not counted.
    let multiplyAdds: Int?
    private let work: any Workload
    private var nanoseconds: [Int64] = []
    /// Index behind each round's last time.
    private var ends: [Int] = []

    /// Times kept of a round: enough for a percentile, and few enough to stay out of the caches' way.
    private static let limit = 2000

    init(_ stage: BenchStage, _ kernels: InstructionSet?, multiplyAdds: Int? = nil, _ work: any Workload) {
        self.stage = stage
        self.kernels = kernels
        self.multiplyAdds = multiplyAdds
        self.work = work
    }

    /// Reserves memory, so that nothing is allocated between two times.
    func reserve(rounds: Int) {
        nanoseconds.reserveCapacity(rounds * Self.limit)
        ends.reserveCapacity(rounds)
    }

    /// Repeats the work for so many seconds, the first tenth untimed, because other work ran before and filled the caches.
    ///
    /// - Parameter isKept: false for a round that only warms up.
    func round(seconds: Double, isKept: Bool) throws {
        // Plain numbers: what lies between two times is part of what is measured.
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

    /// Microseconds a unit, by round.
    public var rounds: [[Double]] {
        zip([0] + ends, ends).map { start, end in
            nanoseconds[start..<end].map { Double($0) / 1000 / Double(work.units) }
        }
    }
}
