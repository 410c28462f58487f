private import Core

extension BenchReport {
    /// The report as a table for people.
    public var table: String {
        var columns = TextTable(
            ["STAGE", "KERNELS", "MIN", "P50", "P99", "MAX µs", "G MUL-ADD/S", "OF FLOAT PEAK", "STREAMS", ""],
            names: [0, 1, 9]
        )
        for row in stages {
            let times = [row.microseconds.min, row.microseconds.p50, row.microseconds.p99, row.microseconds.max]
            let isPeak = row.stage == BenchStage.peak.rawValue
            let share = isPeak ? nil : row.shareOfPeak
            var cells = [row.stage, row.kernels ?? "–"]
            cells += times.map { decimal($0, $0 < 10 ? 2 : 1) }
            cells.append(row.multiplyAddsPerSecond.map { decimal($0 / 1e9, 1) } ?? "")
            cells.append(share.map { decimal($0 * 100, 0) + " %" } ?? "")
            cells.append(row.realTimeFactor.map { decimal($0, 0) } ?? "")
            cells.append(BenchStage(rawValue: row.stage)?.meaning ?? "")
            columns.add(cells)
        }
        return head + columns.text + "\n" + facts + notes.map { "note: \(printable($0))\n" }.joined()
    }

    private var head: String {
        let place = machine.pinned.map { "kept on number \($0)" } ?? "kept on none"
        return "\(printable(machine.processor)), \(machine.processors) processors, \(place); \(machine.clock), "
            + "\(decimal(machine.clockNanoseconds, 0)) ns a reading\n"
            + "model \(printable(model.name)) in \(model.precision): \(millions(model.multiplyAddsPerHop)) multiply-adds a hop, "
            + "\(millions(model.multiplyAddsPerWindow)) a window; \(rounds) rounds in "
            + "\(decimal(seconds, seconds < 1 ? 2 : 1)) s\n\n"
    }

    private var facts: String {
        let times = startUp.milliseconds
        var lines = [
            "start to first score  \(decimal(times.p50, 1)) ms, \(decimal(times.min, 1)) to \(decimal(times.max, 1)), "
                + "by \(startUp.kernels)",
            "resident then         \(kilobytes(startUp.residentBytes)) KB",
            "state of a stream     \(kilobytes(model.stateBytes)) KB of the network; with detector and ring "
                + "\(kilobytes(startUp.streamBytes)) KB",
            "weights               \(kilobytes(model.weightBytes)) KB",
        ]
        if let streams { lines.append("streams at once       \(streams)") }
        return lines.joined(separator: "\n") + "\n"
    }

    private func millions(_ count: Int) -> String { decimal(Double(count) / 1e6, 2) + " M" }

    private func kilobytes(_ bytes: Int) -> String { decimal(Double(bytes) / 1000, 0) }
}
