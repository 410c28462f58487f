import Testing

@testable import CommandLineTool

struct ClipScorerTests {
    @Test func `the loudest second of a longer clip, the middle of a shorter one`() {
        var samples = [Float](repeating: 0, count: 40_000)
        for index in 20_000..<24_000 { samples[index] = 1 }
        let window = ClipScorer.loudestWindow(of: samples, length: 16_000, hop: 1_600)
        #expect(window.count == 16_000 && window.reduce(0, +) == 4_000)
        let short = ClipScorer.loudestWindow(of: [1, 2], length: 6, hop: 2)
        #expect(short == [0, 0, 1, 2, 0, 0])
        #expect(ClipScorer.loudestWindow(of: [], length: 3, hop: 1) == [0, 0, 0])
    }
}
