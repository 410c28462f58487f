import Core
import System

/// Notices when a file was replaced, changed, created or removed.
struct FileWatch {
    /// The shortest time between two checks.
    private static let interval = Duration.seconds(1)

    private let path: String?
    private var known: FileStatus?
    private var next = Instant(nanoseconds: 0)

    /// - Parameter path: nil for no file, which never changes.
    init(_ path: String?) {
        self.path = path
        known = path.flatMap { try? FileStatus(path: $0) }
    }

    /// Whether the file has changed since the last check. Checks at most once a second; false in between.
    ///
    /// - Parameter now: the time on the monotonic clock.
    mutating func hasChanged(at now: Instant) -> Bool {
        guard let path, now >= next else { return false }
        next = now + Self.interval
        let status = try? FileStatus(path: path)
        defer { known = status }
        return status != known
    }
}
