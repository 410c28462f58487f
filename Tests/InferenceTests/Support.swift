import Foundation
import Inference

enum Folders {
    static let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    static let fixtures = tests.appendingPathComponent("Fixtures")
    static let models = tests.deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("Models")
}

/// Builds a safetensors file.
struct TensorFile {
    var header: [String: Any] = [:]
    var data: [UInt8] = []

    mutating func add(_ name: String, _ shape: [Int], type: String, _ bytes: [UInt8]) {
        header[name] = ["dtype": type, "shape": shape, "data_offsets": [data.count, data.count + bytes.count]]
        data += bytes
    }

    mutating func add(_ name: String, _ shape: [Int], _ floats: [Float]) {
        add(name, shape, type: "F32", floats.withUnsafeBytes { Array($0) })
    }

    mutating func add(_ name: String, _ shape: [Int], half floats: [Float]) {
        add(name, shape, type: "F16", floats.map { Float16($0) }.withUnsafeBytes { Array($0) })
    }

    var bytes: [UInt8] {
        get throws { TensorFile.join(try JSONSerialization.data(withJSONObject: header, options: .sortedKeys), data) }
    }

    static func join(_ header: some Collection<UInt8>, _ data: [UInt8]) -> [UInt8] {
        let length = UInt64(header.count)
        return (0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * UInt64($0))) } + Array(header) + data
    }
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

    private static func waveforms(_ file: SafeTensors) throws -> [[Float]] {
        let bytes = try file.floats("waveforms")
        let gains = try file.floats("gains")
        let samples = bytes.count / gains.count
        return gains.enumerated().map { index, gain in
            bytes[(index * samples)..<((index + 1) * samples)].map { ($0 - 128) / 128 * gain }
        }
    }
}
