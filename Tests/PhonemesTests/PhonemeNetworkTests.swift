import Foundation
import Inference
import KernelInterface
import Kernels
import Phonemes
import TestSupport
import Testing

/// The phoneme network beside what PyTorch answers with its numbers as they were trained, on what a synthetic voice said.
struct PhonemeNetworkTests {
    static let folder = Checkout.path + "/Models/phonemes"

    private static func reference() throws -> (samples: [Float], answer: [Float]) {
        let file = try SafeTensors(path: folder + "/reference.safetensors")
        return (try file.floats("samples").map { $0 / 32768 }, try file.floats("answer"))
    }

    private static func answer(_ runner: PhonemeRunner, to samples: [Float]) -> [Float] {
        guard samples.withUnsafeBufferPointer({ runner.run($0) }) else { return [] }
        let count = runner.frames * runner.network.symbols.count
        return Array(UnsafeBufferPointer(start: runner.answer, count: count))
    }

    @Test(arguments: InstructionSet.supported) func `every kernel set answers what PyTorch answers`(
        instructionSet: InstructionSet
    ) throws {
        let (samples, expected) = try Self.reference()
        let kernels = try #require(instructionSet.kernels)
        let runner = PhonemeRunner(
            try PhonemeNetwork(folder: Self.folder, kernels: kernels),
            samples: samples.count
        )
        let answer = Self.answer(runner, to: samples)
        #expect(answer.count == expected.count)
        // Matrices multiply 8-bit weights and 7-bit inputs.
        let differences = zip(answer, expected).map { abs(exp($0) - exp($1)) }
        #expect((differences.max() ?? 1) < 0.08, "\(instructionSet)")
        #expect(differences.reduce(0, +) / Float(differences.count) < 2e-4)
        let symbols = runner.network.symbols
        let likeliest = stride(from: 0, to: answer.count, by: symbols.count).compactMap { first in
            symbols.indices.max { answer[first + $0] < answer[first + $1] }
        }
        let heard = likeliest.map { symbols[$0] }.filter { $0 != PhonemeNetwork.blankName }
        #expect(heard.joined(separator: " ") == "oʊ k eɪ eɪ <wb> <wb> k ə m f j j u d ɝ")
    }

    @Test func `an answer does not depend on those before it`() throws {
        let (samples, _) = try Self.reference()
        let network = try PhonemeNetwork(folder: Self.folder)
        let (used, new) = (PhonemeRunner(network, samples: 8000), PhonemeRunner(network, samples: 8000))
        let part = Array(samples[4000..<12_000])
        _ = Self.answer(used, to: Array(samples[..<8000]))
        #expect(Self.answer(used, to: part) == Self.answer(new, to: part))
        #expect(new.frames == 26)
    }

    @Test(arguments: [0, 1, 399, 7999, 8001]) func `audio of a wrong length has no answer`(count: Int) throws {
        let runner = PhonemeRunner(try PhonemeNetwork(folder: Self.folder), samples: 8000)
        #expect(Self.answer(runner, to: [Float](repeating: 0.1, count: count)).isEmpty)
    }

    @Test func `a look allocates nothing`() throws {
        let runner = PhonemeRunner(try PhonemeNetwork(folder: Self.folder), samples: 8000)
        let samples = [Float](repeating: 0.1, count: 8000)
        #expect(HeapTrial { _ = samples.withUnsafeBufferPointer { runner.run($0) } }.isQuiet(seconds: 30))
    }

    @Test(arguments: ["phonemes.json", "network.safetensors", "spelling.safetensors"])
    func `a file that is missing or damaged is one line with its name`(file: String) throws {
        let folder = try TestFolder()
        for name in ["phonemes.json", "network.safetensors", "spelling.safetensors"] {
            try FileManager.default.copyItem(atPath: "\(Self.folder)/\(name)", toPath: folder.file(name))
        }
        func error() throws -> ModelError {
            try #require(throws: ModelError.self) {
                _ = try PhonemeNetwork(folder: folder.path)
                _ = try Pronouncer(folder: folder.path)
            }
        }
        let path = URL(fileURLWithPath: folder.file(file))
        let whole = try Data(contentsOf: path)
        for damaged in [Data(), whole.prefix(100), whole.dropLast(2), Data("{\"symbols\": [1], \"letters\": 3}".utf8)] {
            try damaged.write(to: path)
            let message = try error().message
            #expect(message.contains(file) && !message.contains("\n"), "\(message)")
        }
        try FileManager.default.removeItem(at: path)
        #expect(try error().message.contains(file))
    }
}
