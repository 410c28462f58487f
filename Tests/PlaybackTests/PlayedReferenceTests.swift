import Core
import Echo
import Glibc
import System
import TestSupport
import Testing

@testable import Audio
@testable import Capture
@testable import Playback

/// What the speaker plays, as the reference of a microphone's echo.
struct PlayedReferenceTests {
    private static let start = Instant(nanoseconds: 1_000_000_000)

    private static func time(_ sample: Double) -> Instant { start + .nanoseconds(Int64((sample * 62_500).rounded())) }

    private static func noise(_ count: Int, seed: UInt64 = 3) -> [Float] {
        var random = SplitMix(seed: seed)
        return (0..<count).map { _ in random.float(-0.5...0.5) }
    }

    /// A time line that starts at sample 0, and what it gives.
    private final class Line {
        var reference: PlayedReference
        let queue = ReferenceQueue()
        let resampler: ReferenceResampler
        private(set) var samples: [Float] = []
        /// Places in `samples` from which on the pieces do not follow those before.
        private(set) var breaks: [Int] = []

        init(rate: Int = 16_000) throws {
            let feed = ReferenceFeed()
            feed.attach(queue)
            reference = PlayedReference(feed, at: PlayedReferenceTests.start)
            resampler = try ReferenceResampler(from: rate)
        }

        /// Takes the pieces; their times are those of the samples since the last break, which was at this one.
        func take(from origin: Double = 0) {
            while let piece = queue.pop() {
                if !piece.continues { breaks.append(samples.count) }
                for index in 0..<160 { samples.append(piece.samples[index]) }
                let place = origin + Double(samples.count - (breaks.last ?? 0) - 1)
                #expect(abs((piece.time - PlayedReferenceTests.time(place)).nanoseconds) < 1000)
            }
        }
    }

    @Test func `sounds are where they are heard, and silence is between them`() throws {
        let line = try Line()
        let (first, second) = (Self.noise(2000), Self.noise(1000, seed: 4))
        line.reference.silence(until: Self.time(1000))
        line.reference.begin()
        line.reference.add(first.span.extracting(first: 500), line.resampler)
        line.take()
        #expect(line.samples.count == 960, "the device has not started")
        line.reference.started(at: Self.time(1600))
        line.reference.add(first.span.extracting(500..<2000), line.resampler)
        line.reference.silence(until: Self.time(2000))
        line.reference.silence(until: Self.time(8000))
        line.resampler.reset()
        line.reference.begin()
        line.reference.add(second.span, line.resampler)
        line.reference.started(at: Self.time(8100))
        line.reference.silence(until: Self.time(10_000))
        line.take()
        let silence = { (count: Int) in [Float](repeating: 0, count: count) }
        #expect(line.samples.count == 9920 && line.breaks == [0])
        #expect(line.samples == Array((silence(1600) + first + silence(4500) + second + silence(900)).prefix(9920)))
    }

    @Test func `a sound before the end of the one before begins a time line anew`() throws {
        let line = try Line()
        line.reference.begin()
        line.reference.started(at: Self.start)
        line.reference.add(Self.noise(3200).span, line.resampler)
        line.take()
        // Cancelled after 0.1 s, half of what was written.
        line.reference.begin()
        line.reference.add(Self.noise(1600, seed: 4).span, line.resampler)
        line.reference.started(at: Self.time(1700))
        line.take(from: 1700)
        #expect(line.samples == Self.noise(3200) + Self.noise(1600, seed: 4) && line.breaks == [0, 3200])
        // Nobody took it for an hour.
        line.reference.silence(until: Self.time(3600 * 16_000))
        line.reference.silence(until: Self.time(3600 * 16_000 + 200))
        line.take(from: 3600 * 16_000)
        #expect(line.breaks == [0, 3200, 4800] && line.samples.count == 4960)
    }

    @Test func `the device's rate is converted`() throws {
        let line = try Line(rate: 48_000)
        let tone = (0..<24_000).map { 0.5 * sin(2 * .pi * 500 * Float($0) / 48_000) }
        line.reference.begin()
        line.reference.started(at: Self.start)
        for start in stride(from: 0, to: tone.count, by: 960) {
            line.reference.add(tone.span.extracting(start..<start + 960), line.resampler)
            line.take()
        }
        #expect(line.samples.count >= 7840)
        let expected = (0..<7840).map { 0.5 * sin(2 * .pi * 500 * Float($0) / 16_000) }
        #expect((100..<7840).allSatisfy { abs(line.samples[$0] - expected[$0]) < 0.002 })
    }

    /// Three sounds of noise, with pauses, heard half as loud and 60 ms later: what is left of them in each block of 100 ms, in dB.
    @Test func `a microphone's canceller removes what is played, and keeps what it has learnt`() throws {
        let format = StreamFormat(rate: 16_000, channels: 1, sample: .f32, period: 160, buffer: 8000)
        let mix = ChannelMix.channel(0).cancelling(EchoSettings(.device, filter: 0.1))
        let output = try CaptureOutput(ringCapacity: 4)
        var cutter = try BlockCutter(format: format, mix: mix, quality: .standard)
        let feed = ReferenceFeed()
        feed.attach(output.reference)
        var reference = PlayedReference(feed, at: Self.start)
        let resampler = try ReferenceResampler(from: 16_000)
        // Not at whole blocks.
        let sounds = [8011, 120_123, 200_456].map { (start: $0, samples: Self.noise(64_000, seed: UInt64($0))) }
        var heard = [Float](repeating: 0, count: 280_000)
        for sound in sounds {
            for (index, sample) in sound.samples.enumerated() { heard[sound.start + 960 + index] = sample / 2 }
        }
        var left: [Float] = []
        for block in 0..<174 {
            let end = 1600 * (block + 1)
            for sound in sounds where sound.start < end && end < sound.start + 64_000 + 1600 {
                // Written up to 0.2 s before it is heard.
                let from = end - 1600 - sound.start
                let before = from < 0 ? 0 : min(64_000, from + 3200)
                if from < 0 { reference.begin() }
                let until = min(64_000, end - sound.start + 3200)
                reference.add(sound.samples.span.extracting(before..<until), resampler)
                if from < 0 { reference.started(at: Self.time(Double(sound.start))) }
            }
            reference.silence(until: Self.time(Double(end)))
            let frames = cutter.frames.bindMemory(to: Float.self)
            var energy: (before: Float, after: Float) = (0, 0)
            for index in 0..<1600 {
                frames[index] = heard[end - 1600 + index]
                energy.before += frames[index] * frames[index]
            }
            try cutter.take(1600, time: Self.time(Double(end - 1)), into: output)
            _ = output.ring.withWindow { window, _ in
                for index in 14_400..<16_000 { energy.after += window[index] * window[index] }
            }
            left.append(10 * log10(max(energy.after, 1e-6) / max(energy.before, 1e-6)))
        }
        func mean(_ blocks: Range<Int>) -> Float { left[blocks].reduce(0, +) / Float(blocks.count) }
        // At the end of the second sound, and from the first second of the third on.
        #expect(mean(100..<114) < -12, "\(mean(100..<114)) dB")
        #expect(mean(128..<138) < -12, "\(mean(128..<138)) dB")
        #expect(mean(140..<160) < -12, "\(mean(140..<160)) dB")
    }

    @Test func `a speaker tells what it plays while it is asked to`() throws {
        let folder = try TestFolder()
        let path = try folder.write("noise.wav", format: 0x10002, rate: 16_000, Self.noise(6400))
        let fake = try FakeSpeaker(in: folder)
        let speaker = Speaker { _, _ in }
        try speaker.select(fake.name)
        defer { speaker.stop(until: Clock.now + .seconds(5)) }
        let queue = ReferenceQueue()
        speaker.feed(queue)
        var pieces: [ReferenceQueue.Piece] = []
        func take() { while let piece = queue.pop() { pieces.append(piece) } }
        func isLoud(_ piece: ReferenceQueue.Piece) -> Bool { (0..<160).contains { abs(piece.samples[$0]) > 0.05 } }
        #expect(
            comesTrue(within: 30) {
                take()
                return pieces.count > 5
            },
            "silence"
        )
        let begun = Clock.now
        #expect(speaker.play(path) == .queued)
        #expect(
            comesTrue(within: 30) {
                take()
                return speaker.counts?.played == 1
            }
        )
        let ended = Clock.now
        #expect(
            comesTrue(within: 30) {
                take()
                return pieces.last.map { $0.time > ended } ?? false
            }
        )
        let loud = pieces.filter(isLoud)
        #expect((38...42).contains(loud.count))
        #expect(loud.allSatisfy { $0.time > begun && $0.time < ended + .milliseconds(50) })
        #expect(pieces.dropFirst().allSatisfy { $0.continues })
        speaker.feed(nil)
        take()
        let count = pieces.count
        #expect(speaker.play(path) == .queued)
        #expect(comesTrue(within: 30) { speaker.counts?.played == 2 })
        take()
        #expect(pieces.count == count)
    }
}
