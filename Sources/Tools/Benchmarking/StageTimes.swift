import Audio
import Capture
public import Core
private import Evaluation
import Input
public import JSON
private import Synchronization
private import System

/// Latency of each stage from the end of a word in the audio to the start of its action.
public struct StageTimes: Sendable {
    /// Times of a block, on the monotonic clock.
    struct Stamps {
        /// When its last sample was captured, from the device's timestamp.
        var captured: Instant
        /// When the detector thread got it.
        var read: Instant
        /// When its hop was scored and its detections were queued for the dispatcher.
        var done: Instant
    }

    /// A stage, or the whole path; `seconds` holds one latency per word.
    struct Stage {
        let key: String
        let name: String
        var seconds: [Double] = []

        /// Percentile in ms; `share` is 0…1. Nil without words.
        func milliseconds(_ share: Double) -> Double? { percentile(seconds, share).map { $0 * 1000 } }
    }

    private(set) var stages = [
        Stage(key: "gate", name: "word's end to decision, in the audio"),
        Stage(key: "capture", name: "last sample captured to block read"),
        Stage(key: "detector", name: "block read to event handed over"),
        Stage(key: "action", name: "event to the action's first instruction"),
        Stage(key: "total", name: "word's end to the action's start"),
    ]

    private let blocks: [Stamps]
    /// When the audio began, on the monotonic clock.
    private let origin: Instant

    /// - Parameter blocks: times of all blocks, from the first.
    init(blocks: [Stamps]) {
        self.blocks = blocks
        // Each block's time gives an estimate of the audio's start. The times jitter, so the median is taken.
        let origins = blocks.enumerated().map { $1.captured - AudioFormat.hopDuration * ($0 + 1) }.sorted()
        origin = origins.isEmpty ? Instant(nanoseconds: 0) : origins[origins.count / 2]
    }

    /// Adds a word.
    ///
    /// - Parameters:
    ///   - end: end of the word in the audio, in s.
    ///   - decided: time of the decision in the audio, in s: the end of a block.
    ///   - started: start of its action, on the monotonic clock.
    /// - Returns: false where the block of the decision is unknown; then nothing is added.
    mutating func add(end: Double, decided: Double, started: Instant) -> Bool {
        let number = Int((decided / AudioFormat.hopSeconds).rounded()) - 1
        guard blocks.indices.contains(number) else { return false }
        let block = blocks[number]
        func clock(_ seconds: Double) -> Instant { origin + .seconds(seconds) }
        // The thread may have been stopped between the event and its mark of the block's end: the action had begun then.
        let done = min(block.done, started)
        let places = [clock(end), clock(decided), block.read, done, started]
        for (index, (from, to)) in zip(places, places.dropFirst()).enumerated() {
            stages[index].seconds.append((to - from).seconds)
        }
        stages[4].seconds.append((started - places[0]).seconds)
        return true
    }

    /// One row per stage: median, 95th percentile and maximum in ms.
    public var table: TextTable {
        var table = TextTable(["STAGE", "P50", "P95", "MAX", ""], names: [0, 4])
        for stage in stages {
            let numbers = [0.5, 0.95, 1].map { stage.milliseconds($0).map { decimal($0, 1) + " ms" } ?? "–" }
            table.add([stage.key] + numbers + [stage.name])
        }
        return table
    }

    /// One object per stage: median, 95th percentile and maximum in ms.
    public var json: JSON {
        .object(
            stages.map { stage in
                let members = zip(["p50", "p95", "max"], [0.5, 0.95, 1]).map { key, share in
                    JSON.Member(key, stage.milliseconds(share).map { .number($0, places: 3) } ?? .null)
                }
                return JSON.Member(stage.key, .object(members))
            }
        )
    }
}

/// A microphone that records the times of each block.
final class StampedSource: AudioSource {
    let microphone: Microphone
    private let stamps: Mutex<[StageTimes.Stamps]>

    /// - Parameter seconds: longest use; memory for that many blocks is reserved here.
    init(_ microphone: Microphone, seconds: Double) {
        self.microphone = microphone
        var room: [StageTimes.Stamps] = []
        room.reserveCapacity(Int(seconds / AudioFormat.hopSeconds) + 1)
        stamps = Mutex(room)
    }

    /// Times of all blocks read, in order.
    var blocks: [StageTimes.Stamps] { stamps.withLock { $0 } }

    var lost: LostAudio { microphone.lost }
    var hasEnded: Bool { microphone.isStopped }

    func next(until time: Instant, _ body: (Span<Float>, AudioBlock) -> Void) -> Bool {
        var stamp = StageTimes.Stamps(captured: Clock.now, read: Clock.now, done: Clock.now)
        let found = microphone.nextBlock(until: time) { window, block in
            stamp.captured = block.time
            stamp.read = Clock.now
            body(window, block)
            stamp.done = Clock.now
        }
        if found { stamps.withLock { $0.append(stamp) } }
        return found
    }
}
