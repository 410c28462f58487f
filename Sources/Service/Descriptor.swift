import CSystem
import Glibc
import System

/// A file descriptor with one owner, closed with it.
struct Descriptor: ~Copyable, Sendable {
    let number: Int32

    /// Takes a descriptor over; a negative number is none.
    init(_ number: Int32) { self.number = number }

    deinit { if number >= 0 { close(number) } }

    var isOpen: Bool { number >= 0 }

    func setNonBlocking() { _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK) }
}

/// A pipe closed on exec, neither end of which is one of the three standard streams.
struct Pipe: ~Copyable {
    let read: Descriptor
    let write: Descriptor

    /// Nil with `errno` set where the system gives none.
    static func make() -> Pipe? {
        var ends: (Int32, Int32) = (-1, -1)
        let made = withUnsafeMutablePointer(to: &ends) { pair in
            pair.withMemoryRebound(to: Int32.self, capacity: 2) { CSystem_pipe($0) }
        }
        guard made == 0 else { return nil }
        let pipe = Pipe(read: Descriptor(clear(ends.0)), write: Descriptor(clear(ends.1)))
        guard pipe.read.isOpen, pipe.write.isOpen else { return nil }
        return pipe
    }

    /// Where a service runs without its standard streams, a new descriptor may take their numbers.
    private static func clear(_ number: Int32) -> Int32 {
        guard number < 3 else { return number }
        let moved = fcntl(number, F_DUPFD_CLOEXEC, 3)
        close(number)
        return moved
    }
}

/// Waits for descriptors. A negative number among them is passed over.
enum Poll {
    /// - Parameter deadline: on the monotonic clock; nil waits for ever.
    /// - Returns: what `poll` found for each; all zero when the time is over.
    static func wait(_ requests: inout [pollfd], until deadline: Int64?) {
        for index in requests.indices { requests[index].revents = 0 }
        while true {
            var milliseconds: Int32 = -1
            if let deadline {
                // Rounded up, so that a deadline has passed when the wait is over.
                milliseconds = Int32(clamping: max(0, (deadline - Clock.now + 999_999) / 1_000_000))
            }
            let count = poll(&requests, nfds_t(requests.count), milliseconds)
            if count < 0, errno == EINTR { continue }
            return
        }
    }

    static func request(_ descriptor: Int32, _ events: Int32) -> pollfd {
        pollfd(fd: descriptor, events: Int16(events), revents: 0)
    }
}
