import Benchmarking
import Foundation
import KernelInterface
import Kernels
import TestSupport
import Testing

/// `beckon bench` without options: the engine's stages.
struct BenchStagesTests {
    private struct Report: Decodable {
        struct Stage: Decodable {
            var stage: String
            var kernels: String?
            var count: Int
            var microseconds: Timing
            var spread: Double
            var multiplyAddsPerSecond, shareOfPeak, realTimeFactor: Double?
        }
        struct ModelFacts: Decodable { var weightBytes, stateBytes, multiplyAddsPerHop, multiplyAddsPerWindow: Int }
        struct Machine: Decodable {
            var processor, clock: String
            var processors: Int
        }
        struct Start: Decodable {
            var milliseconds: Timing
            var residentBytes, streamBytes: Int
        }
        var benchmark: String
        var machine: Machine
        var model: ModelFacts
        var stages: [Stage]
        var startUp: Start
        var streams: Int?
    }

    @Test func `the shipped model is measured in all its stages`() throws {
        let folder = try TestFolder()
        let arguments = ["bench", "--seconds", "0.1", "--streams", "2", "--kernels", "baseline", "--json"]
        let program = try Program.beckon(arguments)
        #expect(program.error == "" && program.status == 0)
        let report = try JSONDecoder().decode(Report.self, from: Data(program.output.utf8))
        #expect(report.benchmark == "stages" && report.streams == 2)
        #expect(report.machine.clock == "CLOCK_MONOTONIC_RAW" && report.machine.processors > 0)
        #expect(!report.machine.processor.isEmpty)
        // A look takes a model with confirming networks.
        let confirms = FileManager.default.fileExists(atPath: Checkout.model + "/confirm.safetensors")
        let stages = BenchStage.allCases.filter { confirms || $0 != .look }
        #expect(Set(report.stages.map(\.stage)) == Set(stages.map(\.rawValue)))
        for stage in report.stages {
            let times = stage.microseconds
            #expect(times.min > 0 && times.min <= times.p50 && times.p50 <= times.p99 && times.p99 <= times.max)
            #expect(stage.count >= 4 && stage.spread >= 1)
            if stage.stage.hasPrefix("resample") {
                #expect(stage.kernels == KernelSet.preferred.instructionSet.rawValue)
            } else {
                #expect(stage.kernels == (stage.stage == "gate" ? nil : "baseline"))
            }
            let counted = ["cnn", "window-cnn", "look", "fma-peak"].contains(stage.stage)
            #expect((stage.multiplyAddsPerSecond ?? 0 > 0) == counted && (stage.shareOfPeak ?? 0 > 0) == counted)
            #expect((stage.realTimeFactor ?? 0 > 0) == ["hop", "streams", "streams-batched"].contains(stage.stage))
        }
        // The network's rate is its multiply-adds divided by the median time.
        let network = try #require(report.stages.first { $0.stage == "window-cnn" })
        let rate = Double(report.model.multiplyAddsPerWindow) / network.microseconds.p50 * 1e6
        #expect(abs((network.multiplyAddsPerSecond ?? 0) / rate - 1) < 1e-6)
        let start = report.startUp
        #expect(start.milliseconds.min > 0 && start.residentBytes > 1_000_000)
        // The ring of one second alone takes 64,000 bytes.
        #expect(start.streamBytes > report.model.stateBytes + 64_000 && report.model.weightBytes > 100_000)

        // The printed report can be compared, also with itself.
        try folder.write("a.json", bytes: Array(program.output.utf8))
        let compared = try Program.beckon(["bench", "--compare", folder.file("a.json"), folder.file("a.json")])
        #expect(compared.status == 0 && compared.error == "")
        let hop = compared.lines.first { $0.hasPrefix("hop ") }
        #expect(hop?.contains("baseline") == true && hop?.hasSuffix(" 1.00") == true)
    }
}
