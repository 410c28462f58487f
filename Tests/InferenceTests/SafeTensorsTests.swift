import Foundation
import Inference
import TestSupport
import Testing

/// Damaged weight files: each gives an error of one line, and never a trap.
struct SafeTensorsTests {
    private func sample() throws -> [UInt8] {
        var file = TensorFile()
        file.add("a", [2, 3], [1, 2, 3, 4, 5, 6])
        file.add("b", [4], half: [0.5, -2, 65504, 0x1p-24])
        file.add("c", [3], type: "U8", [0, 128, 255])
        file.add("d", [2], type: "I16", [0xFF, 0xFF, 0x00, 0x80])
        file.add("e", [2], type: "I8", [0xFF, 0x80])
        file.header["__metadata__"] = ["format": "pt"]
        return try file.bytes
    }

    private func error(_ bytes: [UInt8]) -> ModelError? {
        do {
            _ = try SafeTensors(bytes: bytes, file: "w.safetensors")
            return nil
        } catch {
            return error
        }
    }

    /// An error for a file with this header before 16 bytes of data; it must be one line that names the file.
    private func error(header: String) -> ModelError? {
        let error = error(TensorFile.join(header.utf8, [UInt8](repeating: 0, count: 16)))
        if let error {
            #expect(error.message.hasPrefix("w.safetensors: ") && !error.message.contains("\n"))
        }
        return error
    }

    @Test func `every element type is read`() throws {
        let file = try SafeTensors(bytes: sample(), file: "w.safetensors")
        #expect(file.names == ["a", "b", "c", "d", "e"])
        #expect(try file.floats("a", shape: [2, 3]) == [1, 2, 3, 4, 5, 6])
        #expect(try file.floats("b") == [0.5, -2, 65504, 0x1p-24])
        #expect(try file.floats("c") == [0, 128, 255])
        #expect(try file.floats("d") == [-1, -32768])
        #expect(try file.floats("e") == [-1, -128])
        #expect(try file.bytes("c", shape: [3]) == [0, 128, 255])
        #expect(throws: ModelError.tensor) { try file.bytes("e", shape: [2]) }
        #expect(file.shape(of: "a") == [2, 3] && file.shape(of: "x") == nil)
    }

    @Test func `steps count the rows of another tensor`() throws {
        let file = try SafeTensors(bytes: sample(), file: "w.safetensors")
        var steps = TensorFile()
        steps.add("steps", [4], type: "U8", [2, 0, 1, 3])
        steps.add("half", [1], [0.5])
        steps.add("back", [2], [3, -1])
        let known = try SafeTensors(bytes: steps.bytes, file: "w.safetensors")
        #expect(try known.steps("steps", count: 4, within: 6) == [1, 1, 2, 5])
        let wrong: [(SafeTensors, String, Int, Int)] = [
            (known, "steps", 4, 5), (known, "steps", 3, 6), (known, "half", 1, 6), (known, "back", 2, 6),
            (file, "gone", 1, 1),
        ]
        for (file, name, count, rows) in wrong {
            #expect(throws: ModelError.tensor) { try file.steps(name, count: count, within: rows) }
        }
    }

    @Test func `a file cut anywhere is refused`() throws {
        let bytes = try sample()
        for count in 0..<bytes.count {
            #expect(error(Array(bytes[..<count])) == .weights, "cut at \(count)")
        }
        #expect(error(bytes + [0]) == .weights)
    }

    @Test func `missing tensors, wrong shapes and values that are not finite are errors that name the tensor`() throws {
        var file = TensorFile()
        file.add("ok", [2], [1, 2])
        file.add("nan", [3], [1, .nan, 2])
        file.add("inf", [1], half: [.infinity])
        let weights = try SafeTensors(bytes: file.bytes, file: "w.safetensors")
        for (name, shape) in [("gone", nil), ("ok", [3]), ("ok", [1, 2]), ("nan", nil), ("inf", [1])] {
            do {
                _ = try weights.floats(name, shape: shape)
                Issue.record("\(name) was read")
            } catch {
                #expect(error == .tensor && error.message.contains("“\(name)”"))
            }
        }
    }

    @Test(arguments: [
        #"{"t":{"dtype":"F32","shape":[4],"data_offsets":[0,17]}}"#,
        #"{"t":{"dtype":"F32","shape":[4],"data_offsets":[-4,12]}}"#,
        #"{"t":{"dtype":"F32","shape":[4],"data_offsets":[16,0]}}"#,
        #"{"t":{"dtype":"F32","shape":[4],"data_offsets":[0]}}"#,
        #"{"t":{"dtype":"F32","shape":[4],"data_offsets":[]}}"#,
        #"{"t":{"dtype":"F32","shape":[4],"data_offsets":[0,16,16]}}"#,
        #"{"t":{"dtype":"F32","shape":[4],"data_offsets":[0,9223372036854775807]}}"#,
        #"{"t":{"dtype":"F32","shape":[3],"data_offsets":[0,16]}}"#,
        #"{"t":{"dtype":"F32","shape":[-2,-2],"data_offsets":[0,16]}}"#,
        #"{"t":{"dtype":"F32","shape":[4611686018427387904,4],"data_offsets":[0,16]}}"#,
        #"{"t":{"dtype":"F32","shape":[4611686018427387905],"data_offsets":[0,4]}}"#,
        #"{"t":{"dtype":"F32","shape":[4,1,1,1,1,1,1,1,1],"data_offsets":[0,16]}}"#,
        #"{"t":{"dtype":"F64","shape":[2],"data_offsets":[0,16]}}"#,
        #"{"t":{"dtype":"","shape":[2],"data_offsets":[0,16]}}"#,
        #"{"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#,
        #"{"t":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}"#,
        #"{"t":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},"u":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}"#,
        #"{"t":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},"t":{"dtype":"F32","shape":[2],"data_offsets":[8,16]}}"#,
    ])
    func `impossible tensors are refused`(header: String) {
        let error = error(header: header)
        #expect(error == .weights)
        let names = error?.message.contains("“t”") == true || error?.message.contains("“u”") == true
        #expect(names || error?.message.contains("belong to no tensor") == true)
    }

    @Test(arguments: [
        "", " ", "{", "[]", "null", "7", "\"t\"", #"{"t":7}"#, #"{"t":null}"#, #"{"t":{}}"#, #"{"t":[]}"#,
        #"{"t":{"dtype":7,"shape":[4],"data_offsets":[0,16]}}"#,
        #"{"t":{"dtype":"F32","shape":4,"data_offsets":[0,16]}}"#,
        #"{"t":{"dtype":"F32","shape":[1e99],"data_offsets":[0,16]}}"#,
        #"{"t":{"dtype":"F32","shape":[0.5],"data_offsets":[0,16]}}"#,
        #"{"t":{"dtype":"F32","shape":[99999999999999999999],"data_offsets":[0,16]}}"#,
        #"{"t":{"dtype":"F32","shape":[4],"data_offsets":["0","16"]}}"#,
        #"{"t":{"dtype":"F32","data_offsets":[0,16]}}"#,
        #"{"\n\u0000\u001b":{"dtype":"F32","shape":[5],"data_offsets":[0,16]}}"#,
        #"{"__metadata__":7}"#, "{}",
    ])
    func `headers of another form are refused`(header: String) {
        #expect(error(header: header) == .weights)
    }

    @Test func `deep, foreign and enormous headers are refused`() {
        #expect(error(header: String(repeating: "[", count: 100_000)) == .weights)
        #expect(error(header: String(repeating: #"{"a":"#, count: 100_000)) == .weights)
        #expect(error(header: String(repeating: " ", count: 2 << 20)) == .weights)
        #expect(error([0xFF, 0xFE, 0xFD] + [UInt8](repeating: 0, count: 40)) == .weights)
        #expect(error(TensorFile.join([0x7B, 0x22, 0xC3, 0x28, 0x22, 0x3A, 0x37, 0x7D], [])) == .weights)
        for length in [UInt64.max, UInt64.max - 7, 1 << 63, 1 << 32, 1 << 20, 9] {
            let bytes = withUnsafeBytes(of: length.littleEndian) { Array($0) } + [0x7B, 0x7D]
            #expect(error(bytes) == .weights)
        }
    }

    @Test func `hundreds of random changes never trap`() throws {
        let bytes = try sample()
        let headerEnd = Int(bytes[0]) + 256 * Int(bytes[1]) + 8
        var random = SplitMix(seed: 61)
        for round in 0..<1500 {
            var changed = bytes
            for _ in 0...random.int(0...4) {
                let index = random.int(round % 4 == 0 ? 0...7 : 8...(headerEnd - 1))
                changed[index] = round % 3 == 0 ? UInt8(random.int(0...255)) : bytes[random.int(8...(headerEnd - 1))]
            }
            guard let file = try? SafeTensors(bytes: changed, file: "w.safetensors") else { continue }
            for name in file.names { _ = try? file.floats(name) }
        }
    }
}
