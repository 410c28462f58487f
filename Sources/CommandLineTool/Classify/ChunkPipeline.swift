import Audio
private import Dispatch
import Inference
import Spotting
private import Synchronization

/// Scores the pieces of one file on several processors: while some pieces are scored, the next ones are read.
final class ChunkPipeline: Sendable {
    /// Hops of a piece, in whole stretches: what is scored twice, the second before, is one stretch of 34.
    private static let hops = 34 * ChunkScorer.hopsAtOnce

    /// Scorers that nobody uses now; they are kept from file to file.
    private let idle: Mutex<[Scorer]>
    private let model: Model
    private let embeds: Bool
    private let lead: Int

    /// A scorer serves one thread at a time, and waits its turn in `idle` between them.
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
    ///   - workers: processors to use, this thread's among them: it reads, and scores too while the others are busy.
    ///   - take: gets every piece with its answers, in order; false stops.
    /// - Throws: what reading throws, once all that was sound before it is taken.
    func run(
        _ stream: consuming FileStream,
        workers: Int,
        take: (ChunkReader.Part, ChunkScores) -> Bool
    ) throws {
        var reader = ChunkReader(stream, lead: lead, hops: ChunkPipeline.hops)
        var failure: (any Error)?
        var parts: [ChunkReader.Part] = []
        let scored = Mutex<[Int: ChunkScores]>([:])
        let busy = Atomic<Int>(0)
        let group = DispatchGroup()
        defer { group.wait() }
        var taken = 0
        func takeScored() -> Bool {
            while taken < parts.count, let answers = scored.withLock({ $0.removeValue(forKey: taken) }) {
                guard take(parts[taken], answers) else { return false }
                parts[taken] = .done
                taken += 1
            }
            return true
        }
        while !Interrupt.isRequested {
            do {
                guard let part = try reader.next() else { break }
                parts.append(part)
            } catch {
                failure = error
                break
            }
            let number = parts.count - 1
            let piece = parts[number].piece
            if busy.load(ordering: .acquiring) < workers - 1 {
                busy.wrappingAdd(1, ordering: .acquiringAndReleasing)
                DispatchQueue.global().async(group: group) {
                    let answers = self.score(piece)
                    scored.withLock { $0[number] = answers }
                    busy.wrappingSubtract(1, ordering: .acquiringAndReleasing)
                }
            } else {
                let answers = score(piece)
                scored.withLock { $0[number] = answers }
            }
            guard takeScored() else { return }
        }
        group.wait()
        guard takeScored() else { return }
        if let failure { throw failure }
    }

    private func score(_ piece: AudioChunk) -> ChunkScores {
        let kept = idle.withLock { $0.popLast() }
        guard let scorer = kept?.scorer ?? ChunkScorer(model, embeds: embeds) else { return ChunkScores() }
        defer { idle.withLock { $0.append(Scorer(scorer: scorer)) } }
        return scorer.score(piece)
    }
}
