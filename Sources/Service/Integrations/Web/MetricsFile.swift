public import Configuration
public import Core
import Events
import Glibc
public import IntegrationInterface
public import Metrics
import Network
import System

/// Writes the metrics to a file again and again, for node-exporter's textfile collector: for those who want no port.
///
/// The file is replaced as a whole, so that a reader finds either the old text or the new one, and deleted at the end, so that what
/// does not run any more is not reported.
public final class MetricsFile: Integration {
    public static let key = "metrics"

    public struct Counts: Counted {
        var writes = 0
        var failures = 0

        public static let counters: [Counter<Counts>] = [
            Counter("writes", \.writes), Counter("failures", \.failures),
        ]
    }

    private let path: String
    private let interval: Duration
    private let service: any Service
    private let thread: InboxThread<Counts>

    public static func configured(in configuration: Configuration) -> Configuration.MetricsFile? {
        configuration.metrics.file == nil ? nil : configuration.metrics
    }

    /// Starts the thread that writes.
    ///
    /// - Throws: ``SocketError`` if the system gives no descriptor or thread.
    public init(_ configured: Configuration.MetricsFile, _ service: any Service) throws {
        path = configured.file ?? ""
        interval = .milliseconds(Int(configured.interval * 1000))
        self.service = service
        thread = try InboxThread(Counts(), or: SocketError.noEventFD)
        try thread.start(name: "beckon-metrics", stackSize: 512 << 10, or: SocketError.noThread) { [self] in run() }
    }

    public var counts: Counts { thread.withLock { $0 } }

    @discardableResult
    public func stop(until time: Instant?) -> Bool { thread.stop(until: time) }

    private func run() {
        var said: SystemError?
        while !thread.isStopped {
            do throws(SystemError) {
                try write(MetricsFormat.prometheus.text(service.metrics))
                thread.withLock { $0.writes += 1 }
                said = nil
            } catch {
                thread.withLock { $0.failures += 1 }
                // The same reason again is not worth a line.
                if said != error {
                    service.log.write(
                        .warning,
                        "metrics: \(path): \(error); the service's user needs to write to its folder; trying again"
                    )
                }
                said = error
            }
            thread.wait(until: Clock.now + interval)
        }
        unlink(FileName.cString(path))
    }

    /// Readable for all, because node-exporter is another user. Not durable: after a power failure it is written again. The collector reads
    /// files that end with .prom only, so it does not read the temporary one.
    private func write(_ text: String) throws(SystemError) {
        try replaceFile(path, mode: 0o644, durable: false, Array(text.utf8))
    }
}
