import CSystem
import Glibc

/// A file descriptor with one owner; it is closed when its owner is destroyed.
public struct FileDescriptor: ~Copyable, Sendable {
    public let rawValue: Int32

    /// Takes ownership of a descriptor; a negative number means that there is none.
    public init(_ rawValue: Int32) { self.rawValue = rawValue }

    deinit { if rawValue >= 0 { Glibc.close(rawValue) } }

    public var isOpen: Bool { rawValue >= 0 }

    /// Makes reads and writes return `EAGAIN` instead of waiting.
    public func setNonBlocking() { _ = fcntl(rawValue, F_SETFL, fcntl(rawValue, F_GETFL) | O_NONBLOCK) }

    /// Closes it now, before the end of the scope.
    public consuming func close() {}

    /// Hands it over to a new owner, such as a C library.
    public consuming func take() -> Int32 {
        let number = rawValue
        discard self
        return number
    }
}

/// A pipe, closed on exec. The descriptors of both ends are 3 or higher, so neither is taken for a standard stream.
public struct Pipe: ~Copyable {
    public let read: FileDescriptor
    public let write: FileDescriptor

    /// - Throws: if the system has no descriptor left.
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

    /// Moves a descriptor to 3 or higher: in a service without standard streams a new one may get the numbers 0 to 2.
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
