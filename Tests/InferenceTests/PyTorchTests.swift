import Foundation
import Inference
import KernelInterface
import TestSupport
import Testing

/// Fixtures with reference outputs of PyTorch; `make -C Training fixtures` writes them.
struct PyTorchTests {
    @Test func `a network with every kind of layer agrees with PyTorch`() throws {
        let folder = Folders.fixtures.appendingPathComponent("streaming")
        let model = try Model(folder: folder.path)
        let reference = try Reference(folder)
        let logits = try reference.file.floats("logits")
        let features = try reference.file.floats("features", shape: [3, 79, 40])
        let activity = try reference.file.floats("activity", shape: [11, 33])
        let count = reference.waveforms.count
        #expect(count == 11)
        var session = InferenceStream(model)
        var largest: Float = 0
        var activityError: Float = 0
        for (index, wave) in reference.waveforms.enumerated() {
            let expected = reference.row(index, of: logits, rows: count)
            session.scoreWhole(window: wave.span)
            largest = max(largest, largestDifference(session.logits, expected))
            // The same second hop by hop, after silence.
            session.reset()
            let padded = [Float](repeating: 0, count: 16000) + wave
            var steps: [Float] = []
            for hop in 1...10 {
                session.score(window: padded.span.extracting((hop * 1600)..<(hop * 1600 + 16000)))
                steps += session.activity
            }
            largest = max(largest, largestDifference(session.logits, expected))
            // Four columns per hop, of which the last 33 depend on this second only.
            #expect(steps.count == 40)
            let columns = reference.row(index, of: activity, rows: count)
            activityError = max(activityError, largestDifference(Array(steps.suffix(33)), columns))
            session.scoreWhole(window: wave.span)
            activityError = max(activityError, largestDifference(session.activity, Array(columns.suffix(4))))
        }
        var featureError: Float = 0
        for index in 0..<3 {
            let wave = reference.waveforms[index]
            let columns = model.features(of: wave.span)
            featureError = max(featureError, largestDifference(columns, reference.row(index, of: features, rows: 3)))
        }
        print(
            "every kind of layer: worst error \(largest) in a logit, \(featureError) in a feature, "
                + "\(activityError) in the activity"
        )
        #expect(largest < 1e-4)
        #expect(activityError < 1e-4)
        #expect(featureError < 1e-4)
    }

    @Test func `the tutorial's network on the waveform agrees with PyTorch`() throws {
        let folder = Folders.fixtures.appendingPathComponent("tutorial")
        let json = [UInt8](try Data(contentsOf: folder.appendingPathComponent("model.json")))
        let model = try Model(description: json, weights: tutorialWeights(json).bytes)
        #expect(model.network.parameters == 4_819_908)
        #expect(model.network.tensors[6].columns == 248)

        let waves = try Reference(Folders.fixtures.appendingPathComponent("streaming")).waveforms
        let reference = try Reference(folder)
        let logits = try reference.file.floats("logits", shape: [waves.count, 12])
        var session = InferenceStream(model)
        var largest: Float = 0
        for (index, wave) in waves.enumerated() {
            session.score(window: wave.span)
            let expected = reference.row(index, of: logits, rows: waves.count)
            largest = max(largest, largestDifference(session.logits, expected))
        }
        print("the tutorial's network: worst error \(largest) in a logit")
        #expect(largest < 1e-4)
    }

    /// The weights of every layer in order, as `hashed_weights` in `Training/export/fixtures.py` defines them, in half precision.
    private func tutorialWeights(_ json: [UInt8]) throws -> TensorFile {
        var file = TensorFile()
        var index: UInt32 = 0
        for layer in try ModelDescription(json: json, file: "tutorial").layers {
            guard case .convolution(let numbers, _) = layer.operation else { continue }
            let (shape, outputs) = (numbers.storedShape, numbers.outputChannels)
            file.add(layer.name + ".weight", shape, half: scattered(index, shape))
            file.add(layer.name + ".bias", [outputs], half: scattered(index + 1, [outputs]))
            index += 2
        }
        return file
    }

    private func scattered(_ index: UInt32, _ shape: [Int]) -> [Float] {
        let inputs = Double(shape.dropFirst().reduce(1, *))
        let step = shape.count == 1 ? 0x1p-15 : exp2(log2((2 / inputs).squareRoot() / 1182).rounded())
        return (0..<UInt32(shape.reduce(1, *))).map { position in
            var x = position &+ index << 24
            for _ in 0..<2 { x = (x ^ (x >> 16)) &* 0x45D_9F3B }
            x ^= x >> 16
            return (Float(x >> 20) - 2048) * Float(step)
        }
    }
}
