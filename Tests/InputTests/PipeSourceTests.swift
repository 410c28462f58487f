import Audio
import Capture
import Core
import Foundation
import System
import Testing

@testable import Input

/// Audio that another program writes, as a source of blocks.
struct PipeSourceTests {
    private static let format = RawFormat(rate: 16_000, channels: 1, sample: .s16)

    private static func source(_ pipe: Foundation.Pipe) throws -> any AudioSource {
        let input = AudioInput.stream(pipe.fileHandleForReading.fileDescriptor, format)
        #expect(input.name == "standard input" && AudioInput.microphone.name == nil)
        return try input.open(InputSelection())
    }

    @Test func `blocks come as they are written, then one second of silence, then the end`() throws {
        let pipe = Foundation.Pipe()
        let source = try Self.source(pipe)
        let samples = [Int16](repeating: 8192, count: 4000)
        try pipe.fileHandleForWriting.write(contentsOf: samples.withUnsafeBytes { Data($0) })
        try pipe.fileHandleForWriting.close()
        try source.start()
        var blocks: [(first: Float, last: Float)] = []
        while !source.hasEnded {
            _ = source.next(until: Clock.now + .seconds(1)) { window, block in
                #expect(block.sequence == UInt64(blocks.count))
                blocks.append((window[14_400], window[15_999]))
            }
        }
        // 2.5 blocks of sound and ten of silence.
        #expect(blocks.count == 13)
        #expect(blocks.map(\.first) == [0.25, 0.25, 0.25] + [Float](repeating: 0, count: 10))
        #expect(blocks.map(\.last) == [0.25, 0.25] + [Float](repeating: 0, count: 11))
        #expect(source.problem == nil && source.trouble == nil && source.progress?.seconds == 0.25)
        #expect(source.messages(at: Clock.now).map(\.text).first?.hasPrefix("listening to standard input") == true)
        #expect(source.stop(until: Clock.now + .seconds(20)))
    }

    @Test func `a writer that gives nothing is reported, and does not hold up the stop`() throws {
        let pipe = Foundation.Pipe()
        let begun = Clock.now
        let source = try Self.source(pipe)
        try source.start()
        #expect(source.messages(at: begun).isEmpty && source.trouble == nil)
        #expect(source.messages(at: Clock.now + .seconds(4)).map(\.level) == [.warning])
        #expect(source.trouble == "no audio comes" && !source.hasEnded)
        #expect(source.messages(at: Clock.now + .seconds(5)).isEmpty)
        #expect(source.stop(until: Clock.now + .seconds(20)))
        try pipe.fileHandleForWriting.close()
    }
}
