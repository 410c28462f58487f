import Core
import Echo
import Glibc
import System
import TestSupport
import Testing

@testable import Audio
@testable import Capture

/// What a loudspeaker plays, from a device of its own.
struct ReferenceTests {
    private static let settings = EchoSettings(.device, filter: 0.1)
    private static let start = Instant(nanoseconds: 1_000_000_000)

    private static func noise(_ count: Int) -> [Float] {
        var random = SplitMix(seed: 3)
        return (0..<count).map { _ in random.float(-0.5...0.5) }
    }

    /// A microphone at 16 kHz that hears what is played, so many samples later; the times of both are exact to `jitter`.
    private struct Room: ~Copyable {
        var cutter: BlockCutter
        let output: CaptureOutput
        let played: [Float]
        /// Samples so far: of the microphone, and of the reference, whose newest pieces are not there yet.
        var heard = 0
        var pieces = 0
        let delay: Int
        /// Samples of the reference that are not there when the microphone's of the same time are.
        let late: Int
        var energies: [(before: Float, after: Float)] = []

        static func make(seconds: Int, delay: Int, late: Int) throws -> Room {
            let format = StreamFormat(rate: 16_000, channels: 1, sample: .f32, period: 160, buffer: 8000)
            let mix = ChannelMix.channel(0).cancelling(settings)
            let output = try CaptureOutput(ringCapacity: 4)
            return Room(try BlockCutter(format: format, mix: mix, quality: .standard), output, seconds, delay, late)
        }

        private init(
            _ cutter: consuming BlockCutter,
            _ output: CaptureOutput,
            _ seconds: Int,
            _ delay: Int,
            _ late: Int
        ) {
            self.cutter = cutter
            self.output = output
            played = ReferenceTests.noise(seconds * 16_000)
            (self.delay, self.late) = (delay, late)
        }

        private static func time(_ sample: Int) -> Instant { start + .nanoseconds(Int64(sample) * 62_500) }

        /// Hears a block; the reference is there, unless it is unplugged.
        mutating func hear(_ blocks: Int, isPlugged: Bool = true) throws {
            for _ in 0..<blocks {
                let end = heard + 1600
                while pieces + 160 <= end - late {
                    let piece = Array(played[pieces..<pieces + 160])
                    if isPlugged {
                        // The time of a piece is known as well as a driver tells it.
                        let jitter = Duration.microseconds(Int64(pieces / 160 * 7919 % 4000))
                        output.reference.push(piece.span, time: Self.time(pieces + 159) + jitter)
                    } else {
                        output.reference.interrupt()
                    }
                    pieces += 160
                }
                let frames = cutter.frames.bindMemory(to: Float.self)
                var before: Float = 0
                for index in 0..<1600 {
                    let place = heard + index - delay
                    frames[index] = place < 0 ? 0 : played[place] / 2
                    before += frames[index] * frames[index]
                }
                heard = end
                try cutter.take(1600, time: Self.time(heard - 1), into: output)
                var after: Float = 0
                _ = output.ring.withWindow { window, _ in
                    after = Self.energy(window.extracting(last: 1600))
                }
                energies.append((before, after))
            }
        }

        private static func energy(_ samples: Span<Float>) -> Float {
            var sum: Float = 0
            for index in samples.indices { sum += samples[index] * samples[index] }
            return sum
        }

        /// Decibels that are removed in the newest blocks.
        func removed(_ blocks: Int) -> Float {
            let newest = energies.suffix(blocks)
            let (before, after) = (newest.reduce(0) { $0 + $1.before }, newest.reduce(0) { $0 + $1.after })
            return 10 * log10(before / max(after, 1e-9))
        }
    }

    @Test(arguments: [(700, 200), (1200, 900), (5000, 100)])
    func `its echo is removed, and without it nothing is changed`(delay: Int, late: Int) throws {
        var room = try Room.make(seconds: 40, delay: delay, late: late)
        try room.hear(120)
        #expect(room.removed(20) > 12)
        #expect(room.output.status.echoReduction.map { $0 > 6 } == true)
        // Unplugged in the middle: after the filter's length the microphone is heard as it is.
        try room.hear(30, isPlugged: false)
        #expect(room.removed(20) == 0)
        try room.hear(120)
        #expect(room.removed(20) > 12)
        // The microphone begins anew, as after an overrun.
        try room.cutter.reset()
        try room.hear(120)
        #expect(room.removed(20) > 12)
    }

    @Test func `pieces that found no room are known to be missing`() {
        let queue = ReferenceQueue()
        let piece = [Float](repeating: 0.5, count: 160)
        for count in 0..<130 { queue.push(piece.span, time: Instant(nanoseconds: Int64(count))) }
        var continuing: [Bool] = []
        while let piece = queue.pop() { continuing.append(piece.continues) }
        #expect(continuing.count == 128 && !continuing[0] && continuing.dropFirst().allSatisfy { $0 })
        queue.push(piece.span, time: Instant(nanoseconds: 0))
        #expect(queue.pop()?.continues == false)
        queue.push(piece.span, time: Instant(nanoseconds: 0))
        #expect(queue.pop()?.continues == true)
        queue.interrupt()
        queue.push(piece.span, time: Instant(nanoseconds: 0))
        #expect(queue.pop()?.continues == false)
    }

    @Test func `a reference that is unplugged is reported once, is missed by nobody, and comes back`() throws {
        let folder = try TestFolder()
        let noise = Self.noise(48_000)
        let path = try folder.write("noise.wav", format: 0x10002, rate: 48_000, channels: 1, noise)
        let card = try FakeCard(playing: path, in: folder, "loop on live on")
        let reference = try FakeCard(playing: path, in: folder, "loop on live on")
        var settings = Microphone.Settings()
        settings.selection = InputSelection(
            device: .named(card.name),
            mix: .mix.cancelling(Self.settings),
            reference: reference.name
        )
        settings.realTimePriority = nil
        let microphone = try Microphone(settings)
        try microphone.start()
        defer { microphone.stop() }
        func isHeard() -> Bool { microphone.status.blocks > 0 && microphone.referenceStatus?.state == .running }
        #expect(eventually { isHeard() && microphone.status.echoReduction != nil })
        try reference.fail("gone")
        #expect(eventually { microphone.referenceStatus?.state == .lost })
        let blocks = microphone.status.blocks
        #expect(eventually { microphone.status.blocks > blocks + 3 })
        #expect(microphone.status.counts == .init(), "the microphone has no gap")
        try reference.fail("")
        #expect(eventually { isHeard() })
        var kinds: [CaptureMachine.Change.Kind] = []
        while let change = microphone.nextReferenceChange() { kinds.append(change.kind) }
        #expect(kinds == [.running, .lost, .running])
        microphone.mute()
        #expect(eventually { microphone.referenceStatus?.state == .muted })
        microphone.unmute()
        #expect(eventually { microphone.referenceStatus?.state == .running })
        microphone.select(InputSelection(device: .named(card.name)))
        #expect(microphone.referenceStatus == nil)
    }

    @Test func `PipeWire's monitor is a device of ALSA's plug-in`() {
        #expect(ReferenceCapture.name("pipewire:monitor") == "pulse:@DEFAULT_MONITOR@")
        #expect(ReferenceCapture.name("hw:Loopback,1") == "hw:Loopback,1")
    }
}
