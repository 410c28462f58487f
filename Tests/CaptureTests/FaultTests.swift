import Core
import Foundation
import System
import TestSupport
import Testing

@testable import Audio
@testable import Capture

/// Faults of the fake card, through the real libasound, in real time.
struct FaultTests {
    /// Two seconds of noise as 16-bit samples.
    static func noise(in folder: TestFolder) throws -> String {
        var random = SplitMix(seed: 7)
        return try folder.write("noise.raw", bytes: (0..<64_000).map { _ in UInt8(truncatingIfNeeded: random.next()) })
    }

    struct Fault: Sendable, CustomTestStringConvertible {
        var testDescription: String { text }
        var text: String
        /// Seconds until the test ends the fault; nil where it ends by itself.
        var lasts: Double?
        var counts: CaptureMachine.Counts
        var told: [CaptureMachine.Change.Kind]
    }

    static let faults: [Fault] = [
        Fault(text: "xrun", counts: .init(gaps: 1, overruns: 1), told: [.overrun, .running]),
        Fault(text: "suspend", counts: .init(gaps: 1, suspensions: 1), told: [.suspended, .running]),
        Fault(text: "skip 8000", counts: .init(gaps: 1, missing: 1), told: [.framesMissing]),
        Fault(
            text: "storm 12",
            counts: .init(gaps: 1, overruns: 1, losses: 1, reconnects: 1),
            told: [.overrun, .lost, .running]
        ),
        Fault(text: "gone", lasts: 0.4, counts: .init(gaps: 1, losses: 1, reconnects: 1), told: [.lost, .running]),
        Fault(text: "eio", lasts: 0.4, counts: .init(gaps: 1, losses: 1, reconnects: 1), told: [.lost, .running]),
        Fault(
            text: "stall",
            lasts: 1.2,
            counts: .init(gaps: 1, stalls: 1, losses: 1, reconnects: 1),
            told: [.stalled, .running]
        ),
    ]

    /// The changes reported so far; waits for `count` of them, because the thread reports a change after acting on it.
    static func changes(_ microphone: Microphone, atLeast count: Int = 0) -> [CaptureMachine.Change] {
        var changes: [CaptureMachine.Change] = []
        _ = eventually {
            while let change = microphone.nextChange() { changes.append(change) }
            return changes.count >= count
        }
        return changes
    }

    @Test(arguments: faults) func `audio returns by itself, and no block is stale`(_ fault: Fault) throws {
        let folder = try TestFolder()
        let card = try FakeCard(playing: Self.noise(in: folder), in: folder, "rate 16000 loop on")
        let microphone = try card.microphone()
        try microphone.start()
        defer { microphone.stop() }
        #expect(FakeCardTests.blocks(3, of: microphone).count == 3)
        #expect(Self.changes(microphone, atLeast: 1).map(\.kind) == [.running])

        let failed = Clock.now
        try card.fail(fault.text)
        if let seconds = fault.lasts {
            usleep(UInt32(seconds * 1e6))
            #expect(microphone.status.state == .lost)
            try card.fail("")
        }
        let mended = Clock.now
        #expect(eventually { microphone.status.counts == fault.counts })
        #expect(eventually { microphone.status.state == .running })
        let resumed = Clock.now
        // The next block with a gap before it was captured after the fault began, and begins a new window.
        var fresh: AudioBlock?
        while fresh == nil, Clock.now < resumed + .seconds(5) {
            _ = microphone.nextBlock(until: resumed + .seconds(5)) { _, block in
                if !block.continues { fresh = block }
            }
        }
        let first = try #require(fresh)
        #expect(first.filled == 1)
        #expect(first.time - .milliseconds(100) >= failed - .milliseconds(40))
        #expect(microphone.status.counts == fault.counts)
        #expect(Self.changes(microphone, atLeast: fault.told.count).map(\.kind) == fault.told)
        let seconds = (resumed - mended).seconds
        #expect(seconds <= 1, "resumed after \(seconds) s")
        print("fault '\(fault.text)': running again \(Int(seconds * 1000)) ms after it ended")
    }

    @Test func `a busy device is waited for, and the message names it`() throws {
        let folder = try TestFolder()
        let card = try FakeCard(playing: Self.noise(in: folder), in: folder, "rate 16000")
        try card.fail("busy")
        let microphone = try card.microphone()
        try microphone.start()
        defer { microphone.stop() }
        #expect(eventually { !microphone.status.problem.isEmpty })
        #expect(
            microphone.status.problem
                == "audio device '\(card.name)': snd_pcm_open: Device or resource busy; another program holds it; "
                + "'beckon devices' names it"
        )
        #expect(microphone.status.state == .waiting)
        usleep(300_000)
        try card.fail("")
        let freed = Clock.now
        #expect(eventually { microphone.status.state == .running })
        #expect(Clock.now - freed < .seconds(1))
        let told = Self.changes(microphone, atLeast: 2)
        #expect(told.map(\.kind) == [.unavailable, .running])
        #expect(told.first?.number == EBUSY)
        #expect(microphone.status.counts == .init())
    }

    /// A card whose reader is stopped once, as by SIGSTOP.
    private struct LateSource: CaptureSource, ~Copyable {
        var card: CardSource
        var late: Int
        var reads = 0

        mutating func open(_ selection: InputSelection) throws(CaptureError) -> StreamFormat {
            try card.open(selection)
        }
        mutating func close() { card.close() }
        mutating func restart() -> Int32 { card.restart() }
        mutating func resume() -> Int32 { card.resume() }
        mutating func waiting() -> Int { card.waiting() }
        mutating func wait(until time: Instant) -> Int32 { card.wait(until: time) }
        mutating func rest(until time: Instant) -> Bool { card.rest(until: time) }
        mutating func sleep(until time: Instant) { card.sleep(until: time) }
        var now: Instant { card.now }

        mutating func read(into frames: UnsafeMutableRawBufferPointer, count: Int) -> Int {
            reads += 1
            if reads == 8 { usleep(UInt32(late * 1000)) }
            return card.read(into: frames, count: count)
        }
    }

    /// - Returns: The counts of faults, and the number of blocks in 1.5 s.
    private static func late(_ milliseconds: Int) throws -> (CaptureMachine.Counts, blocks: Int) {
        let folder = try TestFolder()
        let card = try FakeCard(playing: noise(in: folder), in: folder, "rate 16000 loop on")
        let output = try CaptureOutput(ringCapacity: 32)
        let source = CardSource(wanted: .init(), record: output.record, wakeUp: try EventFD(or: { $0 }))
        var loop = CaptureLoop(
            source: LateSource(card: source, late: milliseconds),
            selection: InputSelection(device: .named(card.name)),
            output: output
        )
        let end = Clock.now + .milliseconds(1_500 + milliseconds)
        while loop.advance() {
            if Clock.now > end { output.target = .stop }
        }
        let status = output.status
        return (status.counts, Int(status.blocks))
    }

    @Test func `a reader that is late by less than the buffer loses nothing`() throws {
        let (counts, blocks) = try Self.late(350)
        #expect(counts == .init())
        #expect(blocks >= 17)
    }

    @Test func `a reader that is late by more than the buffer counts one overrun`() throws {
        #expect(try Self.late(800).0 == .init(gaps: 1, overruns: 1))
    }
}
