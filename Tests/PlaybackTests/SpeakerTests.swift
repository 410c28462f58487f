import Core
import Glibc
import System
import TestSupport
import Testing

@testable import Audio
@testable import Capture
@testable import Playback

/// What is played on a fake loudspeaker.
struct SpeakerTests {
    private let folder: TestFolder
    private let reports = Lines()

    init() throws { folder = try TestFolder() }

    private func speaker(_ device: String) throws -> Speaker {
        let speaker = Speaker { [reports] in reports.add("\($0) \($1)") }
        try speaker.select(device)
        return speaker
    }

    private func waits(_ speaker: Speaker) -> Bool {
        comesTrue(within: 30) {
            speaker.counts.map { !$0.isPlaying && $0.waiting == 0 && $0.played + $0.failed > 0 } ?? false
        }
    }

    /// A tone of 440 Hz.
    private static func tone(_ count: Int, rate: Int) -> [Float] {
        (0..<count).map { 0.5 * sin(2 * .pi * 440 * Float($0) / Float(rate)) }
    }

    /// The samples of what was played that belong to a sound of so many samples.
    private func start(_ played: [Float], _ count: Int) -> [Float] { Array(played.prefix(count)) }

    @Test(arguments: ["S16_LE", "S32_LE", "FLOAT_LE", "S24_3LE", "S24_LE"])
    func `a file is played in the format of the device, on all its channels`(format: String) throws {
        let tone = Self.tone(4800, rate: 48_000)
        let path = try folder.write("tone.wav", format: 0x10002, rate: 48_000, tone)
        let device = try FakeSpeaker(in: folder, "speed 0 channels 2 format \(format)")
        let speaker = try speaker(device.name)
        #expect(speaker.play(path) == .queued)
        #expect(waits(speaker))
        speaker.stop(until: Clock.now + .seconds(5))
        let layout = try #require(SampleLayout(name: format))
        let bytes = device.bytes
        var played = [Float](repeating: 9, count: bytes.count / layout.bytes)
        var span = played.mutableSpan
        layout.decode(bytes.span, into: &span)
        #expect(played.count >= 2 * tone.count)
        for index in tone.indices {
            #expect(abs(played[2 * index] - tone[index]) < 1e-4 && played[2 * index] == played[2 * index + 1])
        }
        #expect(played.dropFirst(2 * tone.count).allSatisfy { $0 == 0 }, "silence after it")
        #expect(reports.all == [])
    }

    @Test(arguments: [(8000, 48_000, 1), (22_050, 44_100, 2), (48_000, 16_000, 1), (16_000, 48_000, 6)])
    func `other rates are converted, and channels mixed`(rate: Int, device: Int, channels: Int) throws {
        let count = rate / 2
        let tone = Self.tone(count, rate: rate)
        let path = try folder.write(
            "tone.wav",
            format: 0x10002,
            rate: rate,
            channels: channels,
            tone.flatMap { [Float](repeating: $0, count: channels) }
        )
        let fake = try FakeSpeaker(in: folder, "speed 0 rate \(device) channels 1")
        let speaker = try speaker(fake.name)
        #expect(speaker.play(path) == .queued)
        #expect(waits(speaker))
        let played = fake.played(channels: 1)
        let expected = Self.tone(device / 2, rate: device)
        #expect(played.count >= expected.count)
        // At both ends the tone begins and stops suddenly.
        let middle = 200..<expected.count - 200
        #expect(middle.allSatisfy { abs(played[$0] - expected[$0]) < 0.01 })
        #expect(played.dropFirst(expected.count).allSatisfy { $0 == 0 })
    }

    @Test func `sounds are played one after the other, at most a few wait`() throws {
        let long = try folder.write("long.wav", format: 0x10002, rate: 48_000, Self.tone(19_200, rate: 48_000))
        let fake = try FakeSpeaker(in: folder)
        let speaker = try speaker(fake.name)
        let start = Clock.now
        #expect(speaker.play(long) == .queued)
        #expect(comesTrue { speaker.counts?.isPlaying == true })
        let answers = (0..<5).map { _ in speaker.play(long) }
        #expect(answers == [.queued, .queued, .queued, .queued, .full])
        #expect(comesTrue(within: 30) { speaker.counts?.played == 5 })
        // Five sounds of 0.4 s, as fast as the loudspeaker plays.
        #expect((Clock.now - start).seconds > 1.9)
        #expect(speaker.counts?.dropped == 1)
        let played = fake.played()
        #expect(played.count(where: { abs($0) > 0.001 }) > 5 * 19_000)
    }

    @Test func `a device that is missing, busy or unplugged is reported once, and the next sound is tried anew`() throws
    {
        let path = try folder.write("tone.wav", format: 0x10002, rate: 48_000, Self.tone(4800, rate: 48_000))
        let fake = try FakeSpeaker(in: folder)
        try fake.fail("busy")
        let speaker = try speaker(fake.name)
        for number in 1...3 {
            #expect(speaker.play(path) == .queued)
            #expect(comesTrue(within: 30) { speaker.counts?.failed == number })
        }
        #expect(reports.all.count == 1)
        #expect(reports.all[0].hasPrefix("error audio device '\(fake.name)': snd_pcm_open: Device or resource busy"))
        try fake.fail("")
        #expect(speaker.play(path) == .queued)
        #expect(comesTrue(within: 30) { speaker.counts?.played == 1 })
        #expect(reports.all.last == "notice the speaker '\(fake.name)' plays again")
        // In the middle of a sound.
        let long = try folder.write("long.wav", format: 0x10002, rate: 48_000, Self.tone(480_000, rate: 48_000))
        #expect(speaker.play(long) == .queued)
        #expect(comesTrue { speaker.counts?.isPlaying == true })
        try fake.fail("gone")
        #expect(comesTrue(within: 30) { speaker.counts?.failed == 4 })
        #expect(reports.all.last?.contains("No such device") == true && reports.all.count == 3)
        try fake.fail("")
        #expect(speaker.play(path) == .queued)
        #expect(comesTrue(within: 30) { speaker.counts?.played == 2 })
    }

    @Test func `a file that is missing or damaged is reported, and what is whole of it is played`() throws {
        let fake = try FakeSpeaker(in: folder, "speed 0")
        let speaker = try speaker(fake.name)
        #expect(speaker.play(folder.file("none.wav")) == .queued)
        #expect(comesTrue(within: 30) { speaker.counts?.failed == 1 && reports.all.count == 1 })
        #expect(reports.all.first?.contains("none.wav") == true)
        let path = try folder.write("tone.wav", format: 0x10002, rate: 48_000, Self.tone(9600, rate: 48_000))
        try folder.write("cut.wav", bytes: Array(try folder.bytes("tone.wav").prefix(9644)))
        #expect(speaker.play(folder.file("cut.wav")) == .queued)
        #expect(comesTrue(within: 30) { speaker.counts?.failed == 2 })
        #expect(fake.played().count(where: { abs($0) > 0.001 }) > 4700)
        #expect(speaker.play(path) == .queued)
        #expect(comesTrue(within: 30) { speaker.counts?.played == 1 })
    }

    @Test func `underruns and a suspend are recovered`() throws {
        let path = try folder.write("tone.wav", format: 0x10002, rate: 48_000, Self.tone(38_400, rate: 48_000))
        let fake = try FakeSpeaker(in: folder)
        let speaker = try speaker(fake.name)
        #expect(speaker.play(path) == .queued)
        #expect(comesTrue { speaker.counts?.isPlaying == true })
        try fake.fail("xrun")
        #expect(comesTrue { (try? folder.bytes("\(fake.name).control")) == [] })
        try fake.fail("suspend")
        #expect(comesTrue(within: 30) { speaker.counts?.played == 1 })
        // On a busy machine there may be more.
        #expect(speaker.counts.map { $0.underruns >= 1 } == true && reports.all == [])
        #expect(fake.played().count(where: { abs($0) > 0.001 }) > 38_000, "nothing is left out")
    }

    @Test func `speech is played as it comes, and is over when it was heard`() throws {
        let fake = try FakeSpeaker(in: folder)
        let speaker = try speaker(fake.name)
        let speech = try #require(speaker.speech(rate: 16_000))
        #expect(speech.room == 16_000)
        let tone = Self.tone(12_800, rate: 16_000)
        let start = Clock.now
        for piece in stride(from: 0, to: tone.count, by: 1600) {
            #expect(comesTrue(within: 30) { speech.room >= 1600 })
            speech.write(Array(tone[piece..<piece + 1600]).span)
        }
        #expect(!speech.isOver)
        speech.finish()
        #expect(comesTrue(within: 30) { speech.isOver })
        #expect((Clock.now - start).seconds > 0.79)
        let played = fake.played()
        let expected = Self.tone(38_400, rate: 48_000)
        #expect((300..<38_000).allSatisfy { abs(played[$0] - expected[$0]) < 0.01 })
    }

    @Test func `speech that is cancelled, or whose device fails, is over`() throws {
        let fake = try FakeSpeaker(in: folder)
        let speaker = try speaker(fake.name)
        let cancelled = try #require(speaker.speech(rate: 8000))
        cancelled.write(Self.tone(4000, rate: 8000).span)
        cancelled.cancel()
        #expect(comesTrue(within: 30) { cancelled.isOver })
        try fake.fail("gone")
        let failed = try #require(speaker.speech(rate: 8000))
        #expect(comesTrue(within: 30) { failed.isOver })
        // Nobody has to wait for it.
        #expect(failed.room == .max)
        failed.write(Self.tone(4000, rate: 8000).span)
        let stopped = try #require(speaker.speech(rate: 8000))
        #expect(speaker.stop(until: Clock.now + .seconds(5)))
        #expect(stopped.isOver)
        #expect(speaker.play("/x") == .none && speaker.speech(rate: 8000) == nil && speaker.counts == nil)
    }

    @Test func `another device replaces the one before`() throws {
        let path = try folder.write("tone.wav", format: 0x10002, rate: 48_000, Self.tone(4800, rate: 48_000))
        let (first, second) = (try FakeSpeaker(in: folder, "speed 0"), try FakeSpeaker(in: folder, "speed 0"))
        let speaker = Speaker { _, _ in }
        #expect(speaker.play(path) == .none && speaker.device == nil)
        try speaker.select(first.name)
        try speaker.select(first.name)
        #expect(speaker.play(path) == .queued)
        #expect(waits(speaker))
        try speaker.select(second.name)
        #expect(speaker.device == second.name && speaker.play(path) == .queued)
        #expect(waits(speaker))
        #expect(!first.bytes.isEmpty && !second.bytes.isEmpty)
        try speaker.select(nil)
        #expect(speaker.device == nil && speaker.play(path) == .none)
    }

    /// A sound without end on a device that takes all at once.
    private final class Running {
        private let pcm: PlaybackPCM
        private var run: PlaybackRun
        private let speech: SpeechStream
        private var reference: PlayedReference
        private let resampler: ReferenceResampler
        private let feed = ReferenceFeed()
        let queue = ReferenceQueue()
        private let samples = SpeakerTests.tone(1600, rate: 16_000)

        init(_ device: String) throws {
            let pcm = try PlaybackPCM(name: device)
            speech = SpeechStream(rate: 16_000) {}
            feed.attach(queue)
            reference = PlayedReference(feed, at: Clock.now)
            resampler = try ReferenceResampler(from: pcm.format.rate)
            run = PlaybackRun(try PlayedSound(.speech(speech), rate: pcm.format.rate), pcm.format, at: Clock.now)
            self.pcm = pcm
            play()
        }

        func play() {
            let samples = samples
            speech.write(samples.span)
            for _ in 0..<20 { _ = run.advance(pcm, &reference, resampler, at: Clock.now) }
            while queue.pop() != nil {}
        }
    }

    @Test func `nothing is allocated while a sound is played`() throws {
        let fake = try FakeSpeaker(in: folder, "speed 0")
        let running = try Running(fake.name)
        #expect(HeapTrial { running.play() }.isQuiet(seconds: 30))
        #expect(!fake.bytes.isEmpty)
    }
}
