import CSystem
import Glibc

/// A file descriptor with one owner, closed with it.
public struct FileDescriptor: ~Copyable, Sendable {
    public let rawValue: Int32

    /// Takes a descriptor over; a negative number is none.
    public init(_ rawValue: Int32) { self.rawValue = rawValue }

    deinit { if rawValue >= 0 { Glibc.close(rawValue) } }

    public var isOpen: Bool { rawValue >= 0 }

    /// Reads and writes return at once with `EAGAIN` in place of waiting.
    public func setNonBlocking() { _ = fcntl(rawValue, F_SETFL, fcntl(rawValue, F_GETFL) | O_NONBLOCK) }

    /// Closes it now, and not only at the end of the scope.
    public consuming func close() {}
}

/// A pipe closed on exec, neither end of which has the number of a standard stream.
public struct Pipe: ~Copyable {
    public let read: FileDescriptor
    public let write: FileDescriptor

    /// - Throws: where the system has no descriptor left.
    public init() throws(SystemError) {
        var ends: (Int32, Int32) = (-1, -1)
        let result = withUnsafeMutablePointer(to: &ends) { pair in
            pair.withMemoryRebound(to: Int32.self, capacity: 2) { CSystem_pipe($0) }
        }
        guard result == 0 else { throw SystemError("pipe2") }
        let read = FileDescriptor(Pipe.aboveStandardStreams(ends.0))
        let write = FileDescriptor(Pipe.aboveStandardStreams(ends.1))
        guard read.isOpen, write.isOpen else { throw SystemError("fcntl") }
        self.read = read
        self.write = write
    }

    /// Where a service runs without its standard streams, a new descriptor may take their numbers.
    private static func aboveStandardStreams(_ number: Int32) -> Int32 {
        guard (0..<3).contains(number) else { return number }
        let moved = fcntl(number, F_DUPFD_CLOEXEC, 3)
        let failure = errno
        Glibc.close(number)
        errno = failure
        return moved
    }

    /// Closes both ends now.
    public consuming func close() {}

    /// Closes the writing end and keeps the reading end.
    public consuming func keepReading() -> FileDescriptor { read }
}
