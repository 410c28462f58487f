import Foundation
import Inference
import TestSupport
import Testing

@testable import Enrollment

/// Tables of vectors whose rows are predicted and entropy-coded.
struct VectorTableTests {
    private static let (dimensions, reach, total) = (20, 3, 4096)

    /// A table, written as Models/FORMAT.md says, and its vectors.
    private struct Coded {
        var file = TensorFile()
        var vectors: [[Float]] = []

        init(rows: Int, random: inout SplitMix) throws {
            let (dimensions, symbols) = (VectorTableTests.dimensions, 2 * reach + 1)
            // 0 is as frequent as all others; the last component has one symbol alone.
            var frequencies: [Int] = []
            for _ in 1..<dimensions { frequencies += [341, 341, 342, 2048, 342, 341, 341] }
            frequencies += [0, 0, 0, total, 0, 0, 0]
            let middle = random.floats(dimensions)
            let (one, two) = (random.floats(dimensions, 0...0.9), random.floats(dimensions, -0.3...0))
            // Each component adds to a dimension of its own, in another order.
            let order = (0..<dimensions).shuffled(using: &random)
            var last = [Float](repeating: 0, count: dimensions)
            var (before, largest) = (last, [Float](repeating: 0.001, count: dimensions))
            var numbers: [[Int]] = []
            for _ in 0..<rows {
                var row = (0..<dimensions).map { _ in random.int(-3...3) * random.int(0...1) }
                row[dimensions - 1] = 0
                var vector = middle
                for index in 0..<dimensions {
                    let expected: Float = one[index] * last[index] + two[index] * before[index]
                    before[index] = last[index]
                    last[index] = expected + 0.25 * Float(row[index])
                    largest[index] = max(largest[index], abs(last[index]))
                    vector[order[index]] += last[index]
                }
                numbers.append(row)
                vectors.append(vector)
            }
            let code = VectorTableTests.encoded(numbers, frequencies)
            file.add("v", [code.count], type: "U8", code)
            file.add("v.rows", [1], [Float(rows)])
            file.add("v.middle", [dimensions], middle)
            var basis = [Float](repeating: 0, count: dimensions * dimensions)
            for (component, dimension) in order.enumerated() { basis[component * dimensions + dimension] = 1 }
            file.add("v.basis", [dimensions, dimensions], basis)
            file.add("v.predictor", [2, dimensions], one + two)
            file.add("v.step", [1], [0.25])
            file.add("v.units", [dimensions], largest.map { $0 / 127 })
            file.add("v.frequencies", [dimensions, symbols], frequencies.map(Float.init))
        }

        var tensors: SafeTensors { get throws { try SafeTensors(bytes: file.bytes, file: "f") } }
    }

    /// Asymmetric numeral systems, a state for each component; the last row first.
    private static func encoded(_ rows: [[Int]], _ frequencies: [Int]) -> [UInt8] {
        var states = [UInt64](repeating: 1 << 16, count: dimensions)
        var words: [UInt16] = []
        for row in rows.reversed() {
            for component in (0..<dimensions).reversed() {
                let own = frequencies[component * (2 * reach + 1)..<(component + 1) * (2 * reach + 1)]
                let symbol = own.startIndex + row[component] + reach
                let (frequency, start) = (UInt64(own[symbol]), UInt64(own[..<symbol].reduce(0, +)))
                if states[component] >= frequency << 20 {
                    words.append(UInt16(truncatingIfNeeded: states[component]))
                    states[component] >>= 16
                }
                states[component] = (states[component] / frequency) << 12 + states[component] % frequency + start
            }
        }
        let first = states.flatMap { state in (0..<4).map { UInt8(truncatingIfNeeded: state >> (8 * UInt64($0))) } }
        return first + words.reversed().flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    }

    @Test(arguments: [0, 1, 2, 500]) func `coded vectors are those that were coded, as unit vectors`(rows: Int) throws {
        var random = SplitMix(seed: 5)
        let coded = try Coded(rows: rows, random: &random)
        let table = try VectorTable(coded.tensors, "v", dimensions: Self.dimensions)
        #expect(table.count == rows)
        let other = unit(random.floats(Self.dimensions))
        let cosines = table.cosines(with: other, 0..<rows)
        for (row, vector) in coded.vectors.enumerated() {
            let expected = unit(vector)
            #expect(zip(table[row], expected).allSatisfy { abs($0 - $1) < 0.01 }, "row \(row)")
            #expect(abs(dot(table[row], table[row]) - 1) < 1e-4)
            #expect(abs(cosines[row] - dot(table[row], other)) < 1e-4)
        }
    }

    @Test func `a damaged code is refused`() throws {
        var random = SplitMix(seed: 6)
        let whole = try Coded(rows: 300, random: &random)
        let changes: [(String, (inout TensorFile) -> Void)] = [
            ("more rows", { $0.add("v.rows", [1], [301]) }), ("fewer rows", { $0.add("v.rows", [1], [299]) }),
            ("no whole number of rows", { $0.add("v.rows", [1], [0.5]) }),
            ("rows without end", { $0.add("v.rows", [1], [1e9]) }),
            ("a unit of 0", { $0.add("v.units", [20], [Float](repeating: 0, count: 20)) }),
            (
                "frequencies that are too many",
                { $0.add("v.frequencies", [20, 7], [Float](repeating: 600, count: 140)) }
            ),
            ("frequencies that are too few", { $0.add("v.frequencies", [20, 7], [Float](repeating: 1, count: 140)) }),
            ("a frequency below 0", { $0.add("v.frequencies", [20, 7], [Float](repeating: -1, count: 140)) }),
            (
                "a frequency that no integer is",
                { $0.add("v.frequencies", [20, 7], [Float](repeating: 1e30, count: 140)) }
            ),
            ("half a frequency", { $0.add("v.frequencies", [20, 7], [Float](repeating: 0.5, count: 140)) }),
            ("no symbols", { $0.add("v.frequencies", [20, 0], []) }),
            ("a short code", { $0.add("v", [7], type: "U8", [1, 2, 3, 4, 5, 6, 7]) }),
        ]
        for (name, change) in changes {
            // The tensor that replaces another one comes after it, whose bytes belong to no tensor then: rebuild the file.
            var file = TensorFile()
            var changed = TensorFile()
            change(&changed)
            let data = whole.file.data
            for (key, value) in whole.file.header {
                let entry = value as? [String: Any] ?? [:]
                let bounds = entry["data_offsets"] as? [Int] ?? []
                let shape = entry["shape"] as? [Int] ?? []
                if changed.header[key] != nil { continue }
                file.add(key, shape, type: entry["dtype"] as? String ?? "", Array(data[bounds[0]..<bounds[1]]))
            }
            change(&file)
            let tensors = try SafeTensors(bytes: file.bytes, file: "f")
            #expect(throws: ModelError.tensor, "\(name)") { try VectorTable(tensors, "v", dimensions: Self.dimensions) }
        }
        #expect(throws: ModelError.tensor) { try VectorTable(whole.tensors, "v", dimensions: 21) }
    }
}
