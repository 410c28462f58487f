private import Glibc

/// How a program ended, and the last of what it wrote on standard error.
public struct ProgramEnd: Equatable, Sendable {
    public enum Reason: Equatable, Sendable {
        case exited(Int32)
        case signalled(Int32)
        /// It took too long, and was ended with everything that it started.
        case timedOut(seconds: Double)
        /// The service stopped, and ended it.
        case stopped
    }

    public let reason: Reason
    /// At most 1 KiB, line ends as slashes.
    public let errorTail: String

    public var isSuccess: Bool { reason == .exited(0) || reason == .stopped }

    /// What went wrong, for a report.
    public var description: String {
        let what =
            switch reason {
            case .exited(let status): "exit status \(status)"
            case .signalled(let number): "ended by signal \(number) (\(String(cString: strsignal(number))))"
            case .timedOut(let seconds): "took longer than \(shortest(seconds)) s and was ended"
            case .stopped: "was ended, as the service stops"
            }
        return errorTail.isEmpty ? what : "\(what); it said: \(errorTail)"
    }
}

/// Keeps the last bytes of a stream.
struct Tail {
    static let capacity = 1024

    private var bytes: [UInt8] = []
    private var isCut = false

    mutating func add(_ new: some Collection<UInt8>) {
        bytes += new
        guard bytes.count > Self.capacity else { return }
        bytes.removeFirst(bytes.count - Self.capacity)
        isCut = true
    }

    /// As one line; what was cut off before is an ellipsis.
    var line: String {
        let lines = String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
        return (isCut ? "…" : "") + lines.joined(separator: " / ")
    }
}
