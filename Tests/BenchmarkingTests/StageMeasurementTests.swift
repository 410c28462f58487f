import Core
import Foundation
import Inference
import KernelInterface
import Kernels
import Spotting
import TestSupport
import Testing

@testable import Benchmarking

/// The parts of `beckon bench`, without running the program.
struct StageMeasurementTests {
    @Test func `the processor is named by its model, or on arm64 by board and cores`() {
        let server = "processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC 9R14\n"
        #expect(BenchMachine.processorName(cpuinfo: server, board: "") == "AMD EPYC 9R14")
        let pi = "processor\t: 0\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n\nprocessor\t: 1\nCPU part\t: 0xd08\n"
        let board = "Raspberry Pi 4 Model B Rev 1.4\0"
        #expect(BenchMachine.processorName(cpuinfo: pi, board: board) == "Raspberry Pi 4 Model B Rev 1.4, Cortex-A72")
        #expect(BenchMachine.processorName(cpuinfo: "CPU part\t: 0xfff\n", board: "") == "arm64 part 0xfff")
        #expect(BenchMachine.processorName(cpuinfo: "", board: "") == "unknown")
    }

    @Test func `percentiles of a known list are its members of that rank`() throws {
        // 1 to 200, not sorted.
        let times: [Double] = (0..<200).map { (number: Int) in Double(number * 77 % 200 + 1) }
        let timing = try #require(Timing(times))
        #expect(timing.min == 1 && timing.p50 == 100 && timing.p99 == 198 && timing.max == 200)
        #expect(Timing([0.123456])?.p99 == 0.123)
        #expect(Timing([]) == nil)
    }

    @Test func `a probe keeps the rounds apart and counts by units`() throws {
        final class Nap: Workload {
            var runs = 0
            let units = 4
            func run() {
                runs += 1
                usleep(2000)
            }
        }
        let nap = Nap()
        let probe = Probe(.streams, .baseline, nap)
        try probe.round(seconds: 0.001, isKept: false)
        #expect(probe.rounds.isEmpty && nap.runs == 1)
        try probe.round(seconds: 0.001, isKept: true)
        try probe.round(seconds: 0.02, isKept: true)
        // Work that takes longer than its share is still done once untimed and once timed.
        #expect(probe.rounds.count == 2 && probe.rounds[0].count == 1 && probe.rounds[1].count >= 1)
        #expect(probe.rounds.joined().allSatisfy { $0 >= 500 })
    }

    @Test(arguments: [(0.9, false), (0.9, true), (1.4, false), (1.4, true)])
    func `a stage beyond the peak is explained`(share: Double, isInteger: Bool) throws {
        func row(_ stage: String, _ share: Double) throws -> BenchReport.Row {
            BenchReport.Row(
                stage: stage,
                kernels: "avx2",
                count: 1,
                microseconds: try #require(Timing([1, 1])),
                spread: 1,
                multiplyAddsPerSecond: 1,
                shareOfPeak: share,
                realTimeFactor: nil
            )
        }
        let note = BenchNotes.abovePeak([try row("fma-peak", 1.01), try row("cnn", share)], isInteger: isInteger)
        if share < 1 {
            #expect(note == nil)
        } else {
            #expect(note?.hasPrefix("cnn by avx2 has 140 % of the peak") == true)
            #expect(note?.contains("8-bit integers") == isInteger && note?.contains("measure again") == !isInteger)
        }
    }

    @Test func `noise and throttling are found from rounds`() throws {
        func row(_ stage: String, _ rounds: [[Double]]) throws -> BenchReport.Row {
            BenchReport.Row(
                stage: stage,
                kernels: "avx2",
                count: 0,
                microseconds: try #require(Timing(rounds.flatMap { $0 })),
                spread: BenchNotes.spread(rounds),
                multiplyAddsPerSecond: nil,
                shareOfPeak: nil,
                realTimeFactor: nil
            )
        }
        let quiet = try row("hop", [[10, 10, 11], [10, 11, 11], [10, 10, 10]])
        #expect(quiet.spread == 1.1)
        #expect(BenchNotes.noise([quiet]) == nil)
        let uneven = try row("cnn", [[10, 10, 10], [13, 13, 13]])
        let torn = try row("gate", [[10, 10, 90], [10, 10, 10]])
        #expect(BenchNotes.noise([quiet, uneven])?.contains("cnn by avx2 the slowest round took 1.30 times") == true)
        #expect(BenchNotes.noise([quiet, torn, uneven])?.contains("9.0 times the median") == true)
        #expect(BenchNotes.throttling([[10, 30], [11, 40], [10, 20], [10, 50]], kernels: "avx2") == nil)
        let slower = [[10, 30], [11, 40], [11, 20], [12, 50]] as [[Double]]
        #expect(BenchNotes.throttling(slower, kernels: "avx2")?.contains("avx2 multiply-adds took 1.20 times") == true)
        #expect(BenchNotes.throttling([], kernels: "avx2") == nil)
    }

    @Test func `a histogram counts every time once`() {
        // 5 to 15 and one interruption of 500; the 99th percentile is 15, which is below twice the median.
        let times: [Double] = (0...100).map { 5 + Double($0) / 10 }
        let histogram = Histogram(times + [500], rows: 10)
        #expect(histogram.counts.reduce(histogram.rest, +) == 102)
        #expect(histogram.rest == 1 && histogram.counts.count == 10 && histogram.edges.count == 11)
        #expect(histogram.edges.first == 5 && histogram.edges.last.map { abs($0 - 15) < 1e-9 } == true)
        let lines = histogram.text(width: 16).split(separator: "\n")
        #expect(lines.count == 11 && lines[9].contains("████████████████ ") && lines[10].contains("more"))
        #expect(Histogram([], rows: 10).text(width: 16) == "")
        #expect(Histogram([2, 2, 2], rows: 3).counts == [3, 0, 0])
        #expect(Histogram([1, 1, 1, 9, 9], rows: 2).rest == 2)
    }

    @Test func `each workload does what it measures`() throws {
        let model = try Model(folder: Checkout.model, kernels: .baseline)
        let settings = DetectorSettings(Vocabulary(model))
        let gate = try GateWork(settings)
        gate.run()
        // Two words, and their phrase: begun, then complete.
        #expect(gate.detections == 4 && gate.units == 40)
        let streams = try StreamsWork(settings, count: 3)
        streams.run()
        #expect(streams.units == 3)
        let batch = BatchWork(settings, count: 3)
        for _ in 0..<12 { batch.run() }
        #expect(batch.units == 3 && batch.detections == 0)
        let hop = try HopWork(settings, sound: HopWork.sound(model))
        for _ in 0..<45 { hop.run() }
        #expect(hop.detections == 0)
        let peak = PeakWork(try #require(model.kernels.fmaThroughput))
        #expect(peak.multiplyAdds > 0)
        for rate in [44_100, 48_000] { try ResampleWork(rate: rate).run() }
    }
}
