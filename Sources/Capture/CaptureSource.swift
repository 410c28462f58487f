import Core

/// A device as the capture loop uses it: the system's calls, and nothing decided.
///
/// The sound card is one such source (``CardSource``); tests script another. Calls give a count or a negative errno,
/// as ALSA's do.
protocol CaptureSource: ~Copyable {
    /// Opens the device, which then runs.
    mutating func open(_ selection: InputSelection) throws(CaptureError) -> StreamFormat
    mutating func close()
    /// Makes a device that has stopped run again.
    mutating func restart() -> Int32
    mutating func resume() -> Int32
    /// Reads at most so many frames without waiting.
    mutating func read(into frames: UnsafeMutableRawBufferPointer, count: Int) -> Int
    /// Frames that could be read at once.
    mutating func waiting() -> Int
    /// Waits for frames until a time; 1 if there are any (or an error that reading shows), 0 if not or if woken.
    mutating func wait(until time: Instant) -> Int32
    /// Lets frames gather until a time; whether it was woken. Errors are left for what comes after.
    mutating func rest(until time: Instant) -> Bool
    /// Waits until a time, or until woken.
    mutating func sleep(until time: Instant)
    /// A monotonic clock.
    var now: Instant { get }
}
