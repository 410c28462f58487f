private import Audio

/// The format of a device's samples, little-endian; full scale is ±1.
public enum SampleFormat: UInt8, Sendable, CaseIterable {
    case s16, s24, s24Packed, s32, float

    /// ALSA's name.
    public var name: String {
        switch self {
        case .s16: "S16_LE"
        case .s24: "S24_LE"
        case .s24Packed: "S24_3LE"
        case .s32: "S32_LE"
        case .float: "FLOAT_LE"
        }
    }

    /// Bytes per sample.
    public var bytes: Int {
        switch self {
        case .s16: 2
        case .s24Packed: 3
        case .s24, .s32, .float: 4
        }
    }

    /// Converts samples to floats with full scale ±1, as many as there are and fit.
    ///
    /// Floating-point samples that are NaN or infinite become 0: a single one would spoil the filters' state.
    ///
    /// - Returns: The number of samples converted.
    @discardableResult
    @_lifetime(target: copy target)
    func convert(_ source: RawSpan, into target: inout MutableSpan<Float>) -> Int {
        let count = source.withUnsafeBytes { source in
            layout.decode(source.bindMemory(to: UInt8.self).span, into: &target)
        }
        if self == .float { for index in 0..<count where !target[index].isFinite { target[index] = 0 } }
        return count
    }

    private var layout: SampleLayout {
        switch self {
        case .s16: .s16
        case .s24: .s24le32
        case .s24Packed: .s24
        case .s32: .s32
        case .float: .f32
        }
    }
}

/// The format in which a device was opened.
public struct StreamFormat: Equatable, Sendable {
    /// Frames per second.
    public var rate: Int
    public var channels: Int
    public var sample: SampleFormat
    /// Frames per period: the device signals new frames once per period.
    public var period: Int
    /// Frames that the device's buffer holds; beyond that it overruns.
    public var buffer: Int

    /// Bytes per frame: one sample of each channel.
    public var frameBytes: Int { sample.bytes * channels }

    /// The duration of a number of frames.
    func duration(of frames: Int) -> Duration { .nanoseconds(Int64(frames) * 1_000_000_000 / Int64(max(1, rate))) }
}
