import Inference
private import Spotting
private import WakeWords

/// The speech embedding of the talk of a ``NegativeSet``, frame by frame.
struct SpeechTalk: Sendable {
    private let frames: VectorTable
    /// For each row of the talk the newest frame.
    private let newest: [Int]

    /// - Parameter hops: rows of the talk.
    /// - Returns: nil where a model has none.
    /// - Throws: a `ModelError` if it is damaged.
    init?(_ file: SafeTensors, hops: Int) throws(ModelError) {
        guard file.shape(of: "speech.talk") != nil else { return nil }
        frames = try VectorTable(file, "speech.talk", dimensions: SpeechEmbedding.count, middle: "speech.middle")
        newest = try file.steps("speech.steps", count: hops, within: frames.count)
    }

    /// Takes as ``distance(of:at:)`` compares them.
    func compared(_ takes: [[[Float]]]) -> [[VectorTable.Direction]] { takes.map { $0.map(frames.direction) } }

    /// The mean distance of takes to the frames that end at a row of the talk, as a detector computes it.
    func distance(of takes: [[VectorTable.Direction]], at row: Int) -> Float {
        guard newest.indices.contains(row), !takes.isEmpty else { return 1 }
        let last = newest[row]
        let first = max(0, last + 1 - FrameWarping.steps)
        guard first <= last else { return 1 }
        let sum = takes.reduce(0) { sum, take in
            sum + FrameWarping.distance(of: take, ends: SpeechTakes.ends) { frames.cosines(with: $0, first..<last + 1) }
        }
        return sum / Float(takes.count)
    }
}
