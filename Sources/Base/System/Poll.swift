public import Core
public import Glibc

/// Waiting for descriptors with `poll`.
public enum Poll {
    /// Waits until a descriptor is ready or the deadline has passed; interrupting signals are ignored.
    ///
    /// - Parameters:
    ///   - requests: a negative descriptor is ignored. `revents` is set in each; all are 0 if the deadline has passed.
    ///   - deadline: on ``Clock``; nil: no deadline.
    public static func wait(_ requests: inout [pollfd], until deadline: Instant?) {
        for index in requests.indices { requests[index].revents = 0 }
        while true {
            let count = poll(&requests, nfds_t(requests.count), deadline.map(milliseconds(until:)) ?? -1)
            if count < 0, errno == EINTR { continue }
            return
        }
    }

    /// A request for ``wait(_:until:)``.
    ///
    /// - Parameter events: such as `POLLIN`.
    public static func request(_ descriptor: Int32, _ events: Int32) -> pollfd {
        pollfd(fd: descriptor, events: Int16(events), revents: 0)
    }

    /// A timeout for `poll` in ms, rounded up, so that the deadline has passed when the wait is over.
    public static func milliseconds(until deadline: Instant) -> Int32 {
        let left = max(0, (deadline - Clock.now).nanoseconds)
        return Int32(clamping: left / 1_000_000 + (left % 1_000_000 > 0 ? 1 : 0))
    }
}
