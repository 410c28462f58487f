import Foundation
import Inference
import KernelInterface
import Kernels
import TestSupport
import Testing

/// The shipped model against the outputs of PyTorch that were stored at export.
struct ShippedModelTests {
    private let folder = Folders.models.appendingPathComponent("commands")

    @Test(arguments: InstructionSet.supported.filter { $0 != .scalar })
    func `the shipped model agrees with PyTorch on stored recordings`(set: InstructionSet) throws {
        let model = try Model(folder: folder.path, kernels: set, precision: .float)
        let reference = try Reference(folder)
        let logits = try reference.file.floats("logits")
        let count = reference.waveforms.count
        #expect(count == 40)
        var session = InferenceStream(model)
        var largest: Float = 0
        for (index, wave) in reference.waveforms.enumerated() {
            session.scoreWhole(window: wave.span)
            let error = largestDifference(session.logits, reference.row(index, of: logits, rows: count))
            #expect(error < 1e-4, "input \(index)")
            largest = max(largest, error)
        }
        print("\(set) shipped model, \(count) inputs: worst error \(largest) in a logit")
    }

    @Test func `the shipped model's features agree with PyTorch`() throws {
        let model = try Model(folder: folder.path)
        let reference = try Reference(folder)
        let features = try reference.file.floats("features")
        let rows = reference.file.shape(of: "features")?.first ?? 0
        #expect(rows > 0)
        var largest: Float = 0
        for index in 0..<rows {
            let wave = reference.waveforms[index]
            let columns = model.features(of: wave.span)
            largest = max(largest, largestDifference(columns, reference.row(index, of: features, rows: rows)))
        }
        print("shipped model, features of \(rows) inputs: worst error \(largest)")
        #expect(largest < 1e-4)
    }

    @Test func `the shipped model gives the same hop by hop as window by window`() throws {
        let model = try Model(folder: folder.path, precision: .float)
        let audio = try Reference(folder).waveforms.prefix(8).flatMap { $0 }
        var stream = InferenceStream(model, embeds: true)
        var whole = InferenceStream(model, embeds: true)
        stream.scoreWhole(window: audio.span.extracting(0..<model.windowSamples))
        var largest: Float = 0
        var first = model.hopSamples
        while first + model.windowSamples <= audio.count {
            let window = audio.span.extracting(first..<(first + model.windowSamples))
            stream.score(window: window)
            whole.scoreWhole(window: window)
            largest = max(largest, largestDifference(stream.logits, whole.logits))
            largest = max(largest, largestDifference(stream.embedding, whole.embedding))
            first += model.hopSamples
        }
        print("shipped model, \(first / model.hopSamples) hops: worst difference of streaming \(largest)")
        #expect(first / model.hopSamples > 31)
        #expect(largest < 1e-5)
    }
}
