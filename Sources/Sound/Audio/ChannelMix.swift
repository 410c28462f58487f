public import Echo

/// Which channels of interleaved audio ``ChannelMixer`` mixes to one, and which is the reference of an echo that is removed.
public struct ChannelMix: Equatable, Sendable {
    enum Choice: Equatable {
        case mix
        case channel(Int)
        case channels(ChannelSet)
    }

    let choice: Choice
    /// Nil where no echo is removed.
    public var echo: EchoSettings?

    private init(_ choice: Choice) { self.choice = choice }

    /// The mean of all channels, but for the reference.
    public static let mix = ChannelMix(.mix)
    /// One channel, counted from 0.
    public static func channel(_ number: Int) -> ChannelMix { ChannelMix(.channel(number)) }
    /// The mean of some channels.
    public static func channels(_ set: ChannelSet) -> ChannelMix { ChannelMix(.channels(set)) }

    /// The mean of these channels with the echo of their reference removed.
    public func cancelling(_ echo: EchoSettings?) -> ChannelMix {
        var mix = self
        mix.echo = echo
        return mix
    }

    /// The same for a file or a pipe, of which a device has no reference.
    public var withoutReferenceDevice: ChannelMix { echo?.channel == nil ? cancelling(nil) : self }

    /// Accepted numbers of channels, of which some are selected.
    public static let channelCounts = 1...64
    /// The most channels of which all are mixed: more are arrays, whose channels are chosen.
    public static let mostMixed = 8

    /// Checks that audio with this number of channels has the selected ones.
    ///
    /// - Parameter source: The name of the audio in the message.
    /// - Throws: ``AudioError/noSuchChannel`` with the channels that exist.
    public func check(channels: Int, of source: String) throws(AudioError) {
        guard let number = highest else { return }
        guard echo?.channel == nil || channels > 1 else {
            throw .noSuchChannel.saying("\(source) has one channel, so none of them is the reference of an echo")
        }
        guard !(0..<channels).contains(number) else { return }
        let there = channels == 1 ? "only channel 0" : "channels 0 to \(channels - 1)"
        throw .noSuchChannel.saying("\(source) has no channel \(number) but \(there); choose one of these or mix them")
    }

    /// As ``check(channels:of:)``, for files and pipes: many channels are not mixed without being asked for.
    ///
    /// - Throws: ``AudioError/noSuchChannel``; ``AudioError/unsupported`` for more than ``mostMixed`` channels of which none is
    ///   selected.
    func checkMixed(channels: Int, of source: String) throws(AudioError) {
        guard choice != .mix || channels <= Self.mostMixed else {
            throw .unsupported.saying(
                "\(source) has \(channels) channels, and up to \(Self.mostMixed) are mixed; choose some, as with --channel 0"
            )
        }
        try check(channels: channels, of: source)
    }

    /// The highest channel that is selected by its number, also as a reference; nil for ``mix``.
    public var highest: Int? {
        let heard: Int? =
            switch choice {
            case .mix: nil
            case .channel(let number): number
            case .channels(let set): set.highest
            }
        return echo?.channel.map { max($0, heard ?? 0) } ?? heard
    }

    /// Whether the channel with this number is part of the mix.
    public func contains(_ number: Int) -> Bool {
        switch choice {
        case .mix: number != echo?.channel
        case .channel(let only): number == only
        case .channels(let set): set.contains(number)
        }
    }
}

/// A set of channels, 0–63; stored as a number, so that the capture thread needs no reference counting.
public struct ChannelSet: Equatable, Sendable {
    private let bits: UInt64

    /// Nil if there are no numbers, or one is outside 0–63; a number given twice counts once.
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
