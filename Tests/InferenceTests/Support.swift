import Foundation
import Inference

enum Folders {
    static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    static let fixtures = tests.appendingPathComponent("Fixtures")
    static let models = tests.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Models")
}

/// The reference inputs and outputs of a fixture or a model.
struct Reference {
    let file: SafeTensors
    let waveforms: [[Float]]

    init(_ folder: URL) throws {
        file = try SafeTensors(path: folder.appendingPathComponent("reference.safetensors").path)
        waveforms = file.shape(of: "waveforms") == nil ? [] : try Reference.waveforms(file)
    }

    /// Row `index` of a tensor with `rows` rows.
    func row(_ index: Int, of floats: [Float], rows: Int) -> [Float] {
        let width = floats.count / rows
        return Array(floats[(index * width)..<((index + 1) * width)])
    }

    static func waveforms(_ file: SafeTensors) throws -> [[Float]] {
        let bytes = try file.floats("waveforms")
        let gains = try file.floats("gains")
        let samples = bytes.count / gains.count
        return gains.enumerated().map { index, gain in
            bytes[(index * samples)..<((index + 1) * samples)].map { ($0 - 128) / 128 * gain }
        }
    }
}

extension InferenceStream {
    mutating func lookAhead(window: Span<Float>) {
        lookAhead { samples in
            for index in samples.indices { samples[index] = window[index] }
        }
    }
}
