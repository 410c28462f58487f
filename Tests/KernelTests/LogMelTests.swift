import Foundation
import KernelInterface
import Kernels
import TestSupport
import Testing

struct LogMelTests {
    private func shape(_ size: Int, frame: Int, hop: Int, bands: Int) -> LogMelShape {
        LogMelShape(
            sampleRate: 16000,
            frameSamples: frame,
            hopSamples: hop,
            fftSize: size,
            bands: bands,
            lowHertz: 20,
            highHertz: 7600,
            floor: 1e-6,
            mean: 0,
            deviation: 1
        )
    }

    private func run(_ set: InstructionSet, _ samples: [Float], _ shape: LogMelShape, columns: Int) throws -> [Float] {
        let kernels = try #require(set.kernels)
        let tables = LogMelTables(shape: shape)
        let scratch = AlignedFloats(shape.scratchCount)
        var output = [Float](repeating: 0, count: columns * shape.bands)
        kernels.logMel(samples, &output, columns, tables, scratch.base)
        return output
    }

    @Test(arguments: [64, 128, 256, 512, 1024, 2048, 4096], InstructionSet.supported)
    func `features agree with the definition of the DFT`(size: Int, set: InstructionSet) throws {
        var random = SplitMix(seed: UInt64(31 + size))
        var largest: Float = 0
        for columns in size > 1024 ? [3] : [1, 3, 8, 13] {
            let frame = random.int((size / 2)...size)
            let shape = shape(size, frame: frame, hop: random.int(1...frame), bands: random.int(1...40))
            let samples = random.floats((columns - 1) * shape.hopSamples + frame)
            let expected = ScalarReference.logMel(samples, shape: shape, columns: columns).map(Float.init)
            largest = max(largest, largestDifference(try run(set, samples, shape, columns: columns), expected))
        }
        print("\(set) log-mel, size \(size): worst error \(largest) in ln")
        #expect(largest < 1e-5)
    }

    @Test(arguments: InstructionSet.supported) func `bands without energy are accurate beside tones and clicks`(
        set: InstructionSet
    )
        throws
    {
        let shape = shape(512, frame: 400, hop: 200, bands: 40)
        let tone = (0..<2000).map { Float(0.9 * sin(2 * Double.pi * 440 * Double($0) / 16000)) }
        let click = (0..<2000).map { Float($0 == 700 ? 1 : 0) }
        for samples in [tone, click] {
            let expected = ScalarReference.logMel(samples, shape: shape, columns: 9).map(Float.init)
            let error = largestDifference(try run(set, samples, shape, columns: 9), expected)
            print("\(set) log-mel of a tone or click: worst error \(error) in ln")
            #expect(error < 1e-3)
        }
    }

    @Test(arguments: InstructionSet.supported) func `the logarithm is accurate to a unit in the last place`(
        set: InstructionSet
    ) throws {
        // The feature of silence is the logarithm of the floor.
        var random = SplitMix(seed: 33)
        let silence = [Float](repeating: 0, count: 64)
        var largest = 0.0
        for round in 0..<6000 {
            let exponent = Double(round % 2 == 0 ? random.float(-37...38) : random.float(-0.3...0.3))
            var shape = shape(64, frame: 64, hop: 64, bands: 1)
            shape.floor = Float(pow(10, exponent))
            let expected = log(Double(shape.floor))
            let error = abs(Double(try run(set, silence, shape, columns: 1)[0]) - expected)
            largest = max(largest, expected == 0 ? error : error / abs(expected))
        }
        print("\(set) logarithm: worst relative error \(largest)")
        #expect(largest < 2e-7)
    }

    @Test(arguments: InstructionSet.supported) func `a column does not depend on the other columns`(set: InstructionSet)
        throws
    {
        var random = SplitMix(seed: 34)
        let shape = shape(512, frame: 400, hop: 200, bands: 40)
        let samples = random.floats(16000)
        let all = try run(set, samples, shape, columns: 79)
        let last = try run(set, Array(samples[14200...]), shape, columns: 8)
        #expect(Array(all[(71 * 40)...]) == last)
        for column in [0, 1, 40, 78] {
            let one = try run(set, Array(samples[(column * 200)...]), shape, columns: 1)
            #expect(one == Array(all[(column * 40)..<(column * 40 + 40)]))
        }
    }

    @Test(arguments: InstructionSet.supported)
    func `samples that are not finite affect only the columns of their frames`(
        set: InstructionSet
    ) throws {
        let shape = shape(512, frame: 400, hop: 200, bands: 40)
        for invalid in [Float.nan, .infinity, 1e30] {
            var samples = [Float](repeating: 0.1, count: 16000)
            samples[8000] = invalid
            let columns = try run(set, samples, shape, columns: 79)
            let wrong = (0..<79).filter { column in !columns[(column * 40)..<(column * 40 + 40)].allSatisfy(\.isFinite)
            }
            #expect(wrong == [39, 40] || wrong == [39] || wrong == [40])
        }
    }
}
