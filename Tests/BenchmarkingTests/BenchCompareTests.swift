import TestSupport
import Testing

@testable import Benchmarking

/// Two reports of `beckon bench` side by side.
struct BenchCompareTests {
    @Test func `each stage has one row, and a ratio where both reports have it`() throws {
        let folder = try TestFolder()
        let first = try folder.write(
            "first.json",
            bytes: benchReport([("gate", nil, 2), ("hop", "baseline", 80), ("hop", "avx2", 40), ("window", "avx2", 9)])
        )
        let second = try folder.write(
            "second.json",
            bytes: benchReport([("hop", "avx2", 30), ("gate", nil, 3), ("hop", "avx512", 20)])
        )
        let rows = try BenchCompare(first, second).rows
        #expect(rows.prefix(5).map(\.name) == ["gate", "hop", "hop", "window", "hop"])
        #expect(rows.prefix(5).map(\.ratio) == [1.5, nil, 0.75, nil, nil])
        #expect(rows[1].first == 80 && rows[1].second == nil && rows[4].first == nil && rows[4].second == 20)
        #expect(rows.suffix(3).map(\.ratio) == [1, 1, 1])
    }

    @Test func `a file that is not a report throws`() throws {
        let folder = try TestFolder()
        let good = try folder.write("good.json", bytes: benchReport([("hop", "avx2", 40)]))
        #expect(throws: BenchmarkError.self) { try BenchCompare(good, folder.file("none.json")) }
    }
}
