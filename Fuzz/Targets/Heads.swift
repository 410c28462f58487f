import Foundation

@testable import WakeWords

/// Heads of openWakeWord. A first byte below 128 chooses a head of the tests, whose bytes the rest changes, as in `fuzzWakeWords`; after any
/// other one comes a file, of TFLite or ONNX. A head that is accepted answers to three embeddings.
func fuzzHeads(_ bytes: [UInt8]) {
    guard let first = bytes.first else { return }
    var file = Array(bytes.dropFirst())
    if first < 128 {
        guard !heads.isEmpty else { return }
        file = heads[Int(first) % heads.count]
        for start in stride(from: 1, to: bytes.count - 2, by: 3) {
            let place = Int(bytes[start]) | Int(bytes[start + 1]) << 8
            file[place % file.count] = bytes[start + 2]
        }
    }
    guard let network = try? HeadNetwork(bytes: file) else { return }
    let stream = HeadStream(network, silence: [Float](repeating: 1, count: SpeechEmbedding.count))
    for step in 0..<3 {
        let embedding = (0..<SpeechEmbedding.count).map { Float(($0 * 7 + step) % 40 - 20) }
        let probability = stream.add(embedding)
        check((0...1).contains(probability), "a probability of \(probability)")
    }
}

/// The heads of the tests of the working copy, from which `Fuzz/run` starts.
private let heads = [
    "assorted.onnx", "assorted.tflite", "plain.onnx", "plain.tflite", "verified.onnx", "verified.tflite",
    "recurrent.onnx",
    "convolved.onnx", "integers.onnx",
]
.compactMap { FileManager.default.contents(atPath: "Tests/WakeWordsTests/Fixtures/\($0)").map(Array.init) }
