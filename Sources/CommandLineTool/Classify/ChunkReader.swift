import Audio
import Spotting

/// A file in pieces of many hops, each with the audio before it.
struct ChunkReader: ~Copyable {
    /// A piece, and the seconds of the file up to its end.
    struct Part: Sendable {
        let piece: AudioChunk
        let seconds: Double

        /// In the place of one that nobody needs any more.
        static let done = Part(piece: AudioChunk(samples: [], hops: 0, isFirst: false), seconds: 0)
    }

    private var stream: FileStream
    private let lead: Int
    private let hops: Int
    /// The newest samples of the last piece, to stand before the next.
    private var tail: [Float]
    private var isFirst = true
    private var failure: (any Error)?

    init(_ stream: consuming FileStream, lead: Int, hops: Int) {
        self.stream = stream
        self.lead = lead
        self.hops = hops
        tail = [Float](repeating: 0, count: lead)
    }

    /// The next piece; nil at the end.
    ///
    /// - Throws: what reading the file throws, after all that was sound before it.
    mutating func next() throws -> Part? {
        if let failure { throw failure }
        var samples = tail
        samples.reserveCapacity(lead + hops * BlockRing.blockLength)
        var count = 0
        do {
            while count < hops,
                try stream.next({ window in
                    window.extracting(last: BlockRing.blockLength).withUnsafeBufferPointer {
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
        return Part(piece: AudioChunk(samples: samples, hops: count, isFirst: isFirst), seconds: stream.seconds)
    }
}
