import KernelInterface
import Kernels
import TestSupport
import Testing

@testable import WakeWords

struct SpeechEmbeddingTests {
    private static func embedding(_ set: InstructionSet = .best) throws -> SpeechEmbedding {
        try SpeechEmbedding(bytes: Fixture.embeddingModel(), kernels: #require(set.kernels))
    }

    private func embeddings(_ stream: EmbeddingStream, _ samples: [Int16]) -> [[Float]] {
        var rows: [[Float]] = []
        for sample in samples where stream.add(sample) {
            rows.append((0..<SpeechEmbedding.count).map { stream.newest[$0] })
        }
        return rows
    }

    @Test(arguments: ["voice", "synthesised"], InstructionSet.supported)
    func `embeddings are those of whole windows by TFLite`(name: String, set: InstructionSet) throws {
        let expected = try Fixture.embeddings(name)
        let samples = try Fixture.audio(name)
        let stream = EmbeddingStream(try Self.embedding(set))
        let rows = embeddings(stream, samples)
        // The original waits for 184 samples more.
        #expect(expected.count >= 36 && (0...1).contains(rows.count - expected.count))
        var (largest, highest): (Float, Float) = (0, 0)
        for (row, other) in zip(rows, expected) {
            for (value, right) in zip(row, other) { largest = max(largest, abs(value - right)) }
            highest = max(highest, other.map(abs).max() ?? 0)
        }
        print("\(set) embeddings of \(name): worst error \(largest) of \(highest)")
        #expect(highest > 30 && largest < 0.02)
    }

    @Test func `it costs 5.6 million multiply-adds each 80 ms`() throws {
        #expect(try Self.embedding().multiplyAdds == 5_612_544)
    }

    @Test func `after a reset a stream answers as at its start`() throws {
        let stream = EmbeddingStream(try Self.embedding())
        let samples = Array(Fixture.synthesised().prefix(20000))
        let first = embeddings(stream, samples)
        #expect(embeddings(stream, samples) != first, "it remembers")
        stream.reset()
        #expect(embeddings(stream, samples) == first)
    }

    @Test func `frames of a piece of audio are those of a stream, at one level`() throws {
        let (embedding, count) = (try Self.embedding(), 7)
        let frames = SpeechFrames(embedding, count: count)
        let needed = SpeechFrames.samples(frames: count)
        let audio = Fixture.synthesised().suffix(needed).map { Float($0) / 32768 }
        #expect(audio.count == needed)
        func computed(_ audio: [Float]) -> [Float] {
            audio.withUnsafeBufferPointer { frames.compute($0) }
            return Array(frames.frames)
        }
        let found = computed(audio)
        let whole = embeddings(EmbeddingStream(embedding), SpeechFrames.scaled(audio))
        #expect(found == whole.suffix(count).flatMap(\.self))
        // 16 bits are fewer at other levels, so that some features differ a little.
        let quiet = computed(audio.map { $0 / 100 })
        #expect(zip(quiet, found).allSatisfy { abs($0 - $1) < 0.02 })
        #expect(computed(Array(audio.dropFirst())) == quiet, "too few samples change nothing")
        var silence = [Float](repeating: 0, count: needed)
        silence[100] = .nan
        #expect(computed(silence) == (0..<count).flatMap { _ in embedding.silence })
    }

    @Test func `silence has the embedding of silence`() throws {
        let embedding = try Self.embedding()
        let stream = EmbeddingStream(embedding)
        for row in embeddings(stream, [Int16](repeating: 0, count: 8000)) { #expect(row == embedding.silence) }
    }

    @Test func `a file that is cut, or of another network, is refused`() throws {
        let bytes = try Fixture.embeddingModel()
        for count in stride(from: 0, to: bytes.count, by: 40_013) {
            #expect(throws: WakeWordError.self) { try SpeechEmbedding(bytes: Array(bytes.prefix(count))) }
        }
        #expect(throws: WakeWordError.unsupported) { try SpeechEmbedding(bytes: Fixture.model("alexa")) }
    }
}
