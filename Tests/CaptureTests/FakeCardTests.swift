import Core
import Echo
import Foundation
import System
import TestSupport
import Testing

@testable import Audio
@testable import Capture

/// The real libasound and the real thread, on a fake card.
struct FakeCardTests {
    static let voice = "/usr/share/sounds/alsa/Front_Left.wav"

    /// Reads up to `count` blocks from a microphone.
    static func blocks(_ count: Int, of microphone: Microphone, seconds: Double = 10) -> [[Float]] {
        var blocks: [[Float]] = []
        let end = Clock.now + .seconds(seconds)
        while blocks.count < count, Clock.now < end {
            _ = microphone.nextBlock(until: end) { window, _ in
                let newest = window.extracting(last: AudioFormat.hopSamples)
                blocks.append(newest.indices.map { newest[$0] })
            }
        }
        return blocks
    }

    /// The blocks of a file, from the offline chain.
    static func blocks(of path: String, mix: ChannelMix = .mix) throws -> [[Float]] {
        var blocks: [[Float]] = []
        var file = try FileBlocks(path: path, mix: mix)
        var block = [Float](repeating: 0, count: AudioFormat.hopSamples)
        while true {
            var span = block.mutableSpan
            guard let count = try file.next(into: &span) else { return blocks }
            if count == block.count { blocks.append(block) }
        }
    }

    @Test func `an echo is removed from a device as from a file, bit by bit`() throws {
        let folder = try TestFolder()
        let noise = (0..<96_000).map { Float(($0 &* 7919) % 1000) / 2000 - 0.25 }
        let frames = noise.indices.flatMap { [$0 < 300 ? 0 : noise[$0 - 300] / 2, noise[$0]] }
        let path = try folder.write("echo.wav", format: 0x10002, rate: 48_000, channels: 2, frames)
        let mix = ChannelMix.mix.cancelling(EchoSettings(reference: 1))
        let expected = try Self.blocks(of: path, mix: mix)
        let card = try FakeCard(playing: path, in: folder, "channels 2 speed 8 patient on")
        let microphone = try card.microphone(mix: mix)
        try microphone.start()
        let heard = Self.blocks(expected.count - 1, of: microphone)
        microphone.stop()
        #expect(expected.count >= 19 && heard == Array(expected.dropLast()))
        #expect(try heard != Self.blocks(of: path, mix: .channel(0)).dropLast())
    }

    @Test func `a recorded voice at 48 kHz comes as it does from the file, bit by bit`() throws {
        let expected = try Self.blocks(of: Self.voice)
        let card = try FakeCard(playing: Self.voice, in: TestFolder(), "speed 8 patient on")
        let microphone = try card.microphone()
        try microphone.start()
        let heard = Self.blocks(expected.count, of: microphone)
        microphone.stop()
        #expect(expected.count >= 14)
        #expect(heard == expected)
        let status = microphone.status
        #expect(status.format?.rate == 48_000 && status.format?.channels == 1 && status.format?.sample == .s16)
        #expect(status.counts == .init() && status.droppedBlocks == 0)
    }
}
