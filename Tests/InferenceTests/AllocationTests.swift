import Inference
import TestSupport
import Testing

struct AllocationTests {
    private final class Stream {
        var session: InferenceStream
        let audio: [Float]

        init(_ model: Model) {
            session = InferenceStream(model)
            var random = SplitMix(seed: 81)
            audio = random.floats(32000)
        }

        func score() {
            let audio = audio
            for hop in 0..<4 { session.score(window: audio.span.extracting((hop * 1600)..<(hop * 1600 + 16000))) }
            session.scoreWhole(window: audio.span.extracting(0..<16000))
            session.reset()
        }
    }

    @Test(arguments: Precision.allCases) func `scoring and resetting allocate nothing`(precision: Precision) throws {
        var network = TestNetwork.medium()
        network.voice("b1", 64)
        network.json["ranges"] = ["input": 4, "stem": 4, "b1.first": 4, "b1": 4, "b2": 4, "pool": 4]
        let stream = Stream(try network.model(precision: precision))
        #expect(HeapTrial { stream.score() }.isQuiet(seconds: 30))
    }

    @Test func `a single small allocation would be noticed`() throws {
        let stream = Stream(try TestNetwork.medium().model())
        let trial = HeapTrial {
            stream.score()
            UnsafeMutableRawPointer.allocate(byteCount: 100, alignment: 8).deallocate()
        }
        #expect(!trial.isQuiet(seconds: 0.2))
    }
}
