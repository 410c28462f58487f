import CLinux
import Glibc

/// Wakes another thread: an event counter of the kernel, to be waited for alone or with other descriptors.
final class Bell: Sendable {
    let descriptor: Int32

    init() throws(CaptureError) {
        descriptor = CLinux_eventfd()
        guard descriptor >= 0 else {
            throw .system("cannot wake threads (eventfd: \(CaptureError.text(ofErrno: errno)))", errno)
        }
    }

    deinit { close(descriptor) }

    func ring() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, 8)
    }

    /// Makes it quiet again; whether it had been rung.
    @discardableResult
    func answer() -> Bool {
        var count: UInt64 = 0
        return read(descriptor, &count, 8) == 8
    }

    /// Waits for it until a time on ``Clock``, and answers it; whether it was rung.
    @discardableResult
    func wait(until time: Int64) -> Bool {
        while true {
            let left = max(0, time - Clock.now)
            var polled = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let result = poll(&polled, 1, Int32(clamping: (left + 999_999) / 1_000_000))
            if result > 0 { return answer() }
            if Clock.now >= time { return false }
        }
    }
}

/// The monotonic clock.
public enum Clock {
    /// Nanoseconds since some moment before; they do not count while the machine is suspended.
    public static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
