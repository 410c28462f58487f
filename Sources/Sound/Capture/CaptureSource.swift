import Core

/// The device calls that the capture loop makes; a source makes no decisions.
///
/// ``CardSource`` calls ALSA; tests use a scripted source. Calls return a count or a negative errno, as ALSA's do.
protocol CaptureSource: ~Copyable {
    /// Opens and starts the device.
    mutating func open(_ selection: InputSelection) throws(CaptureError) -> StreamFormat
    mutating func close()
    /// Prepares and starts a device that has stopped.
    mutating func restart() -> Int32
    mutating func resume() -> Int32
    /// Reads at most `count` frames without waiting.
    mutating func read(into frames: UnsafeMutableRawBufferPointer, count: Int) -> Int
    /// Frames that can be read without waiting.
    mutating func waiting() -> Int
    /// Waits for frames until a time. Returns 1 for frames or an error that the next read returns; 0 for the timeout or
    /// a wake-up.
    mutating func wait(until time: Instant) -> Int32
    /// Sleeps until a time without polling the device. Returns whether it was woken.
    mutating func rest(until time: Instant) -> Bool
    /// Sleeps until a time, or until woken.
    mutating func sleep(until time: Instant)
    /// A monotonic clock.
    var now: Instant { get }
}
