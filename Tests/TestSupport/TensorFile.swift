import Foundation

/// Builds a safetensors file.
public struct TensorFile {
    public var header: [String: Any] = [:]
    public var data: [UInt8] = []

    public init() {}

    public mutating func add(_ name: String, _ shape: [Int], type: String, _ bytes: [UInt8]) {
        header[name] = ["dtype": type, "shape": shape, "data_offsets": [data.count, data.count + bytes.count]]
        data += bytes
    }

    public mutating func add(_ name: String, _ shape: [Int], _ floats: [Float]) {
        add(name, shape, type: "F32", floats.withUnsafeBytes { Array($0) })
    }

    public mutating func add(_ name: String, _ shape: [Int], half floats: [Float]) {
        add(name, shape, type: "F16", floats.map { Float16($0) }.withUnsafeBytes { Array($0) })
    }

    public var bytes: [UInt8] {
        get throws { TensorFile.join(try JSONSerialization.data(withJSONObject: header, options: .sortedKeys), data) }
    }

    public static func join(_ header: some Collection<UInt8>, _ data: [UInt8]) -> [UInt8] {
        let length = UInt64(header.count)
        return (0..<8).map { UInt8(truncatingIfNeeded: length >> (8 * UInt64($0))) } + Array(header) + data
    }
}
