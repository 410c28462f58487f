private import Core
private import Evaluation
import Events
public import JSON
public import Network
public import Spotting
import System
import Wyoming

/// Measures a wake-word server under many connections: what they cost, and how late its detections come.
///
/// The server runs in this process with one worker thread, so that its processor time is the share of one core.
public struct WyomingBench {
    public struct Settings: Sendable {
        public var connections = 1
        /// Seconds of each measurement.
        public var seconds = 10.0
        /// Milliseconds of audio in a chunk: satellites send 64, Home Assistant 10.
        public var chunk = 64
        /// The recording that every connection plays, repeated.
        public var recording = ""
        /// Whether to search for the most connections whose detections come in time.
        public var findsMost = false
        /// Another server to measure, in place of an own one.
        public var address: ListenAddress?

        public init() {}
    }

    /// One measurement.
    public struct Row: Sendable {
        public let result: WyomingLoad.Result
        /// Processor time of the server's thread, as a share of one core; nil for another server.
        public let share: Double?

        /// Whether 95 % of the detections came in time, nothing was lost, and there were any.
        var isInTime: Bool { result.lost == 0 && (result.latency(0.95).map { $0 <= mostLatency } ?? false) }
        /// Whether the measurement itself kept its time.
        var isReliable: Bool { result.lateness <= 10 }
    }

    /// The latency, in milliseconds, that 95 % of the detections may have.
    static let mostLatency = 50.0

    private let settings: Settings
    private let samples: [Float]
    private let words: AnnouncedWords

    /// - Throws: `AudioError` for the recording.
    public init(
        _ settings: Settings,
        _ detector: DetectorSettings
    ) throws {
        self.settings = settings
        samples = try WyomingLoad.samples(path: settings.recording)
        words = AnnouncedWords(detector)
    }

    /// Measures with the given number of connections; then, if asked for, with more until detections come too late, and with
    /// numbers between.
    ///
    /// - Parameter report: called with each row as soon as it is measured; returns false to stop.
    public func run(_ report: (Row) -> Bool) throws {
        var row = try measure(settings.connections)
        guard report(row), settings.findsMost, settings.address == nil else { return }
        var (good, bad) = (0, 0)
        while row.isInTime, row.isReliable {
            good = row.result.connections
            row = try measure(good * 3 / 2 + 1)
            guard report(row) else { return }
        }
        guard row.isReliable || row.isInTime else { return }
        bad = row.result.connections
        while bad - good > max(10, good / 12) {
            row = try measure((good + bad) / 2)
            guard report(row) else { return }
            if row.isInTime { good = row.result.connections } else { bad = row.result.connections }
        }
    }

    private func measure(_ connections: Int) throws -> Row {
        if let limit = FileLimit.raise(to: 2 * connections + 64) {
            throw BenchmarkError(
                "\(connections) connections need \(2 * connections + 64) open files, but the limit is \(limit); raise it by ulimit -n"
            )
        }
        if let address = settings.address {
            let load = WyomingLoad(to: address, samples: samples, chunkMilliseconds: settings.chunk, isForeign: true)
            return Row(
                result: try load.run(connections: connections, seconds: settings.seconds) {
                } end: {
                },
                share: nil
            )
        }
        var options = WyomingServer.Settings(listen: [.tcp(host: "127.0.0.1", port: 0)])
        options.connections = connections
        let server = try WyomingServer(words, options, log: ServiceLog { _, _ in })
        defer { server.stop() }
        guard let address = server.addresses.first else { throw BenchmarkError("the server does not listen") }
        let load = WyomingLoad(to: address, samples: samples, chunkMilliseconds: settings.chunk, isForeign: false)
        var (busy, time) = (Duration.zero, Clock.now)
        var share = 0.0
        let result = try load.run(connections: connections, seconds: settings.seconds) {
            (busy, time) = (server.counts.busy, Clock.now)
        } end: {
            share = (server.counts.busy - busy).seconds / (Clock.now - time).seconds
        }
        return Row(result: result, share: share)
    }

    /// Rows as a table, and what they say.
    public static func table(_ rows: [Row], _ settings: Settings) -> String {
        var columns = TextTable(
            ["CONNECTIONS", "OF A CORE", "DETECTIONS", "P50", "P95", "MAX ms", "LOST", "SENT LATE ms"],
            names: []
        )
        for row in rows {
            let result = row.result
            columns.add([
                "\(result.connections)", row.share.map { decimal($0 * 100, 1) + " %" } ?? "–", "\(result.detections)",
                result.latency(0.5).map { decimal($0, 1) } ?? "–", result.latency(0.95).map { decimal($0, 1) } ?? "–",
                result.latency(1).map { decimal($0, 1) } ?? "–", "\(result.lost)", decimal(result.lateness, 1),
            ])
        }
        var text = columns.text
        let good = rows.filter { $0.isInTime && $0.isReliable }
        if settings.findsMost, let most = good.map(\.result.connections).max() {
            text += "\nmost connections with 95 % of the detections within \(decimal(mostLatency, 0)) ms: \(most)\n"
        }
        if rows.contains(where: { !$0.isReliable }) {
            text +=
                "note: the sending thread was late, and the latencies with it; stop what else runs, or send larger chunks\n"
        }
        return text
    }

    /// Rows as JSON.
    public static func json(_ rows: [Row], _ settings: Settings) -> JSON {
        [
            "benchmark": "wyoming", "chunkMilliseconds": .number(settings.chunk),
            "seconds": .number(settings.seconds, places: 1),
            "rows": .array(
                rows.map { row in
                    func time(_ share: Double) -> JSON {
                        row.result.latency(share).map { .number($0, places: 2) } ?? .null
                    }
                    return [
                        "connections": .number(row.result.connections),
                        "share": row.share.map { .number($0, places: 4) } ?? .null,
                        "detections": .number(row.result.detections), "lost": .number(row.result.lost),
                        "milliseconds": ["p50": time(0.5), "p95": time(0.95), "max": time(1)],
                        "lateMilliseconds": .number(row.result.lateness, places: 2),
                    ]
                }
            ),
        ]
    }
}
