import Audio
import Inference
import Spotting

/// One second of sound to one vector of posteriors: how `classify --clips` and `evaluate` look at a clip.
///
/// A stream passes the network many times over, a clip once, at a place where the end of its word may be cut close. So a
/// clip is heard four times, 20 ms earlier to 100 ms further on, as a ring whose end leads to its beginning, and the
/// posteriors are averaged: on the validation words that is half a point more than one look.
struct ClipScorer: ~Copyable {
    /// How many samples each look is further on.
    static let timeShifts = [-320, 320, 960, 1600]
    /// Seconds of a file in which its loudest one is looked for.
    private static let longestClip = 600.0

    private let vocabulary: Vocabulary
    private let model: Model
    private var session: Session
    private var personal: ClipPersonalScorer?

    init(_ vocabulary: Vocabulary) {
        self.vocabulary = vocabulary
        model = vocabulary.model
        session = Session(model, prior: .clip)
        personal = vocabulary.personal.isEmpty ? nil : ClipPersonalScorer(vocabulary)
    }

    /// Every label's posterior over a file's clip, in the vocabulary's order, and the file's length in seconds.
    mutating func score(file: String, mix: ChannelMix) throws(AudioError) -> (posteriors: [Float], seconds: Double) {
        let samples = try FileBlocks.readClip(path: file, atMost: Self.longestClip, mix: mix)
        let window = Self.loudestWindow(of: samples, length: model.windowSamples, hop: model.hopSamples)
        return (score(window), Double(samples.count) / Double(FileBlocks.sampleRate))
    }

    /// Every label's posterior over one window of 16000 samples.
    mutating func score(_ window: [Float]) -> [Float] {
        var mean = [Float](repeating: 0, count: model.labels.count)
        let share = 1 / Float(Self.timeShifts.count)
        for shift in Self.timeShifts {
            let first = shift < 0 ? window.count + shift : shift
            let shifted = Array(window.dropFirst(first) + window.prefix(first))
            session.scoreWhole(window: shifted.span)
            for (index, posterior) in session.posteriors.enumerated() { mean[index] += posterior * share }
        }
        guard let likely = personal?.score(window) else { return mean }
        return vocabulary.fused(mean, likely)
    }

    /// One window: a shorter clip in the middle of silence, of a longer one the hop-aligned second with the most energy.
    static func loudestWindow(of samples: [Float], length: Int, hop: Int) -> [Float] {
        guard samples.count > length else {
            let before = (length - samples.count) / 2
            var window = [Float](repeating: 0, count: length)
            window.replaceSubrange(before..<before + samples.count, with: samples)
            return window
        }
        var best = (start: 0, energy: -Float.infinity)
        for start in stride(from: 0, through: samples.count - length, by: hop) {
            var energy: Float = 0
            for sample in samples[start..<start + length] { energy += sample * sample }
            if energy > best.energy { best = (start, energy) }
        }
        return Array(samples[best.start..<best.start + length])
    }
}
