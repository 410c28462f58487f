import Foundation

@testable import WakeWords

/// Wake-word models and manifests. An input that begins as a TFLite file, or as a JSON object, is one; any other changes bytes of a real
/// model, which it names by its first byte: three bytes of place and one of content, each time. A network that is accepted runs four steps.
func fuzzWakeWords(_ bytes: [UInt8]) {
    if bytes.first == UInt8(ascii: "{") {
        guard let manifest = try? WakeWordManifest(json: bytes) else { return }
        check((0...1).contains(manifest.cutoff) && manifest.windowSteps > 0, "a manifest out of range")
        check(!manifest.model.contains("/"), "a model elsewhere")
        return
    }
    var file = bytes
    if bytes.count < 8 || Array(bytes[4..<8]) != Array("TFL3".utf8) {
        guard let first = bytes.first, !models.isEmpty else { return }
        // Mostly the smallest one, which has the most kinds of operators: the shipped ones take ten times as long.
        let model = models[first < 240 ? 0 : Int(first) % models.count]
        file = model.bytes
        for start in stride(from: 1, to: bytes.count - 3, by: 4) {
            let place = Int(bytes[start]) | Int(bytes[start + 1]) << 8 | Int(bytes[start + 2]) << 16
            file[model.places[place % model.places.count]] = bytes[start + 3]
        }
    }
    guard let network = try? StreamingNetwork(bytes: file) else { return }
    let stream = NetworkStream(network)
    for step in 0..<4 {
        for hop in 0..<network.hopsPerStep {
            stream.put((0..<40).map { UInt16($0 * 16 + step) }, hop: hop)
        }
        let probability = stream.run()
        check((0...1).contains(probability), "a probability of \(probability)")
    }
    stream.reset()
}

/// A model, and the places of its bytes that are not weights: what is not in constants of 64 bytes or more.
private struct SeedModel {
    let bytes: [UInt8]
    let places: [Int]

    init?(_ path: String) {
        guard let data = FileManager.default.contents(atPath: path), let file = try? TFLiteFile(Array(data)) else {
            return nil
        }
        bytes = Array(data)
        var isWeight = [Bool](repeating: false, count: bytes.count)
        for tensor in file.graphs.flatMap(\.tensors) where tensor.bytes.count >= 64 {
            for place in tensor.bytes { isWeight[place] = true }
        }
        places = bytes.indices.filter { !isWeight[$0] }
    }
}

/// The models of the working copy, from which `Fuzz/run` starts.
private let models = [
    "Tests/WakeWordsTests/Fixtures/elements.tflite", "Models/wake-words/alexa.tflite",
    "Models/wake-words/okay_nabu.tflite",
].compactMap(SeedModel.init)
