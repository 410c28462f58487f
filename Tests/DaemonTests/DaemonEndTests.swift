import Audio
import Configuration
import Core
import Enrollment
import Events
import Foundation
import Input
import Spotting
import Synchronization
import System
import TestSupport
import Testing

@testable import Daemon

/// The service where its audio ends by itself.
struct DaemonEndTests {
    /// A sink that takes longer for a word than a stop has for all of them.
    private final class SlowSink: EventSink {
        let words = Mutex(0)

        func receive(_ event: DetectionEvent) {
            Clock.sleep(until: Clock.now + .milliseconds(150))
            words.withLock { $0 += 1 }
        }
    }

    @Test func `all words of a stream are dispatched before the service ends, however slow their receiver is`() throws {
        let folder = try TestFolder()
        let voice = try Voices.samples("Rear_Left")
        let said = voice.map { Int16($0 * 32_767) }.flatMap { sample in
            [UInt8(truncatingIfNeeded: sample), UInt8(truncatingIfNeeded: sample >> 8)]
        }
        // Longer than the history that the recording is taken from, with a pause in which nobody speaks.
        let pause = [UInt8](repeating: 0, count: 20 * Voices.rate * 2)
        let words = [[UInt8]](repeating: said, count: 3).flatMap { $0 }
        let path = try folder.write("many.raw", bytes: words + pause + words)
        let file = try FileHandle(forReadingFrom: URL(fileURLWithPath: path))
        let log = ServiceLog { _, _ in }
        let loader = SettingsLoader(
            path: nil,
            vocabulary: VocabularyLoader(modelFolder: Checkout.model, words: TaughtWords("none")),
            log: log
        ) { $0.gate.mode = .spot }
        let settings = try loader.load()
        let sink = SlowSink()
        let format = try #require(RawFormat(rate: Voices.rate, channels: 1, sample: .s16))
        let null = try FileHandle(forWritingTo: URL(fileURLWithPath: "/dev/null"))
        let output = try LineWriter(null.fileDescriptor, name: "beckon-output")
        let recording = folder.file("heard.wav")
        let status = Mutex<Int32?>(nil)
        let done = Latch()
        // The signals of the service are blocked on its thread alone.
        Thread.detachNewThread {
            let signals = Signals()
            let setup = Daemon.Setup(
                .detector(.stream(file.fileDescriptor, format)),
                recording: recording,
                environment: [:],
                output: output,
                logOutput: output
            )
            let ended = try? Daemon(
                settings,
                loader: loader,
                setup: setup,
                signals: signals,
                log: log,
                sinks: [sink]
            ).run(signals)
            status.withLock { $0 = ended }
            done.open()
        }
        try #require(done.wait(until: Clock.now + .seconds(60)))
        #expect(status.withLock { $0 } == 0)
        #expect(sink.words.withLock { $0 } == 6)
        withExtendedLifetime(null) {}
        // The recording is whole too: its closing second of silence is part of it.
        let recorded = try Voices.samples(at: recording).count
        #expect(recorded >= 6 * voice.count / 3 + 20 * 16_000, "\(recorded) samples")
    }
}
