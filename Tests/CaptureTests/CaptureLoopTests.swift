import Core
import Echo
import Glibc
import System
import TestSupport
import Testing

@testable import Audio
@testable import Capture

/// The capture loop on a scripted device: its calls to the device, and the blocks in the ring.
struct CaptureLoopTests {
    /// The result of a run.
    struct Outcome {
        var calls: [String]
        var changes: [CaptureMachine.Change]
        /// First sample, last sample, time and filled of each block that can still be read.
        var blocks: [(first: Float, last: Float, time: Instant, filled: Int)]
        var counts: CaptureMachine.Counts
        var ring: BlockRing.Counts
        var status: CaptureStatus
    }

    ///
    /// - Parameter choices: selections applied in turn, each when the script of the open device has ended.
    static func run(_ script: [ScriptedSource.Answer], choices: [InputSelection] = []) throws -> Outcome {
        let output = try CaptureOutput(ringCapacity: 100)
        let log = ScriptedSource.Log()
        var next = choices[...]
        let source = ScriptedSource(script, log: log) {
            if let choice = next.popFirst() { output.selections.post(choice) } else { output.target = .stop }
        }
        var loop = CaptureLoop(source: source, output: output)
        var steps = 0
        while loop.advance(), steps < 100_000 { steps += 1 }
        #expect(steps < 100_000, "the loop ends")
        var outcome = Outcome(
            calls: log.calls,
            changes: [],
            blocks: [],
            counts: .init(),
            ring: output.ring.counts,
            status: output.status
        )
        while let change = output.changes.pop() { outcome.changes.append(change) }
        while output.ring.withWindow({ window, block in
            let first = window[AudioFormat.windowSamples - AudioFormat.hopSamples]
            let last = window[AudioFormat.windowSamples - 1]
            let unit = ScriptedSource.unit
            outcome.blocks.append((first / unit, last / unit, block.time, block.filled))
        }) {}
        outcome.counts = output.status.counts
        outcome.ring = output.ring.counts
        return outcome
    }

    @Test func `blocks follow each other, each with the time of its last sample`() throws {
        let outcome = try Self.run([.periods(35), .short(50), .periods(6)])
        #expect(outcome.calls == ["open", "close"])
        #expect(outcome.blocks.map(\.first) == [0, 1_600, 3_200, 4_800])
        #expect(outcome.blocks.map(\.last) == [1_599, 3_199, 4_799, 6_399])
        #expect(outcome.blocks.map(\.filled) == [1, 2, 3, 4])
        // The device gives a period every 10 ms from 1 s on. The short read gives 50 samples for its 10 ms, so the
        // fourth block is full after 110 samples of the fifth period after it, 50 samples before that period's end.
        let full = [1_100, 1_200, 1_300, 1_410].map { Instant(nanoseconds: $0 * 1_000_000) }
        #expect(outcome.blocks.map(\.time) == [full[0], full[1], full[2], full[3] - .nanoseconds(50 * 62_500)])
        #expect(outcome.changes.map(\.kind) == [.running])
        #expect(outcome.counts == .init())
    }

    @Test(arguments: [
        (ScriptedSource.Answer.fails(EPIPE, mending: []), ["prepare"], CaptureMachine.Change.Kind.overrun),
        (.fails(EPIPE, mending: [EPIPE, EPIPE]), ["prepare", "prepare", "prepare"], .overrun),
        (.fails(ESTRPIPE, mending: []), ["resume"], .suspended),
        (.fails(ESTRPIPE, mending: [EAGAIN, EAGAIN]), ["resume", "resume", "resume"], .suspended),
        (.fails(ESTRPIPE, mending: [ENOSYS]), ["resume", "prepare"], .suspended),
        (.fails(EBADFD, mending: []), ["prepare"], .overrun),
        (.fails(ENODEV, mending: []), ["close", "open"], .lost),
        (.fails(EIO, mending: []), ["close", "open"], .lost),
        (.silence, ["close", "open"], .stalled),
        (.fails(EPIPE, mending: [ENODEV]), ["prepare", "close", "open"], .overrun),
    ])
    func `no audio from before a gap is scored after it`(
        _ trouble: ScriptedSource.Answer,
        calls: [String],
        told: CaptureMachine.Change.Kind
    ) throws {
        // The two and a half blocks captured before the error must be flushed.
        let outcome = try Self.run([.periods(25), trouble, .periods(20)])
        #expect(outcome.calls == ["open"] + calls + ["close"])
        #expect(outcome.blocks.map(\.first) == [4_000, 5_600])
        #expect(outcome.blocks.map(\.filled) == [1, 2])
        #expect(outcome.ring.flushed == 2)
        #expect(outcome.counts.gaps == 1)
        #expect(outcome.changes.first?.kind == .running && outcome.changes.last?.kind == .running)
        #expect(outcome.changes.dropFirst().first?.kind == told)
    }

    @Test func `a series of overruns ends after five recoveries, and is one gap`() throws {
        let storm = [ScriptedSource.Answer](repeating: .fails(EPIPE, mending: []), count: 6)
        let outcome = try Self.run([.periods(25)] + storm + [.periods(20)])
        #expect(outcome.calls == ["open"] + [String](repeating: "prepare", count: 5) + ["close", "open", "close"])
        #expect(outcome.counts == .init(gaps: 1, overruns: 1, losses: 1, reconnects: 1))
        #expect(outcome.changes.map(\.kind) == [.running, .overrun, .lost, .running])
    }

    @Test func `a missing device is tried again and again, and reported once`() throws {
        let numbers = [ENOENT, ENODEV, ENOENT, ECONNREFUSED, EHOSTDOWN, ENODEV]
        let outcome = try Self.run([.periods(25), .fails(ENODEV, mending: []), .missing(numbers), .periods(20)])
        #expect(outcome.calls.filter { $0 == "open" }.count == 8)
        #expect(outcome.changes.map(\.kind) == [.running, .lost, .running])
        let waits = [50, 100, 200, 400, 500, 500, 500, 10]
        #expect(outcome.changes.last?.duration == .milliseconds(waits.reduce(0, +)))
        #expect(outcome.counts == .init(gaps: 1, losses: 1, reconnects: 1))
    }

    @Test func `a new selection closes the open device and opens the selected one`() throws {
        let other = InputSelection(device: .named("other"))
        // The second selection equals the first and changes nothing; the script ends once more for it.
        let outcome = try Self.run([.periods(25), .missing([ENOENT]), .periods(20)], choices: [other, other])
        #expect(outcome.calls == ["open", "close", "open", "close", "open", "close"])
        #expect(outcome.blocks.map(\.first) == [4_000, 5_600] && outcome.blocks.map(\.filled) == [1, 2])
        #expect(outcome.changes.map(\.kind) == [.running, .selectionChanged, .unavailable, .running])
        // 50 ms before the first attempt, 100 ms before the second, then one period of 10 ms.
        #expect(outcome.changes.last?.duration == .milliseconds(160))
        #expect(outcome.counts == .init(gaps: 1))
    }

    @Test func `a device that is busy at the start is waited for`() throws {
        let outcome = try Self.run([.missing([EBUSY, EBUSY]), .periods(20)])
        #expect(outcome.calls.filter { $0 == "open" }.count == 3)
        #expect(outcome.changes.map(\.kind) == [.unavailable, .running])
        #expect(outcome.changes.first?.number == EBUSY)
        #expect(outcome.counts == .init())
        #expect(outcome.blocks.count == 2)
    }

    @Test func `frames missing by the clock flush what was heard, and are counted once`() throws {
        let outcome = try Self.run([.periods(25), .lost(4_800), .periods(24)])
        // Detected with the fifth period after the gap; the 20 periods after that are two blocks.
        let start: Float = 4_000 + 4_800 + 5 * 160
        #expect(outcome.blocks.map(\.first) == [start, start + 1_600])
        #expect(outcome.counts == .init(gaps: 1, missing: 1))
        #expect(outcome.changes.map(\.kind) == [.running, .framesMissing])
        // A little of the elapsed time may be drift.
        #expect(
            outcome.changes.last.map { (Duration.milliseconds(299)...Duration.milliseconds(300)).contains($0.duration) }
                == true
        )
    }

    /// A running loop, continued period by period.
    private final class Running {
        var loop: CaptureLoop<ScriptedSource>
        let output: CaptureOutput

        init() throws {
            let output = try CaptureOutput(ringCapacity: 1)
            let source = ScriptedSource([.periods(.max)], log: ScriptedSource.Log()) { output.target = .stop }
            self.output = output
            loop = CaptureLoop(source: source, output: output)
            hear()
        }

        /// Captures two seconds, in which the ring overflows.
        func hear() {
            for _ in 0..<400 { _ = loop.advance() }
        }
    }

    @Test func `nothing is allocated while the device runs`() throws {
        let running = try Running()
        #expect(HeapTrial { running.hear() }.isQuiet(seconds: 30))
        #expect(running.output.ring.counts.dropped > 0)
    }

    /// The same on the fake card, at 48 kHz in stereo.
    private final class RunningCard {
        var loop: CaptureLoop<CardSource>
        let output: CaptureOutput
        private let card: FakeCard

        /// - Parameter queue: what it captures for; nil for the ring.
        init(_ mix: ChannelMix = .mix, into queue: ReferenceQueue? = nil) throws {
            let folder = try TestFolder()
            card = try FakeCard(playing: FaultTests.noise(in: folder), in: folder, "channels 2 loop on speed 0")
            output = try CaptureOutput(queue.map { .reference($0) } ?? .ring(capacity: 1))
            let source = CardSource(wanted: .init(), record: output.record, wakeUp: try EventFD(or: { $0 }))
            let selection = InputSelection(device: .named(card.name), mix: mix)
            var limits = CaptureMachine.Limits()
            limits.ahead = nil
            loop = CaptureLoop(source: source, selection: selection, limits: limits, output: output)
            hear()
        }

        /// Captures at least six periods, and so at least one block.
        func hear() {
            for _ in 0..<20 { _ = loop.advance() }
        }

        /// As ``hear()``, beside a reference that gives 100 ms in the same time.
        func hear(beside reference: RunningCard) {
            reference.hear()
            hear()
        }
    }

    @Test func `nor by ALSA, the poll and the resampler`() throws {
        let running = try RunningCard()
        #expect(HeapTrial { running.hear() }.isQuiet(seconds: 30))
        let status = running.output.status
        #expect(status.blocks > 0 && status.format?.rate == 48_000 && status.counts == .init())
        let cancelling = try RunningCard(.mix.cancelling(EchoSettings(reference: 1)))
        #expect(HeapTrial { cancelling.hear() }.isQuiet(seconds: 30))
        #expect(cancelling.output.status.blocks > 0)
        let beside = try RunningCard(.channel(0).cancelling(EchoSettings(.device)))
        let reference = try RunningCard(into: beside.output.reference)
        beside.hear(beside: reference)
        #expect(HeapTrial { beside.hear(beside: reference) }.isQuiet(seconds: 30))
        #expect(beside.output.status.blocks > 0 && reference.output.status.blocks > 0)
    }
}
