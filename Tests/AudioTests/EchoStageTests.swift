import CSndFile
import Core
import Echo
import Foundation
import TestSupport
import Testing

@testable import Audio

/// The echo of a channel of files and pipes.
struct EchoStageTests {
    private static let mix = ChannelMix.mix.cancelling(EchoSettings(reference: 1, filter: 0.1))

    /// Four seconds of two channels: what is played, half as loud and a little later, and what is played.
    private static func frames(rate: Int) -> [Float] {
        let played = Signals.noise(count: 4 * rate, seed: 3)
        let late = rate / 200
        return played.indices.flatMap { [$0 < late ? 0 : played[$0 - late] / 2, played[$0]] }
    }

    @Test(arguments: [16_000, 44_100, 48_000])
    func `the echo of a channel is removed at every rate, and pipes give what files give`(rate: Int) throws {
        let folder = try TestFolder()
        let path = try folder.write(
            "a.wav",
            format: SF_FORMAT_WAV | SF_FORMAT_PCM_16,
            rate: rate,
            channels: 2,
            Self.frames(rate: rate)
        )
        let heard = try FileBlocks.readClip(path: path, atMost: 10, mix: .channel(0))
        let rest = try FileBlocks.readClip(path: path, atMost: 10, mix: Self.mix)
        #expect(rest.count == heard.count)
        #expect(Signals.rms(rest.suffix(16_000)) < 0.1 * Signals.rms(heard.suffix(16_000)))

        var blocks = try StreamBlocks(raw: nil, mix: Self.mix)
        var samples: [Float] = []
        func put(_ block: Span<Float>) { for index in block.indices { samples.append(block[index]) } }
        let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
        for start in stride(from: 0, to: bytes.count, by: 1001) {
            try blocks.take(bytes[start..<min(start + 1001, bytes.count)]) { block, _ in put(block) }
        }
        try blocks.finish { block, _ in put(block) }
        // The last block of a file ends with the reference's; of a pipe it is filled up before that.
        let whole = rest.count / 1600 * 1600
        #expect(samples.prefix(whole - 1600) == rest.prefix(whole - 1600))
    }

    @Test func `a channel that is not there is named`() throws {
        let folder = try TestFolder()
        let path = try folder.write(
            "a.wav",
            format: SF_FORMAT_WAV | SF_FORMAT_PCM_16,
            [Float](repeating: 0, count: 100)
        )
        let error = #expect(throws: AudioError.self) { _ = try FileBlocks(path: path, mix: Self.mix) }
        #expect(error == .noSuchChannel)
        #expect(error?.description.contains("one channel, so none of them is the reference of an echo") == true)
    }
}
