private import Core
import Evaluation

/// How long each part of the way took, from the end of a word in the audio to the start of its action.
struct StageTimes {
    /// When the blocks of a stream were where, in nanoseconds on the monotonic clock.
    struct Stamps {
        /// The last sample's capture, by the device's account.
        var captured: Int64
        /// The detector's thread has it.
        var read: Int64
        /// It is heard, and what came of it handed over.
        var heard: Int64
    }

    /// A stage, or the way as a whole; seconds, one for each word.
    struct Stage {
        let key: String
        let name: String
        var seconds: [Double] = []

        /// Milliseconds that a share of the words do not exceed.
        func milliseconds(_ share: Double) -> Double? { percentile(seconds, share).map { $0 * 1000 } }
    }

    private(set) var stages = [
        Stage(key: "gate", name: "word's end to decision, in the audio"),
        Stage(key: "capture", name: "last sample captured to block read"),
        Stage(key: "detector", name: "block read to event handed over"),
        Stage(key: "action", name: "event to the action's first instruction"),
        Stage(key: "total", name: "word's end to the action's start"),
    ]

    /// Blocks between two hops, in seconds.
    static let hop = 0.1

    private let blocks: [Stamps]
    /// When the audio began, on the monotonic clock.
    private let origin: Int64

    /// - Parameter blocks: all of them, from the first.
    init(blocks: [Stamps]) {
        self.blocks = blocks
        // The device counts in samples: where its account of a block's time jitters, the middle one is right.
        let origins = blocks.enumerated().map { $1.captured - Int64(Double($0 + 1) * Self.hop * 1e9) }.sorted()
        origin = origins.isEmpty ? 0 : origins[origins.count / 2]
    }

    /// Takes in a word.
    ///
    /// - Parameters:
    ///   - end: of the word in the audio, in seconds.
    ///   - decided: when it was decided, in the same way: the end of a block.
    ///   - started: when its action was, on the monotonic clock in nanoseconds.
    /// - Returns: whether the block of the decision is known.
    mutating func add(end: Double, decided: Double, started: Int64) -> Bool {
        let number = Int((decided / Self.hop).rounded()) - 1
        guard blocks.indices.contains(number) else { return false }
        let block = blocks[number]
        func clock(_ seconds: Double) -> Int64 { origin + Int64((seconds * 1e9).rounded()) }
        let places = [clock(end), clock(decided), block.read, block.heard, started]
        for (index, (from, to)) in zip(places, places.dropFirst()).enumerated() {
            stages[index].seconds.append(Double(to - from) / 1e9)
        }
        stages[4].seconds.append(Double(started - places[0]) / 1e9)
        return true
    }

    /// For people.
    var table: String {
        var columns = Columns(["STAGE", "P50", "P95", "MAX", ""], names: [0, 4])
        for stage in stages {
            let numbers = [0.5, 0.95, 1].map { stage.milliseconds($0).map { decimal($0, 1) + " ms" } ?? "–" }
            columns.add([stage.key] + numbers + [stage.name])
        }
        return columns.text
    }

    /// Members of a JSON object, milliseconds.
    var json: String {
        let members = stages.map { stage in
            let values = zip(["p50", "p95", "max"], [0.5, 0.95, 1]).map { key, share in
                "\"\(key)\": \(stage.milliseconds(share).map { decimal($0, 3) } ?? "null")"
            }
            return "\"\(stage.key)\": {\(values.joined(separator: ", "))}"
        }
        return "{\(members.joined(separator: ", "))}"
    }
}
