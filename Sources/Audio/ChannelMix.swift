/// How the channels of interleaved audio become one.
public enum ChannelMix: Equatable, Sendable {
    /// The mean of all channels.
    case mix
    /// One channel alone, counted from 0.
    case channel(Int)
    /// The mean of some channels.
    case channels(ChannelSet)

    /// Checks that audio with this number of channels has the selected ones.
    ///
    /// - Parameter source: What the audio is called in the message.
    /// - Throws: ``AudioError/noSuchChannel`` naming the channels there are.
    public func check(channels: Int, of source: String) throws(AudioError) {
        guard let number = highest, !(0..<channels).contains(number) else { return }
        let there = channels == 1 ? "only channel 0" : "channels 0 to \(channels - 1)"
        throw .noSuchChannel.saying("\(source) has no channel \(number) but \(there); choose one of these or mix them")
    }

    /// The highest channel that is asked for by its number.
    public var highest: Int? {
        switch self {
        case .mix: nil
        case .channel(let number): number
        case .channels(let set): set.highest
        }
    }

    /// Whether a channel is part of the mix, by its number.
    public func contains(_ number: Int) -> Bool {
        switch self {
        case .mix: true
        case .channel(let only): number == only
        case .channels(let set): set.contains(number)
        }
    }

    /// Writes one mono sample for each frame.
    ///
    /// - Parameters:
    ///   - interleaved: Frames of `channels` samples each; a last incomplete frame is left out.
    ///   - channels: 1 or more; a choice that ``check(channels:of:)`` refuses gives silence.
    ///   - mono: Takes as many samples as it has room for.
    /// - Returns: The number of frames written.
    @discardableResult
    public func apply(to interleaved: Span<Float>, channels: Int, into mono: inout MutableSpan<Float>) -> Int {
        interleaved.withUnsafeBufferPointer { source in
            mono.withUnsafeMutableBufferPointer { target in apply(to: source, channels: channels, into: target) }
        }
    }

    func apply(
        to source: UnsafeBufferPointer<Float>,
        channels: Int,
        into target: UnsafeMutableBufferPointer<Float>
    ) -> Int {
        guard channels > 0 else { return 0 }
        let frames = min(source.count / channels, target.count)
        switch self {
        case .mix where channels == 1, .channel(0) where channels == 1:
            for frame in 0..<frames { target[frame] = source[frame] }
        case .mix:
            let scale = 1 / Float(channels)
            for frame in 0..<frames {
                var sum: Float = 0
                for channel in 0..<channels { sum += source[frame * channels + channel] }
                target[frame] = sum * scale
            }
        case .channel(let number) where (0..<channels).contains(number):
            for frame in 0..<frames { target[frame] = source[frame * channels + number] }
        case .channels(let set) where set.highest < channels:
            let scale = 1 / Float(set.count)
            for frame in 0..<frames {
                var sum: Float = 0
                for channel in 0...set.highest where set.contains(channel) { sum += source[frame * channels + channel] }
                target[frame] = sum * scale
            }
        case .channel, .channels:
            for frame in 0..<frames { target[frame] = 0 }
        }
        return frames
    }
}

/// Some of the channels 0–63; a plain number, so that the capture thread may hold it without counting references.
public struct ChannelSet: Equatable, Sendable {
    private let bits: UInt64

    /// Nil where there is none, or a number lies outside 0–63; a number given twice counts once.
    public init?(_ numbers: some Sequence<Int>) {
        var bits: UInt64 = 0
        for number in numbers {
            guard (0..<64).contains(number) else { return nil }
            bits |= 1 << UInt64(number)
        }
        guard bits != 0 else { return nil }
        self.bits = bits
    }

    public func contains(_ number: Int) -> Bool { (0..<64).contains(number) && bits >> UInt64(number) & 1 == 1 }

    public var count: Int { bits.nonzeroBitCount }

    public var highest: Int { 63 - bits.leadingZeroBitCount }
}
