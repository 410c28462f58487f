import Foundation
import Inference
import KernelInterface
import Kernels
import TestSupport
import Testing

/// Whole models in int8.
struct QuantisedModelTests {
    private let folder = Folders.models.appendingPathComponent("commands")

    /// A network with input ranges for all layers.
    private func medium(_ change: (inout TestNetwork) -> Void = { _ in }) throws -> Model {
        var network = TestNetwork.medium()
        network.voice("b1", 64)
        change(&network)
        var ranges: [String: Double] = [:]
        for layer in network.layers where layer["in"] != nil { ranges[layer["input"] as? String ?? ""] = 4 }
        network.json["ranges"] = ranges
        return try network.model(precision: .int8)
    }

    @Test(arguments: InstructionSet.supported.filter { $0 != .scalar })
    func `the shipped model in int8 gives nearly the logits of float`(set: InstructionSet) throws {
        let float = try Model(folder: folder.path, kernels: set, precision: .float)
        let int8 = try Model(folder: folder.path, kernels: set, precision: .int8)
        #expect(float.precision == .float && int8.precision == .int8)
        // Some layers have weights for the fast algorithm, too.
        #expect(int8.weightBytes * 100 < float.weightBytes * (int8.kernels.convolveFast == nil ? 27 : 36))
        let waves = try Reference(folder).waveforms
        var first = InferenceStream(float)
        var second = InferenceStream(int8)
        var (largest, sum): (Float, Float) = (0, 0)
        var agreed = 0
        var clear = 0
        for wave in waves {
            first.scoreWhole(window: wave.span)
            second.scoreWhole(window: wave.span)
            let error = largestDifference(first.logits, second.logits)
            largest = max(largest, error)
            sum += error
            #expect(largestDifference(first.posteriors, second.posteriors) < 0.15)
            let best = first.posteriors.indices.max { first.posteriors[$0] < first.posteriors[$1] }
            // Where two labels are nearly as likely, a small error decides.
            let likeliest = Array(first.posteriors.indices.map { first.posteriors[$0] }.sorted(by: >).prefix(2))
            guard likeliest[0] - likeliest[1] > 0.1 else { continue }
            clear += 1
            if best == second.posteriors.indices.max(by: { second.posteriors[$0] < second.posteriors[$1] }) {
                agreed += 1
            }
        }
        print(
            "\(set) int8, \(waves.count) inputs: largest error of a logit \(largest), mean of the largest per input "
                + "\(sum / Float(waves.count)); \(agreed) of \(clear) clear labels agree; \(int8.weightBytes) bytes of weights "
                + "for \(float.weightBytes)"
        )
        // With inputs of seven bits, the largest error of a window's logits, which are a few units apart, is 1/7 on average.
        #expect(largest < 0.7 && largest > 0)
        #expect(sum / Float(waves.count) < 0.2)
        #expect(clear > waves.count * 3 / 4 && agreed >= clear - 1)
    }

    @Test func `all instruction sets give the same logits`() throws {
        let waves = try Reference(folder).waveforms.prefix(3)
        var answers: [[Float]] = []
        for set in InstructionSet.supported {
            var session = InferenceStream(try Model(folder: folder.path, kernels: set, precision: .int8))
            answers.append(
                waves.flatMap { wave in
                    session.scoreWhole(window: wave.span)
                    return session.logits
                }
            )
        }
        // The front ends differ in the last bits of their floats, and some of these round to another integer.
        for answer in answers { #expect(largestDifference(answer, answers[0]) < 5e-3) }
    }

    @Test func `hops in int8 give the results of the window to the last bit`() throws {
        for model in try [medium(), Model(folder: folder.path, precision: .int8)] {
            var stream = InferenceStream(model, embeds: true)
            var whole = InferenceStream(model, embeds: true)
            var random = SplitMix(seed: 93)
            let audio = [Float](repeating: 0, count: 16_000) + random.floats(30 * 1600, -0.3...0.3)
            for hop in 1...30 {
                let window = audio.span.extracting(hop * 1600..<hop * 1600 + 16_000)
                stream.score(window: window)
                whole.scoreWhole(window: window)
                #expect(stream.logits == whole.logits)
                #expect(stream.activity == whole.activity)
                #expect(stream.embedding == whole.embedding)
            }
        }
    }

    @Test(arguments: [Float.nan, .infinity, -.infinity])
    func `samples that are not finite count as silence in int8 too`(invalid: Float) throws {
        let model = try medium()
        var random = SplitMix(seed: 94)
        var audio = random.floats(48_000, -0.1...0.1)
        audio[17_000] = invalid
        var session = InferenceStream(model)
        var whole = InferenceStream(model)
        var seen = 0
        for hop in 0..<20 {
            let window = audio.span.extracting(hop * 1600..<hop * 1600 + 16_000)
            if hop == 0 { session.scoreWhole(window: window) } else { session.score(window: window) }
            whole.scoreWhole(window: window)
            let (isFinite, isWholeFinite) = (session.isFinite, whole.isFinite)
            #expect(isFinite == isWholeFinite && session.posteriors == whole.posteriors)
            if !isFinite { seen += 1 }
            #expect(isFinite || session.posteriors == [0, 0, 0, 1])
        }
        let isFinite = session.isFinite
        #expect(isFinite)
        // In every window that holds the sample, except where it is only in the outermost columns, which no layer reads.
        #expect(seen >= 9 && seen <= 10)
    }

    @Test func `a stream of a batch that is not finite does not affect the others`() throws {
        let model = try medium()
        var batch = StreamBatch(model)
        let streams = (0..<3).map { _ in batch.makeStream() }
        var random = SplitMix(seed: 95)
        let clean = random.floats(16_000, -0.1...0.1)
        var invalid = clean
        invalid[15_000] = .nan
        let audio = [clean, invalid, clean]
        let newest = batch.newestSamples
        batch.score(streams) { stream in
            audio[stream].withUnsafeBufferPointer { UnsafeBufferPointer(rebasing: $0.suffix(newest)) }
        }
        var session = InferenceStream(model)
        session.score(window: clean.span)
        #expect(streams[0].posteriors == session.posteriors)
        #expect(streams[1].posteriors == [0, 0, 0, 1])
        #expect(streams[2].posteriors == session.posteriors)
    }

    @Test func `layers with odd or grouped inputs stay in float`() throws {
        var network = TestNetwork()
        network.conv("odd", "input", 40, 9, kernel: 3, relu: true)
        network.conv("grouped", "odd", 9, 12, kernel: 3, groups: 3, relu: true)
        network.mean("pool", "grouped", 75)
        network.dense("logits", "pool", 12, 5)
        let float = try network.model(precision: .float)
        network.json["ranges"] = ["odd": 10.0, "grouped": 10.0]
        let int8 = try network.model(precision: .int8)
        #expect(int8.weightBytes == float.weightBytes)
        var first = InferenceStream(float)
        var second = InferenceStream(int8)
        var random = SplitMix(seed: 96)
        let audio = random.floats(16_000)
        first.scoreWhole(window: audio.span)
        second.scoreWhole(window: audio.span)
        #expect(first.logits == second.logits)
    }

    @Test func `ranges that are impossible are errors that name them`() throws {
        let cases: [(Any, String)] = [
            (["nothing": 1.0], "no layer is called “nothing”"), (["stem": 0], "0.0 of “stem” is not from"),
            (["stem": -1], "-1.0 of “stem”"), (["stem": 1e30], "of “stem”"), ("wide", "“ranges” is not"),
            (["stem": "wide"], "ranges.stem"),
        ]
        for (ranges, message) in cases {
            var network = TestNetwork.medium()
            network.json["ranges"] = ranges
            let error = #expect(throws: ModelError.self) { try network.model() }
            #expect(error == .description && error?.message.contains(message) == true, "\(error?.message ?? "")")
        }
    }

    @Test func `a model without ranges cannot run in int8, and the error says so`() throws {
        let model = try TestNetwork.medium().model()
        #expect(model.precision == .float)
        let error = #expect(throws: ModelError.self) { try TestNetwork.medium().model(precision: .int8) }
        #expect(error == .kernels && error?.message.contains("model.json has no “ranges”") == true)
    }
}
