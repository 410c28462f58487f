public import Phonemes

/// How well the sounds of a word, in their order, explain what the network heard: the best path, which may begin at any frame.
///
/// At each frame a path is at a sound or at the blank after it. It loses what the symbol there is less likely than the likeliest one, in nats; its
/// score is the loss divided by the number of sounds, at most 0. One that begins within talk may lose something more. It allocates in `init` alone.
public struct PhonemeAlignment: Sendable {
    private let blank: Int
    private let sounds: [Int]
    private let withinTalk: Float
    /// Frames since the last one at which a sound was likelier than the blank.
    private var quiet = 0
    private var atSound: [Float]
    private var atBlank: [Float]

    /// Frames without a sound, 0.3 s, after which a word is not within talk.
    private static let pause = 15

    /// - Parameters:
    ///   - blank: the place of the blank among the symbols.
    ///   - withinTalk: what a path loses that does not begin after a pause, in nats.
    public init(_ pronunciation: Pronunciation, blank: Int, withinTalk: Float = 0) {
        (self.blank, self.withinTalk) = (blank, withinTalk)
        sounds = pronunciation.sounds
        atSound = [Float](repeating: -.infinity, count: sounds.count)
        atBlank = atSound
    }

    /// Begins again.
    public mutating func reset() {
        for index in atSound.indices { (atSound[index], atBlank[index]) = (-.infinity, -.infinity) }
        quiet = 0
    }

    /// Adds a frame.
    ///
    /// - Parameter losses: of each symbol, its log-probability less that of the likeliest, `[symbols]`.
    /// - Returns: the score of the best path that ends here.
    public mutating func add(_ losses: UnsafePointer<Float>) -> Float {
        let blankLoss = losses[blank]
        // The best path before a sound, as it was in the frame before.
        var before = quiet >= Self.pause ? 0 : -withinTalk
        quiet = blankLoss < 0 ? 0 : quiet + 1
        for index in sounds.indices {
            let (sound, blank) = (atSound[index], atBlank[index])
            atSound[index] = max(sound, before) + losses[sounds[index]]
            before = max(sound, blank)
            atBlank[index] = before + blankLoss
        }
        return (atSound.last ?? -.infinity) / Float(max(atSound.count, 1))
    }
}

extension PhonemeAlignment {
    /// What another symbol loses in a frame without doubt, in nats.
    private static let otherLoss: Float = 6

    /// The score of a word where another one is said without doubt: each sound for a frame, and a blank after it.
    ///
    /// - Parameter symbols: how many there are.
    public static func score(_ word: Pronunciation, said: Pronunciation, blank: Int, symbols: Int) -> Float {
        var alignment = PhonemeAlignment(word, blank: blank)
        var best = -Float.infinity
        for symbol in said.sounds.flatMap({ [$0, blank] }) where (0..<symbols).contains(symbol) {
            var losses = [Float](repeating: -otherLoss, count: symbols)
            losses[symbol] = 0
            best = max(best, alignment.add(losses))
        }
        return best
    }
}
