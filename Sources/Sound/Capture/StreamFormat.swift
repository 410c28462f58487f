public import Audio

/// The format in which a device was opened.
public struct StreamFormat: Equatable, Sendable, BitwiseCopyable {
    /// Frames per second.
    public var rate: Int
    public var channels: Int
    public var sample: SampleLayout
    /// Frames per period: the device signals new frames once per period.
    public var period: Int
    /// Frames that the device's buffer holds; beyond that it overruns.
    public var buffer: Int

    /// Bytes per frame: one sample of each channel.
    public var frameBytes: Int { sample.bytes * channels }

    /// The duration of a number of frames.
    func duration(of frames: Int) -> Duration { .nanoseconds(Int64(frames) * 1_000_000_000 / Int64(max(1, rate))) }

    /// Decodes interleaved samples, as many as there are and fit.
    ///
    /// Floating-point samples that are NaN or infinite become 0: a single one would spoil the filters' state.
    ///
    /// - Returns: The number of samples decoded.
    @discardableResult
    @_lifetime(target: copy target)
    func decode(_ bytes: UnsafeRawBufferPointer, into target: inout MutableSpan<Float>) -> Int {
        let count = sample.decode(bytes.bindMemory(to: UInt8.self).span, into: &target)
        if sample.isFloat { for index in 0..<count where !target[index].isFinite { target[index] = 0 } }
        return count
    }
}
