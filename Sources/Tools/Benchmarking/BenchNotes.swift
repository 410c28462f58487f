private import Core
private import Inference
private import KernelInterface

/// Remarks on the quality of a measurement: other load, throttling, a debug build.
enum BenchNotes {
    /// Ratio of the slowest round's median to the fastest round's; 1 where there are no rounds.
    static func spread(_ rounds: [[Double]]) -> Double {
        let medians = rounds.compactMap { Timing($0)?.p50 }
        guard let least = medians.min(), let most = medians.max(), least > 0 else { return 1 }
        return most / least
    }

    static func all(machine: BenchMachine, model: BenchReport.ModelFacts, rows: [BenchReport.Row], probes: [Probe])
        -> [String]
    {
        var notes: [String] = []
        #if DEBUG
        notes.append("built without optimisation: all times are too long; measure a release build")
        #endif
        if machine.pinned == nil {
            notes.append("the system did not let the work be kept on one processor, so times vary more")
        }
        if let note = noise(rows) { notes.append(note) }
        if let note = abovePeak(rows, isInteger: model.precision == Precision.int8.rawValue) { notes.append(note) }
        #if arch(arm64)
        notes.append(wanted)
        #endif
        for probe in probes where probe.stage == .peak {
            if let note = throttling(probe.rounds, kernels: probe.kernels?.rawValue ?? "") { notes.append(note) }
        }
        return notes
    }

    /// What the owner of an arm64 board can do for all others.
    static let wanted =
        "the project has estimates for arm64 and no measurements: please send it the output of `beckon bench --json` and of "
        + "`uname -a`, and say how the board is cooled"

    /// A note on the row with the largest spread of rounds or percentiles; nil where all are as on a quiet machine.
    static func noise(_ rows: [BenchReport.Row]) -> String? {
        /// Spread relative to a quiet machine's: 1.15 between rounds, 1.5 from median to 99th percentile.
        func excess(_ row: BenchReport.Row) -> Double {
            max(row.spread / 1.15, row.microseconds.p99 / max(row.microseconds.p50, 1e-9) / 1.5)
        }
        guard let worst = rows.max(by: { excess($0) < excess($1) }), excess(worst) > 1 else { return nil }
        let tail = worst.microseconds.p99 / max(worst.microseconds.p50, 1e-9)
        return
            "the machine is noisy: of \(worst.title) the slowest round took \(decimal(worst.spread, 2)) times as long as the "
            + "quickest, and one run in a hundred \(decimal(tail, 1)) times the median; stop what else runs and measure again"
    }

    /// A note where a stage is quicker than the peak that it is compared with; nil where none is.
    static func abovePeak(_ rows: [BenchReport.Row], isInteger: Bool) -> String? {
        let name = BenchStage.peak.rawValue
        guard let row = rows.first(where: { $0.stage != name && $0.shareOfPeak ?? 0 > 1 }), let share = row.shareOfPeak
        else { return nil }
        let found = "\(row.title) has \(decimal(share * 100, 0)) % of the peak"
        return isInteger
            ? "\(found) because \(name) is the peak of floats: this network multiplies 8-bit integers, of which an instruction takes "
                + "several times as many"
            : "\(found), which cannot be: the processor was slower while \(name) was measured; measure again"
    }

    /// A note where the minimum of the last quarter of the rounds is 5 % above that of the first quarter; else nil.
    ///
    /// Minimums are compared because other load rarely slows several whole rounds.
    static func throttling(_ rounds: [[Double]], kernels: String) -> String? {
        let part = max(1, rounds.count / 4)
        guard let first = rounds.prefix(part).joined().min(), let last = rounds.suffix(part).joined().min(), first > 0,
            last / first > 1.05
        else { return nil }
        return
            "the processor slowed down: at the end its \(kernels) multiply-adds took \(decimal(last / first, 2)) times as long "
            + "as at the start; it may be throttled: let it cool, or fix its frequency"
    }
}
