import Audio
import Core
import IntegrationInterface
import Network
import Spotting
import System

/// The newest seconds of a client's audio, from which its words are cut when a moment has passed after them. Used by one thread.
final class ClientRecorder {
    /// A word whose end is not there yet.
    private struct Pending {
        let detection: Detection
        let word: String
        let date: Timestamp
        let range: Range<Int>
    }

    /// Seconds before and after a word: enough to hear it, and to teach it; the same as those of the service's own recent words.
    private static let (before, after) = (1.0, 0.3)
    /// Samples of the newest seconds: a word of two, and what is around it; a near miss is told two seconds after its end.
    private static let capacity = AudioFormat.sampleRate * 6
    private static let bytes = capacity * MemoryLayout<Int16>.stride

    private let words: ClientWords
    private let client: String
    /// Empty until audio begins: who sends none costs nothing.
    private var ring: [Int16] = []
    /// Samples of the stream so far, and where the audio in the ring begins.
    private var end = 0
    private var begin = 0
    private var pending: [Pending] = []

    init(_ words: ClientWords, _ peer: Peer) { (self.words, client) = (words, words.name(of: peer)) }

    deinit {
        finish()
        if !ring.isEmpty { words.giveBack(Self.bytes) }
    }

    /// Begins with audio at this sample of the stream; what was before is no more.
    ///
    /// - Returns: false if there is no room for it, so that none of this audio's words is kept.
    func begin(at sample: Int) -> Bool {
        finish()
        (begin, end) = (sample, sample)
        guard ring.isEmpty else { return true }
        guard words.reserve(Self.bytes) else { return false }
        ring = [Int16](repeating: 0, count: Self.capacity)
        return true
    }

    /// Adds the stream's next samples.
    func add(_ samples: some Sequence<Float>) {
        guard !ring.isEmpty else { return }
        for sample in samples {
            ring[end % Self.capacity] = Int16(sample: sample)
            end += 1
        }
        while let first = pending.first, first.range.upperBound <= end { keep(pending.removeFirst(), first.range) }
    }

    /// Keeps a word, or near miss, as soon as its end is there.
    func receive(_ detection: Detection, _ word: String) {
        guard !ring.isEmpty else { return }
        func sample(_ seconds: Double) -> Int { Int(seconds * Double(AudioFormat.sampleRate)) }
        let from = max(begin, sample(detection.start - Self.before))
        let until = max(from, sample(detection.end + Self.after))
        let age = Double(end) / Double(AudioFormat.sampleRate) - detection.start
        let date = Timestamp.now.adding(seconds: -age)
        pending.append(Pending(detection: detection, word: word, date: date, range: from..<until))
        add(EmptyCollection())
    }

    /// Keeps what waits, as far as its audio has come: no more comes.
    private func finish() {
        for one in pending { keep(one, one.range.clamped(to: begin..<max(begin, end))) }
        pending = []
    }

    private func keep(_ one: Pending, _ range: Range<Int>) {
        let range = max(range.lowerBound, end - Self.capacity)..<max(range.upperBound, end - Self.capacity)
        let samples = range.map { ring[$0 % Self.capacity] }
        guard !samples.isEmpty else { return }
        words.add { number in
            ClientWord(
                number: number,
                client: client,
                word: one.word,
                isNear: one.detection.kind == .nearMiss,
                confidence: one.detection.confidence,
                threshold: one.detection.threshold,
                date: one.date,
                samples: samples
            )
        }
    }
}
