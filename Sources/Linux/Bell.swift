import CLinux
import Glibc

/// Wakes another thread: an event counter of the kernel, to be waited for alone or with other descriptors.
///
/// Ringing neither allocates nor waits, and may be done from any thread.
public final class Bell: Sendable {
    /// Readable while it has been rung and not answered.
    public let descriptor: Int32

    /// - Parameter failure: what to throw where the system has no descriptor left.
    public init<Failure: Error>(or failure: (SystemError) -> Failure) throws(Failure) {
        descriptor = CLinux_eventfd()
        guard descriptor >= 0 else { throw failure(SystemError("eventfd")) }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    public func ring() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Makes it quiet again; whether it had been rung.
    @discardableResult
    public func answer() -> Bool {
        var count: UInt64 = 0
        return read(descriptor, &count, 8) == 8
    }

    /// Waits for it until a time on ``Clock``, and answers it; whether it was rung.
    @discardableResult
    public func wait(until time: Int64) -> Bool {
        while true {
            let left = max(0, time - Clock.now)
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let result = poll(&polled, 1, Int32(clamping: (left + 999_999) / 1_000_000))
            if result > 0 { return answer() }
            if Clock.now >= time { return false }
        }
    }
}
