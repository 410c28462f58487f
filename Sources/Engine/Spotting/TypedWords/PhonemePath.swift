public import Phonemes

/// What the phoneme network heard in some audio: of each frame and symbol its log-probability less that of the likeliest symbol, in nats.
public struct HeardSounds: Sendable {
    public let frames: Int
    public let symbols: Int
    /// The place of the blank among the symbols.
    public let blank: Int
    /// `[frames × symbols]`
    private let losses: [Float]

    /// - Returns: nil for losses that do not fit.
    public init?(losses: [Float], symbols: Int, blank: Int) {
        guard (0..<symbols).contains(blank), losses.count.isMultiple(of: symbols) else { return nil }
        (self.losses, self.symbols, self.blank, frames) = (losses, symbols, blank, losses.count / symbols)
    }

    /// What a symbol loses at a frame.
    public func loss(_ frame: Int, _ symbol: Int) -> Float { losses[frame * symbols + symbol] }

    /// The likeliest symbol of a frame.
    public func likeliest(_ frame: Int) -> Int { (0..<symbols).max { loss(frame, $0) < loss(frame, $1) } ?? blank }

    /// The symbols that are likeliest, each run once, without blanks, and the frames of each run.
    public var runs: [(symbol: Int, frames: Range<Int>)] {
        var runs: [(symbol: Int, frames: Range<Int>)] = []
        for frame in 0..<frames {
            let symbol = likeliest(frame)
            if let last = runs.last, last.symbol == symbol {
                runs[runs.count - 1].frames = last.frames.lowerBound..<frame + 1
            } else {
                runs.append((symbol, frame..<frame + 1))
            }
        }
        return runs.filter { $0.symbol != blank }
    }
}

/// The best path of a word through what was heard: where each of its sounds is, and what it loses there.
public struct PhonemePath: Sendable, Equatable {
    /// A sound, and the blanks after it.
    public struct Step: Sendable, Equatable {
        /// Its place among the symbols.
        public let sound: Int
        public fileprivate(set) var frames: Range<Int>
        /// What it loses in all these frames, in nats, at most 0.
        public fileprivate(set) var loss: Float
    }

    public let steps: [Step]
    /// As ``PhonemeAlignment`` has it, in nats a sound.
    public var score: Float { steps.reduce(0) { $0 + $1.loss } / Float(max(steps.count, 1)) }

    /// - Parameter costs: whether it begins within talk does not count.
    /// - Returns: nil where there are fewer frames than sounds, or a sound is no symbol.
    public init?(_ pronunciation: Pronunciation, in heard: HeardSounds, _ costs: PathCosts = PathCosts()) {
        let sounds = pronunciation.sounds
        guard !sounds.isEmpty, heard.frames >= sounds.count, sounds.allSatisfy((0..<heard.symbols).contains) else {
            return nil
        }
        // Sounds, and a blank between two of them.
        let symbols = sounds.flatMap { [$0, heard.blank] }.dropLast()
        let states = symbols.count
        var scores = [Float](repeating: -.infinity, count: states)
        // By how many states the path advanced at each frame; more than 2 where it begins.
        var advances = [Int](repeating: 0, count: heard.frames * states)
        var (best, end) = (-Float.infinity, 0)
        for frame in 0..<heard.frames {
            for state in (0..<states).reversed() {
                var (highest, advance) = (scores[state] - costs.frame, 0)
                if state == 0, highest < 0 { (highest, advance) = (0, 3) }
                // A blank may be left out.
                for back in 1...2 where state >= back && (back == 1 || state.isMultiple(of: 2)) {
                    let before = scores[state - back] - costs.frame
                    if before > highest { (highest, advance) = (before, back) }
                }
                advances[frame * states + state] = advance
                scores[state] = highest + heard.loss(frame, symbols[state])
            }
            if scores[states - 1] > best { (best, end) = (scores[states - 1], frame) }
        }
        guard best > -.infinity else { return nil }
        var steps = sounds.map { Step(sound: $0, frames: 0..<0, loss: 0) }
        var (frame, state) = (end, states - 1)
        while frame >= 0 {
            let step = state / 2
            if steps[step].frames.isEmpty { steps[step].frames = frame..<frame + 1 }
            steps[step].frames = frame..<steps[step].frames.upperBound
            steps[step].loss += heard.loss(frame, symbols[state])
            let advance = advances[frame * states + state]
            if advance > 2 { break }
            steps[step].loss -= costs.frame
            state -= advance
            frame -= 1
        }
        self.steps = steps
    }
}

extension SoundHearing {
    /// What is heard in ``seconds`` of samples at 16 kHz; silence follows where there are fewer. Allocates.
    public func heard(_ samples: ArraySlice<Float>) -> HeardSounds? {
        let symbols = network.symbols.count
        var losses: [Float] = []
        with { runner in
            for (index, place) in runner.samples.indices.enumerated() {
                let sample = index < samples.count ? samples[samples.startIndex + index] : 0
                runner.samples[place] = sample.isFinite ? sample : 0
            }
            runner.look { _, _, row in losses += UnsafeBufferPointer(start: row, count: symbols) }
        }
        return HeardSounds(losses: losses, symbols: symbols, blank: network.blank)
    }
}
