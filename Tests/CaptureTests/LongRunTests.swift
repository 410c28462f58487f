import Core
import System
import TestSupport
import Testing

@testable import Audio
@testable import Capture

/// Minutes of audio through the fake card, as fast as possible; `make soak` runs a day.
struct LongRunTests {
    @Test func `five minutes bring 3000 blocks, and each is the right one`() throws {
        // Slightly more than 1 s, so that the file's end falls at different positions in a block.
        let samples = 16_237
        var random = SplitMix(seed: 24)
        let values = (0..<samples).map { _ in Int16(truncatingIfNeeded: random.next()) }
        let folder = try TestFolder()
        let bytes = values.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)] }
        let file = try folder.write("noise.raw", bytes: bytes)
        let card = try FakeCard(playing: file, in: folder, "rate 16000 loop on speed 0")
        let output = try CaptureOutput(ringCapacity: 8)
        let source = CardSource(wanted: .init(), record: output.record, wakeUp: try EventFD(or: { $0 }))
        let selection = InputSelection(device: .named(card.name), mix: .channel(0))
        var limits = CaptureMachine.Limits()
        limits.ahead = nil
        var loop = CaptureLoop(source: source, selection: selection, limits: limits, output: output)
        var blocks = 0
        var wrong = 0
        while blocks < 3_000, loop.advance() {
            _ = output.ring.withWindow { window, block in
                if block.sequence != UInt64(blocks) { wrong += 1 }
                for offset in [0, 1, 800, 1_599] {
                    let expected = Float(values[(blocks * 1_600 + offset) % samples]) * 0x1p-15
                    if window[AudioFormat.windowSamples - 1_600 + offset] != expected { wrong += 1 }
                }
                blocks += 1
            }
        }
        #expect(blocks == 3_000 && wrong == 0)
        let status = output.status
        #expect(status.blocks == 3_000 && status.frames == 3_000 * 1_600)
        #expect(status.counts == .init() && status.droppedBlocks == 0)
    }
}
