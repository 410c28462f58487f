private import Synchronization

/// The taps of a ``PolyphaseFilter``: all filters of one input rate share them, in whichever thread they run.
///
/// To compute them takes as long as to filter a second of audio. Whoever asks for a rate that nobody has asked for lately pays for it
/// once; the memory is that of the rates in use, and of a few that were used last, because most files of a corpus are short.
final class FilterBank: Sendable {
    let taps: [Float]

    private init(_ taps: [Float]) { self.taps = taps }

    private struct Reference {
        weak var bank: FilterBank?
    }

    private struct Banks {
        /// Those in use.
        var known: [Int: Reference] = [:]
        /// Those that are kept without use, the newest last.
        var recent: [FilterBank] = []
        /// How many were computed so far.
        var computed = 0
    }

    /// Bytes of taps that are kept without use; all common rates together need less.
    private static let mostKept = 2 << 20

    private static let banks = Mutex(Banks())

    /// The taps of an input rate; computed under the lock, so that threads that ask at the same time wait for one computation.
    static func shared(of inputRate: Int, _ compute: () -> [Float]) -> FilterBank {
        banks.withLock { banks in
            let known = banks.known[inputRate]?.bank
            if known == nil { banks.computed += 1 }
            let bank = known ?? FilterBank(compute())
            if known == nil {
                banks.known = banks.known.filter { $0.value.bank != nil }
                banks.known[inputRate] = Reference(bank: bank)
            }
            banks.recent.removeAll { $0 === bank }
            banks.recent.append(bank)
            var kept = banks.recent.reduce(0) { $0 + $1.bytes }
            while kept > mostKept, banks.recent.count > 1 { kept -= banks.recent.removeFirst().bytes }
            return bank
        }
    }

    /// Computations so far, and the banks in memory now, with their bytes; for tests.
    static var counts: (computed: Int, banks: Int, bytes: Int) {
        banks.withLock { banks in
            let alive = banks.known.values.compactMap(\.bank)
            return (banks.computed, alive.count, alive.reduce(0) { $0 + $1.bytes })
        }
    }

    private var bytes: Int { taps.count * MemoryLayout<Float>.stride }
}
