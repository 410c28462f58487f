import Core

/// The calls of a device that the capture loop makes; a source decides nothing.
///
/// ``CardSource`` is ALSA; tests script another. Calls return a count or a negative errno, as ALSA's do.
protocol CaptureSource: ~Copyable {
    /// Opens and starts the device.
    mutating func open(_ selection: InputSelection) throws(CaptureError) -> StreamFormat
    mutating func close()
    /// Prepares and starts a device that has stopped.
    mutating func restart() -> Int32
    mutating func resume() -> Int32
    /// Reads at most so many frames without waiting.
    mutating func read(into frames: UnsafeMutableRawBufferPointer, count: Int) -> Int
    /// Frames that could be read at once.
    mutating func waiting() -> Int
    /// Waits for frames until a time. Returns 1 for frames (or an error that reading shows), 0 for none or a wake-up.
    mutating func wait(until time: Instant) -> Int32
    /// Sleeps until a time while frames gather. Returns whether it was woken. Errors are left for the next call.
    mutating func rest(until time: Instant) -> Bool
    /// Waits until a time, or until woken.
    mutating func sleep(until time: Instant)
    /// A monotonic clock.
    var now: Instant { get }
}
