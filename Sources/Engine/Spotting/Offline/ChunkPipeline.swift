import Audio
private import Core
import Inference
private import Synchronization
private import System

/// Scores the chunks of one file on several processors: while some chunks are scored, the next ones are read.
final class ChunkPipeline: Sendable {
    /// Hops of a chunk: 34 passes. The second of audio before a chunk is scored again, which costs one more pass.
    private static let hops = 34 * ChunkScorer.hopsAtOnce

    /// Chunks of 2.6 MB that may wait for one before them.
    private static let mostChunks = 32

    /// Scorers not in use now; they are kept from file to file.
    private let idle: Mutex<[Scorer]>
    private let model: Model
    private let embeds: Bool
    private let lead: Int

    /// A scorer serves one thread at a time; between two calls it is in `idle`.
    private struct Scorer: @unchecked Sendable { let scorer: ChunkScorer }

    /// - Returns: nil where the model does not stream.
    init?(_ vocabulary: Vocabulary) {
        let embeds = vocabulary.embeds
        guard let first = ChunkScorer(vocabulary.model, embeds: embeds) else { return nil }
        model = vocabulary.model
        self.embeds = embeds
        lead = first.lead
        idle = Mutex([Scorer(scorer: first)])
    }

    /// Reads a file to its end.
    ///
    /// - Parameters:
    ///   - spare: threads to score on; the calling one reads, and scores too while there is none.
    ///   - take: gets every chunk with its scores, in order; returns false to stop.
    /// - Throws: what reading throws, after `take` got all chunks that could be read before the error.
    func run(
        _ stream: consuming FileStream,
        spare: SpareWorkers,
        take: (FileChunk, ChunkScores) -> Bool
    ) throws(AudioError) {
        var reader = ChunkReader(stream, lead: lead, hops: ChunkPipeline.hops)
        var failure: AudioError?
        // Those that were not taken yet, and the threads that score them. They are joined, not of a pool: after a fork the child would
        // wait for a pool whose threads it does not have.
        var chunks: [(chunk: FileChunk, thread: JoinableThread?)] = []
        let scored = Mutex<[Int: ChunkScores]>([:])
        func wait() {
            for (_, thread) in chunks { thread?.join() }
        }
        defer { wait() }
        var taken = 0
        func takeScored() -> Bool {
            while let (chunk, thread) = chunks.first, let scores = scored.withLock({ $0.removeValue(forKey: taken) }) {
                thread?.join()
                chunks.removeFirst()
                taken += 1
                guard take(chunk, scores) else { return false }
            }
            return true
        }
        while true {
            let chunk: FileChunk
            do throws(AudioError) {
                guard let next = try reader.next() else { break }
                chunk = next
            } catch {
                failure = error
                break
            }
            let (number, audio) = (taken + chunks.count, chunk.audio)
            let thread = thread(spare) {
                let scores = self.score(audio)
                scored.withLock { $0[number] = scores }
            }
            if thread == nil {
                let scores = score(audio)
                scored.withLock { $0[number] = scores }
            }
            chunks.append((chunk, thread))
            guard takeScored() else { return }
            // A chunk whose thread does not come to run must not let the others fill the memory.
            if chunks.count >= ChunkPipeline.mostChunks { wait() }
        }
        wait()
        guard takeScored() else { return }
        if let failure { throw failure }
    }

    /// Starts a thread where one is spare, for the time of `body`. Returns nil where none is, or the system gives none.
    private func thread(_ spare: SpareWorkers, _ body: @escaping @Sendable () -> Void) -> JoinableThread? {
        guard spare.take() else { return nil }
        let thread = JoinableThread(name: "beckon-chunk") {
            body()
            spare.give()
        }
        if thread == nil { spare.give() }
        return thread
    }

    private func score(_ chunk: AudioChunk) -> ChunkScores {
        let kept = idle.withLock { $0.popLast() }
        guard let scorer = kept?.scorer ?? ChunkScorer(model, embeds: embeds) else { return ChunkScores() }
        defer { idle.withLock { $0.append(Scorer(scorer: scorer)) } }
        return scorer.score(chunk)
    }
}

struct FileChunk: Sendable {
    let audio: AudioChunk
    /// Audio of the file up to the chunk's end, in seconds; the silence after the file's end does not count.
    let seconds: Double
    /// Length that the file's header promises, in seconds; 0 where it promises none.
    let expectedSeconds: Double
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
        // Most files are shorter than a chunk. A second of silence comes after the end.
        let expected = stream.expectedSeconds > 0 ? Int(min(stream.expectedSeconds, 1e6) * 10) + 11 : hops
        samples.reserveCapacity(lead + min(hops, expected) * AudioFormat.hopSamples)
        var block = [Float](repeating: 0, count: AudioFormat.hopSamples)
        var count = 0
        do throws(AudioError) {
            while count < hops {
                var span = block.mutableSpan
                guard try stream.next(into: &span) else { break }
                samples += block
                count += 1
            }
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
