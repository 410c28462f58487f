public import Glibc

/// Waiting for descriptors with `poll`.
public enum Poll {
    /// Waits until a descriptor is ready or the deadline has passed; interrupting signals are ignored.
    ///
    /// - Parameters:
    ///   - requests: a negative descriptor among them is ignored. `revents` is set for each; all are zero when the time
    ///     is over.
    ///   - deadline: on ``Clock``, in nanoseconds; nil waits for ever.
    public static func wait(_ requests: inout [pollfd], until deadline: Int64?) {
        for index in requests.indices { requests[index].revents = 0 }
        while true {
            var milliseconds: Int32 = -1
            if let deadline {
                // Rounded up, so that the deadline has passed when the wait is over.
                milliseconds = Int32(clamping: max(0, (deadline - Clock.now + 999_999) / 1_000_000))
            }
            let count = poll(&requests, nfds_t(requests.count), milliseconds)
            if count < 0, errno == EINTR { continue }
            return
        }
    }

    /// - Parameter events: such as `POLLIN`.
    public static func request(_ descriptor: Int32, _ events: Int32) -> pollfd {
        pollfd(fd: descriptor, events: Int16(events), revents: 0)
    }
}
