public import Core
import Glibc
import Network
import System

/// Writes to the system's journal by its native protocol: one datagram per entry, one line per field (systemd's
/// JOURNAL_NATIVE_PROTOCOL).
///
/// libsystemd's `sd_journal_sendv` is not used: it blocks while journald does not read, so it would need a queue and a
/// thread of its own, and it reports success if no journald runs.
public final class Journal: Sendable {
    /// The path of journald's socket.
    public static let systemPath = "/run/systemd/journal/socket"

    private let descriptor: FileDescriptor
    private let path: String

    /// Opens a datagram socket. If that fails, each write throws.
    public init(path: String = systemPath) {
        self.path = path
        descriptor = UnixSocket.makeSender()
    }

    /// Writes an entry; never blocks.
    ///
    /// - Parameter fields: names of capitals, digits and underscores, with their values.
    /// - Throws: ``ActionError/journal``, for example if no journald runs.
    public func write(
        _ message: String,
        level: LogLevel,
        fields: [(name: String, value: String)] = []
    ) throws(ActionError) {
        let all =
            [("MESSAGE", message), ("PRIORITY", String(level.syslogPriority)), ("SYSLOG_IDENTIFIER", "beckon")] + fields
        guard UnixSocket.send(Self.entry(all), from: descriptor, to: path) else {
            throw .journal.saying(
                "cannot write to the journal at \(path): sendto: \(SystemError.text(errno)); is journald running?"
            )
        }
    }

    /// The fields as one datagram. A value with line ends is preceded by its length: 8 bytes, little endian.
    static func entry(_ fields: [(name: String, value: String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (name, value) in fields {
            bytes += name.utf8
            if value.utf8.contains(10) {
                bytes.append(10)
                withUnsafeBytes(of: UInt64(value.utf8.count).littleEndian) { bytes += $0 }
            } else {
                bytes.append(UInt8(ascii: "="))
            }
            bytes += value.utf8
            bytes.append(10)
        }
        return bytes
    }
}
