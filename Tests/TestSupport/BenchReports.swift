private import Foundation

/// A report as `beckon bench --json` prints it.
///
/// - Parameters:
///   - medians: median of each stage, in microseconds.
///   - startUp: median of the start-up time, in milliseconds.
public func benchReport(
    _ medians: [(stage: String, kernels: String?, time: Double)],
    processor: String = "Test CPU",
    startUp: Double = 20
) throws -> [UInt8] {
    func timing(_ time: Double) -> [String: Double] {
        ["min": time / 2, "p50": time, "p99": 2 * time, "max": 3 * time]
    }
    let stages = medians.map { median in
        var row: [String: Any] = [
            "stage": median.stage, "count": 10, "spread": 1.01, "microseconds": timing(median.time),
        ]
        if let kernels = median.kernels { row["kernels"] = kernels }
        return row
    }
    let object: [String: Any] = [
        "benchmark": "stages", "format": 1, "program": "0.1.0", "seconds": 1, "rounds": 4,
        "machine": ["processor": processor, "processors": 2, "clock": "CLOCK", "clockNanoseconds": 20],
        "model": [
            "name": "m", "identity": "0123", "precision": "float", "multiplyAddsPerHop": 1,
            "multiplyAddsPerWindow": 2, "hopSeconds": 0.1,
            "weightBytes": 3, "stateBytes": 4,
        ],
        "stages": stages, "notes": ["the room is warm"],
        "startUp": [
            "milliseconds": timing(startUp), "kernels": "avx2", "residentBytes": 20_000_000, "streamBytes": 500_000,
        ],
    ]
    return Array(try JSONSerialization.data(withJSONObject: object))
}
