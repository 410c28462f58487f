import CSystem
public import Core
import Glibc

/// An eventfd: wakes another thread, which waits for it alone or together with other descriptors.
///
/// ``signal()`` neither allocates nor waits, and may be called from any thread.
public final class EventFD: Sendable {
    /// Readable from ``signal()`` until ``drain()``.
    public let descriptor: Int32

    /// - Parameter failure: makes the error to throw if the system has no descriptor left.
    public init<Failure: Error>(or failure: (SystemError) -> Failure) throws(Failure) {
        descriptor = CSystem_eventfd()
        guard descriptor >= 0 else { throw failure(SystemError("eventfd")) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Makes the descriptor readable.
    public func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Makes the descriptor unreadable again. Returns whether it was readable.
    @discardableResult
    public func drain() -> Bool {
        var count: UInt64 = 0
        return read(descriptor, &count, 8) == 8
    }

    /// Waits for a signal, at most until a time on ``Clock``, and drains it. Returns whether a signal came.
    @discardableResult
    public func wait(until time: Instant) -> Bool {
        while true {
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let result = poll(&polled, 1, Poll.milliseconds(until: time))
            if result > 0 { return drain() }
            if Clock.now >= time { return false }
        }
    }
}
