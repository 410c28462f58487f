import Audio
import Core
import System
import TestSupport
import Testing

@testable import Capture

/// When the capture thread reads; apart from the tests that run under the thread sanitizer, which converts too slowly for this.
struct ReadingTests {
    @Test func `a block is read as soon as it is complete, not at the end of a period`() throws {
        let folder = try TestFolder()
        let card = try FakeCard(playing: FaultTests.noise(in: folder), in: folder, "rate 48000 channels 2 loop on")
        let microphone = try card.microphone()
        try microphone.start()
        defer { microphone.stop() }
        // The converter's delay puts a block's end behind that of a period of 20 ms: a reader that waits for periods is
        // 20 ms late with every block. A busy machine delays some blocks, but never all.
        var ages: [Duration] = []
        while ages.count < 60, (ages.min() ?? .seconds(1)) >= .milliseconds(12),
            microphone.nextBlock(until: Clock.now + .seconds(5), { ages.append(Clock.now - $1.time) })
        {}
        #expect(ages.allSatisfy { $0 >= .zero } && (ages.min() ?? .seconds(1)) < .milliseconds(12), "\(ages)")
    }
}
