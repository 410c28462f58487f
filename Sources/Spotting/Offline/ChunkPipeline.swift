import Audio
private import Core
private import Dispatch
import Inference
private import Synchronization

/// Scores the chunks of one file on several processors: while some chunks are scored, the next ones are read.
final class ChunkPipeline: Sendable {
    /// Hops of a chunk: 34 passes. The second of audio before a chunk is scored again, which costs one more pass.
    private static let hops = 34 * ChunkScorer.hopsAtOnce

    /// Scorers not in use now; they are kept from file to file.
    private let idle: Mutex<[Scorer]>
    private let model: Model
    private let embeds: Bool
    private let lead: Int

    /// A scorer serves one thread at a time; between two calls it is in `idle`.
    private struct Scorer: @unchecked Sendable { let scorer: ChunkScorer }

    /// - Returns: nil where the model does not stream.
    init?(_ vocabulary: Vocabulary) {
        let embeds = !vocabulary.personal.isEmpty
        guard let first = ChunkScorer(vocabulary.model, embeds: embeds) else { return nil }
        model = vocabulary.model
        self.embeds = embeds
        lead = first.lead
        idle = Mutex([Scorer(scorer: first)])
    }

    /// Reads a file to its end.
    ///
    /// - Parameters:
    ///   - workers: threads to use, the calling one among them: it reads, and scores too while the others are busy.
    ///   - take: gets every chunk with its scores, in order; returns false to stop.
    /// - Throws: what reading throws, after `take` got all chunks that could be read before the error.
    func run(
        _ stream: consuming FileStream,
        workers: Int,
        take: (FileChunk, ChunkScores) -> Bool
    ) throws(AudioError) {
        var reader = ChunkReader(stream, lead: lead, hops: ChunkPipeline.hops)
        var failure: AudioError?
        var chunks: [FileChunk] = []
        let scored = Mutex<[Int: ChunkScores]>([:])
        let busy = Atomic<Int>(0)
        let group = DispatchGroup()
        defer { group.wait() }
        var taken = 0
        func takeScored() -> Bool {
            while taken < chunks.count, let scores = scored.withLock({ $0.removeValue(forKey: taken) }) {
                guard take(chunks[taken], scores) else { return false }
                chunks[taken] = .released
                taken += 1
            }
            return true
        }
        while true {
            do throws(AudioError) {
                guard let chunk = try reader.next() else { break }
                chunks.append(chunk)
            } catch {
                failure = error
                break
            }
            let number = chunks.count - 1
            let audio = chunks[number].audio
            if busy.load(ordering: .acquiring) < workers - 1 {
                busy.wrappingAdd(1, ordering: .acquiringAndReleasing)
                DispatchQueue.global().async(group: group) {
                    let scores = self.score(audio)
                    scored.withLock { $0[number] = scores }
                    busy.wrappingSubtract(1, ordering: .acquiringAndReleasing)
                }
            } else {
                let scores = score(audio)
                scored.withLock { $0[number] = scores }
            }
            guard takeScored() else { return }
        }
        group.wait()
        guard takeScored() else { return }
        if let failure { throw failure }
    }

    private func score(_ chunk: AudioChunk) -> ChunkScores {
        let kept = idle.withLock { $0.popLast() }
        guard let scorer = kept?.scorer ?? ChunkScorer(model, embeds: embeds) else { return ChunkScores() }
        defer { idle.withLock { $0.append(Scorer(scorer: scorer)) } }
        return scorer.score(chunk)
    }
}

/// A chunk of a file.
struct FileChunk: Sendable {
    let audio: AudioChunk
    /// Audio of the file up to the chunk's end, in seconds; the silence after the file's end does not count.
    let seconds: Double
    /// Length that the file's header promises, in seconds; 0 where it promises none.
    let expectedSeconds: Double

    /// Takes the place of a chunk that is no longer needed, so that its memory is freed.
    static let released = FileChunk(
        audio: AudioChunk(samples: [], hops: 0, isFirst: false),
        seconds: 0,
        expectedSeconds: 0
    )
}

/// Cuts a file into chunks of many hops, each with the audio before it.
private struct ChunkReader: ~Copyable {
    private var stream: FileStream
    /// Samples before a chunk's hops.
    private let lead: Int
    private let hops: Int
    /// The last `lead` samples of the previous chunk.
    private var tail: [Float]
    private var isFirst = true
    private var failure: AudioError?

    init(_ stream: consuming FileStream, lead: Int, hops: Int) {
        self.stream = stream
        self.lead = lead
        self.hops = hops
        tail = [Float](repeating: 0, count: lead)
    }

    /// The next chunk; nil at the end.
    ///
    /// - Throws: what reading the file throws, after all chunks that could be read before the error.
    mutating func next() throws(AudioError) -> FileChunk? {
        if let failure { throw failure }
        var samples = tail
        samples.reserveCapacity(lead + hops * AudioFormat.hopSamples)
        var count = 0
        do throws(AudioError) {
            while count < hops,
                try stream.next({ window in
                    window.extracting(last: AudioFormat.hopSamples).withUnsafeBufferPointer {
                        samples.append(contentsOf: $0)
                    }
                })
            { count += 1 }
        } catch {
            failure = error
        }
        guard count > 0 else {
            if let failure { throw failure }
            return nil
        }
        tail = Array(samples.suffix(lead))
        defer { isFirst = false }
        return FileChunk(
            audio: AudioChunk(samples: samples, hops: count, isFirst: isFirst),
            seconds: stream.seconds,
            expectedSeconds: stream.expectedSeconds
        )
    }
}
