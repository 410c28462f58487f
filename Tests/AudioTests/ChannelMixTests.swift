import Audio
import Echo
import Testing

@Suite struct ChannelMixTests {
    /// Three frames of four channels.
    static let frames: [Float] = [1, 2, 3, 6, -1, 0, 1, 4, 0.5, 0.5, 0.5, 0.5]

    static func apply(_ mix: ChannelMix, channels: Int, room: Int = 8) -> [Float] {
        var mono = [Float](repeating: 9, count: room)
        var span = mono.mutableSpan
        var mixer = ChannelMixer(mix, channels: channels)
        let count = mixer.mix(frames.span, into: &span)
        return Array(mono.prefix(count))
    }

    @Test func mixes() {
        #expect(Self.apply(.mix, channels: 4) == [3, 1, 0.5])
        #expect(Self.apply(.mix, channels: 1, room: 12) == Self.frames)
    }

    @Test func picks() {
        #expect(Self.apply(.channel(0), channels: 4) == [1, -1, 0.5])
        #expect(Self.apply(.channel(3), channels: 4) == [6, 4, 0.5])
    }

    @Test func knowsWhatItHears() throws {
        let set = try #require(ChannelSet([0, 2]))
        for (mix, heard) in [(ChannelMix.mix, [0, 1, 2]), (.channel(1), [1]), (.channels(set), [0, 2])] {
            #expect((0..<3).filter(mix.contains) == heard)
        }
    }

    @Test func `the reference of an echo is in no mix`() throws {
        let echo = EchoSettings(reference: 3)
        #expect(Self.apply(.mix.cancelling(echo), channels: 4) == [2, 0, 0.5])
        #expect(Self.apply(.channel(0).cancelling(echo), channels: 4) == [1, -1, 0.5])
        #expect((0..<5).filter(ChannelMix.mix.cancelling(echo).contains) == [0, 1, 2, 4])
        #expect(ChannelMix.mix.cancelling(echo).highest == 3)
        for channels in [1, 3] {
            let error = #expect(throws: AudioError.self) {
                try ChannelMix.mix.cancelling(echo).check(channels: channels, of: "x")
            }
            #expect(error == .noSuchChannel)
        }
    }

    @Test func mixesSome() throws {
        let set = try #require(ChannelSet([3, 0, 3]))
        #expect(Self.apply(.channels(set), channels: 4) == [3.5, 1.5, 0.5])
        #expect(set.count == 2 && set.highest == 3 && set.contains(0) && !set.contains(1) && !set.contains(64))
        #expect(Self.apply(.channels(set), channels: 3, room: 4) == [0, 0, 0, 0], "channel 3 is not there")
        for numbers in [[], [-1], [0, 64]] { #expect(ChannelSet(numbers) == nil) }
        let error = #expect(throws: AudioError.self) { try ChannelMix.channels(set).check(channels: 3, of: "x") }
        #expect(error == .noSuchChannel)
    }

    @Test func keepsToItsRoom() {
        #expect(Self.apply(.mix, channels: 4, room: 2) == [3, 1])
        #expect(Self.apply(.mix, channels: 5) == [2.2, 1.2], "the last, incomplete frame is left out")
        #expect(Self.apply(.channel(4), channels: 4) == [0, 0, 0])
        #expect(Self.apply(.mix, channels: 0) == [])
        var two: [Float] = [9, 9]
        var span = two.mutableSpan
        #expect(ChannelMixer.pick(2, of: Self.frames.span, channels: 4, into: &span) == 2)
        #expect(two == [3, 1])
    }

    @Test func checks() throws {
        try ChannelMix.channel(1).check(channels: 2, of: "x")
        try ChannelMix.mix.check(channels: 8, of: "x")
        for (channel, channels) in [(2, 2), (-1, 2), (1, 1), (.max, 8)] {
            let error = #expect(throws: AudioError.self) {
                try ChannelMix.channel(channel).check(channels: channels, of: "x")
            }
            #expect(error == .noSuchChannel)
        }
    }
}
