import Audio
import Core
import Events
import IntegrationInterface
import Network
import Spotting
import System

/// The newest seconds of a client's audio, from which its words are cut when a moment has passed after them, and what those get of it who look
/// at the client. Used by one thread.
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

    /// Nil where no words are kept.
    private let words: ClientWords?
    private let clients: WakeClients
    private let peer: Peer
    /// What it says it is called.
    private var said: String?
    /// Nil before its first audio.
    private(set) var client: WakeClient?
    /// The samples of the hop that is not complete, for those who look.
    private var hop: [Float] = []
    /// Empty until audio begins: who sends none costs nothing.
    private var ring: [Int16] = []
    /// Samples of the stream so far, and where the audio in the ring begins.
    private var end = 0
    private var begin = 0
    private var pending: [Pending] = []

    init(_ words: ClientWords?, _ clients: WakeClients, _ peer: Peer) {
        (self.words, self.clients, self.peer) = (words, clients, peer)
    }

    deinit {
        finish()
        client?.leave()
        if !ring.isEmpty { words?.giveBack(Self.bytes) }
    }

    /// The client says what it is called; before its audio begins, or between its audio.
    func name(_ name: String) {
        guard name != said else { return }
        said = name
        guard let before = client else { return }
        finish()
        before.leave()
        client = clients.join(peer, said: said)
    }

    /// The event of a detection, with the client's name and a number; nil for what is told to nobody.
    func event(_ detection: Detection, _ word: String) -> DetectionEvent? {
        guard detection.kind != .nearMiss, let client else { return nil }
        return DetectionEvent(
            detection,
            sequence: clients.count(),
            name: word,
            date: Timestamp.now,
            device: peer.description,
            client: client.name
        )
    }

    /// Begins with audio at this sample of the stream; what was before is no more.
    ///
    /// - Returns: false if there is no room for it, so that none of this audio's words is kept.
    func begin(at sample: Int) -> Bool {
        finish()
        (begin, end, hop) = (sample, sample, [])
        if client == nil { client = clients.join(peer, said: said) }
        guard ring.isEmpty, let words else { return true }
        guard words.reserve(Self.bytes) else { return false }
        ring = [Int16](repeating: 0, count: Self.capacity)
        return true
    }

    /// Adds the stream's next samples.
    func add(_ samples: some Sequence<Float>) {
        if client?.isWatched == true { hop += samples }
        guard !ring.isEmpty else { return }
        for sample in samples {
            ring[end % Self.capacity] = Int16(sample: sample)
            end += 1
        }
        while let first = pending.first, first.range.upperBound <= end { keep(pending.removeFirst(), first.range) }
    }

    /// A hop was scored: those who look get it.
    ///
    /// - Parameter scores: the newest of all labels.
    func show(_ scores: @autoclosure () -> [Float]) {
        guard let client, client.isWatched else { return }
        // One who looks since a moment ago has not all of the hop.
        let missing = AudioFormat.hopSamples - hop.count
        client.add(
            missing > 0 ? [Float](repeating: 0, count: missing) + hop : Array(hop.suffix(AudioFormat.hopSamples)),
            scores()
        )
        hop.removeAll(keepingCapacity: true)
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
        guard !samples.isEmpty, let words, let client else { return }
        words.add { number in
            ClientWord(
                number: number,
                client: client.name,
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
