public import Foundation
import Glibc

/// A pipe that is full: its reader has stopped to read.
public final class StalledPipe {
    public let writing: Int32
    private var reading: Int32

    public init() throws {
        // Else a write after the reader has gone ends the test process.
        signal(SIGPIPE, SIG_IGN)
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw CocoaError(.fileWriteUnknown) }
        (reading, writing) = (ends[0], ends[1])
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(writing, F_SETFL, O_NONBLOCK)
        let filler = [UInt8](repeating: UInt8(ascii: "."), count: 4096)
        while write(writing, filler, filler.count) > 0 {}
        // Shared with the program under test, and as blocking as a terminal or a pipe of a shell.
        _ = fcntl(writing, F_SETFL, 0)
        _ = fcntl(reading, F_SETFL, O_NONBLOCK)
    }

    deinit {
        close(reading)
        close(writing)
    }

    /// The writing end, for `Process`.
    public var file: FileHandle { FileHandle(fileDescriptor: writing, closeOnDealloc: false) }

    /// What is in the pipe now, without the dots that filled it.
    public func read() -> String {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = Glibc.read(reading, &piece, piece.count)
            guard count > 0 else { return String(decoding: bytes.drop { $0 == UInt8(ascii: ".") }, as: UTF8.self) }
            bytes += piece.prefix(count)
        }
    }

    /// The reader goes away.
    public func hangUp() {
        close(reading)
        reading = -1
    }
}
