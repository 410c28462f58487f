import Kernels
import Phonemes

/// Looks at the newest seconds of a stream, several times a second while there is sound, for the words that nobody recorded.
///
/// A word counts in the looks in which it has just ended. Only `init` allocates.
final class TypedWordScorer: WordScorer {
    /// Hops from one look to the next while there is sound.
    private static let hopsBetween = 4
    /// Hops of quiet after sound, after which there is a look at once.
    private static let hopsOfQuiet = 2
    /// Frames before the end of the former look, from which on the end of a word counts: the network hears a sound better with what follows.
    private static let framesAgain = 15

    private struct Word {
        var alignments: [PhonemeAlignment]
        var score: Float = 0
        /// Frames from the word's end to the end of the look.
        var framesBefore = 0
    }

    private let typed: [TypedWord]
    private let hearing: SoundHearing?
    private var words: [Word]
    /// A ring.
    private let audio: UnsafeMutableBufferPointer<Float>
    private var place = 0
    private var level = SoundLevel()
    private var sinceLook = 0
    private var quiet = 0
    private var hasSound = false

    init(_ typed: [TypedWord], _ hearing: SoundHearing?) {
        (self.typed, self.hearing) = (typed, hearing)
        words = typed.map { word in
            Word(
                alignments: hearing.map { hearing in
                    word.pronunciations.map { PhonemeAlignment($0, blank: hearing.network.blank, .typed) }
                } ?? []
            )
        }
        audio = .allocate(capacity: SoundHearing.samples)
        audio.initialize(repeating: 0)
        hearing?.reserve()
    }

    deinit { audio.deallocate() }

    func add(hop: Span<Float>, embedding: [Float], to scores: inout WordScores) {
        for index in hop.indices {
            let sample = hop[index]
            audio[place] = sample.isFinite ? sample : 0
            place = place + 1 == audio.count ? 0 : place + 1
        }
        let isSound = level.add(hop)
        hasSound = hasSound || isSound
        quiet = isSound ? 0 : quiet + 1
        sinceLook += 1
        let isDue = hasSound && (sinceLook >= Self.hopsBetween || quiet == Self.hopsOfQuiet)
        if isDue {
            look(hops: sinceLook, hopSamples: hop.count)
            // What was said before the quiet is looked at once more, with what follows.
            hasSound = quiet < Self.hopsOfQuiet
            sinceLook = 0
            for word in words.indices {
                let before = Double(words[word].framesBefore * PhonemeNetwork.frameSamples) / 16000
                scores.add(step: word, typed[word].probability(words[word].score), before: before)
            }
        } else if sinceLook >= Self.hopsBetween {
            for word in words.indices { scores.add(step: word, 0, before: 0) }
        }
    }

    /// Scores the words that have ended since the former look.
    private func look(hops: Int, hopSamples: Int) {
        guard let hearing else { return }
        let newest = hops * hopSamples / PhonemeNetwork.frameSamples + Self.framesAgain
        for word in words.indices {
            (words[word].score, words[word].framesBefore) = (-.infinity, 0)
            for number in words[word].alignments.indices { words[word].alignments[number].reset() }
        }
        hearing.with { runner in
            for index in 0..<audio.count {
                let from = place + index
                runner.samples[index] = audio[from < audio.count ? from : from - audio.count]
            }
            runner.look { frame, frames, losses in
                for word in words.indices {
                    for number in words[word].alignments.indices {
                        let score = words[word].alignments[number].add(losses)
                        guard frame >= frames - newest, score > words[word].score else { continue }
                        (words[word].score, words[word].framesBefore) = (score, frames - 1 - frame)
                    }
                }
            }
        }
    }

    func flush() {
        audio.update(repeating: 0)
        (place, sinceLook, quiet, hasSound) = (0, 0, 0, false)
        level = SoundLevel()
    }
}

/// Tells sound from the background of a stream, hop by hop.
private struct SoundLevel {
    /// What stands out of the background by so much is sound, as a ratio of powers: 3 dB.
    private static let contrast: Float = 2
    /// Sound has at least this power: −80 dB of full scale.
    private static let least: Float = 1e-8
    /// The background falls to a quieter hop at once, and rises by so much a hop: 3 dB in 3 s.
    private static let rise: Float = 1.0233

    /// At first it is not known, and all is sound.
    private var background: Float = 0

    mutating func add(_ hop: Span<Float>) -> Bool {
        var power: Float = 0
        for index in hop.indices { power += hop[index] * hop[index] }
        power /= Float(max(hop.count, 1))
        guard power.isFinite else { return false }
        background = min(power, max(background, Self.least / Self.contrast) * Self.rise)
        return power > Self.least && power > background * Self.contrast
    }
}
