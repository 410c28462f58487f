import Core
import Glibc
import System
import TestSupport
import Testing

@testable import Audio
@testable import Capture

/// ALSA devices that give their audio at once: `plug` on `null`, `file`, and a card whose clock races.
struct ClocklessDeviceTests {

    @Test(arguments: ["speed 0", "speed 200 patient on"])
    func `a device without a clock is refused with a reason, and does not spin`(_ speed: String) throws {
        let folder = try TestFolder()
        let card = try FakeCard(playing: FaultTests.noise(in: folder), in: folder, "rate 16000 loop on \(speed)")
        let microphone = try card.microphone()
        try microphone.start()
        defer { microphone.stop() }
        #expect(eventually(20) { microphone.status.isTooFast })
        let status = microphone.status
        #expect(status.problem.contains("much faster than the clock") && status.problem.contains("beckon devices"))
        #expect(eventually { microphone.status.state == .lost })
        #expect(FaultTests.changes(microphone, atLeast: 2).map(\.kind) == [.running, .tooFast])
        // Nothing of it is left to be heard, and no more comes.
        let frames = microphone.status.frames
        usleep(300_000)
        #expect(microphone.status.frames == frames)
        while microphone.nextBlock(until: Clock.now, { _, _ in }) {}
        #expect(!microphone.nextBlock(until: Clock.now + .milliseconds(200)) { _, _ in })
    }

    @Test func `a raw recording of it is refused too`() throws {
        let folder = try TestFolder()
        let card = try FakeCard(playing: FaultTests.noise(in: folder), in: folder, "rate 16000 loop on speed 0")
        // So long that the waits of a busy machine are short beside it.
        let error = #expect(throws: CaptureError.self) {
            _ = try RawCapture(of: card.name, wanted: .init(), seconds: 20)
        }
        #expect(error?.description.contains("much faster than the clock") == true)
    }

    @Test func `a channel that is opposite shows in the status, and is turned`() throws {
        let folder = try TestFolder()
        // Right is the opposite of left.
        var random = SplitMix(seed: 7)
        let noise = (0..<16_000).map { _ in Float.random(in: -0.1...0.1, using: &random) }
        let file = try folder.write(
            "opposite.wav",
            format: 0x10006,
            rate: 16_000,
            channels: 2,
            noise.flatMap { [$0, -$0] }
        )
        for (mix, cancels) in [(ChannelMix.mix, true), (.channel(0), false)] {
            let microphone = try FakeCard(playing: file, in: folder, "loop on").microphone(mix: mix)
            try microphone.start()
            #expect(eventually { microphone.status.blocks >= 8 })
            let status = microphone.status
            microphone.stop()
            #expect(status.faults.turned == (cancels ? [1] : []) && status.level > 0.04 && status.zeroSince == nil)
        }
    }
}
