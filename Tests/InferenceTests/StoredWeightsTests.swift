import KernelInterface
import TestSupport
import Testing

@testable import Inference

/// Weights in shorter forms: 8 bits with a step per output, and quaternions.
struct StoredWeightsTests {
    private func file(_ fill: (inout TensorFile) -> Void) throws -> SafeTensors {
        var file = TensorFile()
        fill(&file)
        return try SafeTensors(bytes: file.bytes, file: "w.safetensors")
    }

    private func integers(_ numbers: [Int8]) -> [UInt8] { numbers.map { UInt8(bitPattern: $0) } }

    @Test func `weights of 8 bits are multiples of their output's step`() throws {
        let tensors = try file {
            $0.add("a.weight", [2, 1, 4], type: "I8", integers([1, -2, 127, -127, 0, 3, 4, -5]))
            $0.add("a.step", [2], [0.5, 0.25])
            $0.add("b.weight", [1, 2], [1.5, -2])
        }
        #expect(try tensors.weights(of: "a", shape: [2, 1, 4]) == [0.5, -1, 63.5, -63.5, 0, 0.75, 1, -1.25])
        #expect(try tensors.weights(of: "b", shape: [1, 2]) == [1.5, -2])
        let shape = ConvolutionShape(inputChannels: 4, outputChannels: 2)
        let stored = try #require(try tensors.integers(of: "a", shape: [2, 1, 4], computed: shape))
        #expect(stored.weights == [1, -2, 127, -127, 0, 3, 4, -5] && stored.steps == [0.5, 0.25])
        let one = ConvolutionShape(inputChannels: 2, outputChannels: 1)
        #expect(try tensors.integers(of: "b", shape: [1, 2], computed: one) == nil)
    }

    @Test func `steps and sums that a kernel could not compute with are errors that name the tensor`() throws {
        let shape = ConvolutionShape(inputChannels: 16, outputChannels: 1)
        // In a lane are the first two of every four inputs, or the last two.
        func weights(_ count: Int) -> [Int8] { (0..<16).map { $0 % 4 < 2 && $0 / 2 < count ? 127 : 0 } }
        let wrong: [(name: String, weights: [Int8], step: [Float])] = [
            ("too large", weights(3), [1]), ("no step", weights(1), [0]), ("negative", weights(1), [-1]),
            ("another shape", weights(1), [1, 1]),
            ("most negative", [-128, -128, 0, 0, -3] + weights(0).dropFirst(5), [1]),
        ]
        for (name, weights, step) in wrong {
            let tensors = try file {
                $0.add("a.weight", [1, 16], type: "I8", integers(weights))
                $0.add("a.step", [step.count], step)
            }
            #expect(throws: ModelError.tensor, "\(name)") {
                try tensors.integers(of: "a", shape: [1, 16], computed: shape)
            }
        }
        let missing = try file { $0.add("a.weight", [1, 16], type: "I8", integers(weights(1))) }
        #expect(throws: ModelError.tensor) { try missing.weights(of: "a", shape: [1, 16]) }
        #expect(throws: ModelError.tensor) { try missing.integers(of: "a", shape: [1, 16], computed: shape) }
    }

    @Test func `quaternions stand for the kernel that they multiply with`() throws {
        // One quaternion q = a + b i + c j + d k, and the four outputs of the product, each with a factor of its own.
        let (a, b, c, d): (Float, Float, Float, Float) = (1, 2, 3, 4)
        let tensors = try file {
            $0.add("n.quaternion", [1, 1, 1, 4], half: [a, b, c, d])
            $0.add("n.factor", [4], [1, 1, 0.5, 1 / 3])
            $0.add("m.quaternion", [1, 1, 1, 4], half: [a, b, c, d])
            $0.add("p.weight", [1, 1, 1, 3], half: [1, 2, 3])
        }
        let plain = [a, b, c, d] + [-b, a, d, -c] + [-c, -d, a, b] + [-d, c, -b, a]
        #expect(try tensors.weights(of: "m", shape: [4, 1, 1, 4]) == plain)
        let factors: [Float] = [1, 1, 0.5, 1 / 3]
        let scaled = plain.indices.map { Float(Float16(plain[$0] * factors[$0 / 4])) }
        #expect(try tensors.weights(of: "n", shape: [4, 1, 1, 4]) == scaled)
        #expect(try tensors.weights(of: "p", shape: [1, 1, 1, 3]) == [1, 2, 3])
        for shape in [[4, 1, 1, 8], [8, 1, 1, 4], [4, 1, 2, 4], [3, 1, 1, 4], [4, 1, 1, 3]] {
            #expect(throws: ModelError.tensor) { try tensors.requireWeights(of: "m", shape: shape) }
            #expect(throws: ModelError.tensor) { try tensors.weights(of: "m", shape: shape) }
        }
        #expect(throws: ModelError.tensor) { try tensors.requireWeights(of: "gone", shape: [4, 1, 1, 4]) }
    }
}
