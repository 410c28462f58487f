import Inference
import KernelInterface
import Kernels
import TestSupport
import Testing

/// Layers with few channels, whose adjacent columns are computed as one.
struct FoldedLayerTests {
    /// A convolution of the waveform with three output channels, of which five columns are one, then all its columns as logits.
    private func model(columns: Int, _ set: InstructionSet) throws -> (model: Model, weights: [Float], bias: [Float]) {
        var network = TestNetwork(frontEnd: ["kind": "waveform", "scale": 1], streaming: false)
        network.conv("few", "input", 1, 3, kernel: 4, stride: 2, relu: true)
        network.layers.append(["op": "flatten", "name": "logits", "input": "few"])
        network.json["windowSamples"] = 2 * columns + 2
        network.json["hopSamples"] = 2
        let others = [String](repeating: "_unknown_", count: 3 * columns - 3)
        network.json["outputLabels"] = ["yes", "no", "_silence_"] + others
        var random = SplitMix(seed: 1)
        let tensors = try SafeTensors(bytes: network.tensors(&random).bytes, file: "test")
        let model = try network.model(seed: 1, kernels: set)
        return (model, try tensors.floats("few.weight"), try tensors.floats("few.bias"))
    }

    /// From fewer columns than are folded to several times as many, and every remainder.
    @Test(arguments: InstructionSet.supported)
    func `every column of a folded layer is right`(set: InstructionSet) throws {
        var random = SplitMix(seed: 97)
        for columns in 1...23 {
            let (model, weights, bias) = try model(columns: columns, set)
            let audio = random.floats(model.windowSamples)
            var session = InferenceStream(model)
            session.scoreWhole(window: audio.span)
            let expected = (0..<3 * columns).map { place in
                let (column, channel) = (place / 3, place % 3)
                return max(0, (0..<4).reduce(bias[channel]) { $0 + audio[2 * column + $1] * weights[4 * channel + $1] })
            }
            #expect(largestDifference(session.logits, expected) < 1e-5, "\(columns) columns")
        }
    }

    @Test(arguments: InstructionSet.supported, [Float.nan, .infinity])
    func `a sample that is not finite is seen through a folded layer`(set: InstructionSet, invalid: Float) throws {
        let model = try model(columns: 13, set).model
        var random = SplitMix(seed: 98)
        for place in 0..<model.windowSamples {
            var audio = random.floats(model.windowSamples)
            audio[place] = invalid
            var session = InferenceStream(model)
            session.scoreWhole(window: audio.span)
            let (isFinite, posteriors) = (session.isFinite, session.posteriors)
            #expect(!isFinite && posteriors == [0, 0, 0, 1], "sample \(place)")
        }
    }

    /// Folded, its weights would take eight times the memory.
    @Test func `a layer with many weights is not folded`() throws {
        func weightBytes(kernel: Int, stride: Int) throws -> Int {
            var network = TestNetwork(frontEnd: ["kind": "waveform", "scale": 1], streaming: false)
            network.conv("few", "input", 1, 1, kernel: kernel, stride: stride)
            network.mean("pool", "few", 16)
            network.dense("logits", "pool", 1, 5)
            network.json["windowSamples"] = kernel + 15 * stride
            network.json["hopSamples"] = 1_600
            return try network.model(precision: .float).weightBytes
        }
        let dense = 4 * 2 * 16
        #expect(try weightBytes(kernel: 1_000, stride: 500) == 4 * 16 * (1 + 1_000 + 15 * 500) + dense)
        // The folded kernel would have 331,500 taps.
        #expect(try weightBytes(kernel: 39_000, stride: 19_500) == 4 * 16 * (1 + 39_000) + dense)
    }
}
