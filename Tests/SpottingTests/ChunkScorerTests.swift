import Core
import Testing

@testable import Spotting

struct ChunkScorerTests {
    @Test(arguments: [5, 24, 1000]) func `chunks of a recording score as its hops do`(hops: Int) throws {
        let model = try RecordedVoice.model(confirms: false)
        let vocabulary = Vocabulary(model, taught: [try RecordedVoice.taught("links", by: "Front_Left", model)])
        let audio = try ["Side_Left", "Side_Right", "Rear_Left"].flatMap(RecordedVoice.voice)
        var detector = Detector(DetectorSettings(vocabulary))
        var expected: [Detection] = []
        for end in stride(from: 16_000, through: audio.count, by: 1600) {
            detector.process(window: audio.span.extracting(end - 16_000..<end)) { expected.append($0) }
        }
        #expect(expected.map { $0.name(labels: vocabulary.labels, phrases: []) } == ["links", "right", "links"])

        let scorer = try #require(ChunkScorer(model, embeds: true))
        var chunkHops = ChunkHops(vocabulary)
        var handler = PosteriorHandler(DetectorSettings(vocabulary))
        var found: [Detection] = []
        // The detector above processed its first hop at the end of the first second.
        let first = 16_000 - 1600
        for start in stride(from: first, to: audio.count - 1599, by: hops * 1600) {
            let count = min(hops, (audio.count - start) / 1600)
            let before = max(0, scorer.lead - start)
            let samples =
                [Float](repeating: 0, count: before) + audio[start - scorer.lead + before..<start + count * 1600]
            let chunk = AudioChunk(samples: samples, hops: count, isFirst: start == first)
            let isWhole = chunkHops.forEach(of: chunk, scorer.score(chunk)) { scores, activity, window in
                handler.process(scores, activity: activity) { found.append($0) }
                return window.count == 16_000
            }
            #expect(isWhole)
        }
        #expect(found == expected)
    }
}
