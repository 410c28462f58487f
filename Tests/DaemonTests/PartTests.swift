import Audio
import Capture
import Core
import Foundation
import Synchronization
import System
import TestSupport
import Testing

@testable import Daemon

struct AudioHistoryTests {
    /// A window in which each sample's value is its index in the stream.
    private func window(endingAt end: Int) -> [Float] {
        (end - AudioFormat.windowSamples..<end).map { $0 < 0 ? 0 : Float($0) }
    }

    @Test func `audio is kept for the length of the history`() {
        let history = AudioHistory()
        for block in 1...100 { history.add(window(endingAt: block * 1600).span) }
        #expect(history.count == 160_000)
        #expect(history.samples(100_000..<100_003) == [100_000, 100_001, 100_002])
        // Samples older than eight seconds, and samples not yet written.
        #expect(history.samples(0..<10) == [])
        #expect(history.samples(159_999..<170_000) == [159_999])
        #expect(history.samples(0..<200_000).count == AudioHistory.seconds * 16_000)
    }

    @Test(arguments: [1, 4, 9, 12])
    func `blocks that come while a reader holds it are caught up`(_ held: Int) {
        let history = AudioHistory()
        history.add(window(endingAt: 1600).span)
        // A reader holds the lock while another thread adds blocks.
        history.state.withLock { _ in
            let isDone = DispatchSemaphore(value: 0)
            Thread {
                for block in 2...held + 1 { history.add(window(endingAt: block * 1600).span) }
                isDone.signal()
            }.start()
            isDone.wait()
        }
        #expect(history.count == 1600)
        let end = (held + 2) * 1600
        history.add(window(endingAt: end).span)
        #expect(history.count == end)
        // Zeros stand for samples that left the window; all others are there.
        let heard = history.samples(1600..<end)
        let first = max(1600, end - AudioFormat.windowSamples)
        #expect(heard == (1600..<end).map { $0 < first ? 0 : Float($0) })
    }
}

struct LiveFileTests {
    @Test func `blocks come every 100 ms, then one second of silence, then the end`() throws {
        let folder = try TestFolder()
        let samples = (0..<4000).map { Float($0) / 8000 }
        let file = try FileSource(path: folder.write("ramp.wav", format: 0x10006, samples), mix: .mix)
        let start = Clock.now
        var blocks: [(time: Instant, read: Instant, sequence: UInt64, continues: Bool, last: Float)] = []
        while !file.hasEnded {
            _ = file.next(until: Clock.now + .seconds(1)) { window, block in
                blocks.append((block.time, Clock.now, block.sequence, block.continues, window[14_400]))
            }
        }
        // 2.5 blocks of sound and ten of silence.
        #expect(blocks.count == 13 && blocks.map(\.sequence) == Array(0..<13))
        #expect(blocks.map(\.continues) == [false] + [Bool](repeating: true, count: 12))
        for (index, block) in blocks.enumerated() {
            // Never before its last sample would have been captured; how late it is depends on the machine's load.
            #expect(block.read >= start + AudioFormat.hopDuration * (index + 1) && block.read >= block.time)
            #expect(block.last == (index < 3 ? Float(index * 1600) / 8000 : 0))
        }
        for (one, next) in zip(blocks, blocks.dropFirst()) { #expect(next.time - one.time == AudioFormat.hopDuration) }
        #expect(file.problem == nil)
    }

    @Test func `a reader that gives up before the block is due gets none, and loses none`() throws {
        let folder = try TestFolder()
        let file = try FileSource(
            path: folder.write("a.wav", format: 0x10006, [Float](repeating: 0.5, count: 1600)),
            mix: .mix
        )
        let start = Clock.now
        #expect(!file.next(until: start + .milliseconds(20)) { _, _ in })
        #expect(Clock.now - start < .milliseconds(900))
        var first: UInt64?
        #expect(file.next(until: start + .seconds(1)) { _, block in first = block.sequence })
        #expect(first == 0)
    }
}

struct CaptureMessageTests {
    private static let status: CaptureStatus? = {
        var status = (try? Microphone())?.status
        status?.device = "hw:CARD=Device,DEV=0"
        return status
    }()

    private func line(
        _ kind: CaptureMachine.Change.Kind,
        number: Int32 = 0,
        call: CaptureMachine.Call = .none,
        duration: Duration = .zero,
        problem: String = ""
    ) throws -> String {
        var status = try #require(Self.status)
        status.problem = problem
        let change = CaptureMachine.Change(
            kind,
            at: Instant(nanoseconds: 0),
            call: call,
            number: number,
            duration: duration
        )
        let message = change.message(status)
        return "\(message.level) \(message.text)"
    }

    @Test func `each change is one line, which names the device and the system's error`() throws {
        let card = "hw:CARD=Device,DEV=0"
        #expect(try line(.running) == "info listening to \(card)")
        #expect(try line(.running, duration: .milliseconds(1_234)) == "notice listening to \(card) again after 1.23 s")
        #expect(
            try line(.overrun, number: EPIPE, call: .read)
                == "warning \(card): audio was lost, as the machine was too busy (snd_pcm_readi: Broken pipe)"
        )
        #expect(try line(.framesMissing, duration: .milliseconds(250)) == "warning \(card): 0.25 s of audio never came")
        #expect(
            try line(.lost, number: ENODEV, call: .read)
                == "warning \(card): lost (snd_pcm_readi: No such device); waiting for it to come back"
        )
        #expect(try line(.unavailable, problem: "it is gone") == "error it is gone")
        #expect(
            try line(.stillUnavailable, duration: .seconds(60), problem: "it is gone")
                == "warning still no microphone after 60.00 s: it is gone"
        )
        #expect(
            try line(.notRealTime, number: EPERM)
                == "notice no real-time priority for capture (Operation not permitted); audio may be lost when the machine "
                + "is busy"
        )
    }

    @Test func `gaps that were not reported one by one are summed up in one line`() throws {
        let status = try #require(Self.status)
        let sum = GapReport.Item.more(gaps: 37, lost: .milliseconds(1_234)).message(status)
        #expect(sum == (.warning, "hw:CARD=Device,DEV=0: 37 more gaps, 1.23 s lost"))
        #expect(
            GapReport.Item.more(gaps: 1, lost: .milliseconds(20)).message(status).text.hasSuffix(
                ": 1 more gap, 0.02 s lost"
            )
        )
    }

    @Test func `every change has a message, whatever is known of the device`() throws {
        var status = try #require(Self.status)
        status.device = ""
        for number in UInt8(0)..<32 {
            guard let kind = CaptureMachine.Change.Kind(rawValue: number) else { continue }
            let text = CaptureMachine.Change(kind, at: Instant(nanoseconds: 0)).message(status).text
            #expect(text.count > 5 && !text.contains("\n") && !text.hasPrefix(":"), "\(kind): \(text)")
        }
    }
}
