/// A network of microWakeWord, ready to run: steps over one memory, whose rings keep what the next step needs of the past.
public final class StreamingNetwork: Sendable {
    /// Hops of the front end that one step reads.
    public let hopsPerStep: Int
    /// Multiply-adds of a step.
    public let multiplyAdds: Int

    let steps: [NetworkStep]
    /// Weights, widened: `[rows]` of each layer.
    let weights: Memory<Int16>
    /// Of each channel of each layer, with what the zero point of its input adds.
    let biases: Memory<Int32>
    let rescalings: [Rescaling]
    /// Tables of 256 entries.
    let tables: Memory<Int8>
    /// The memory of a stream at its start.
    let initial: [Int8]
    let longestRow: Int
    let mostChannels: Int
    /// Places of the input and of the output.
    let input: Int
    let output: Int

    private let inputFormat: NumberFormat
    private let outputFormat: NumberFormat

    /// Reads a network from the bytes of a TFLite file.
    ///
    /// - Throws: `WakeWordError.damaged`, `.unsupported` or `.size`, whose message does not name the file.
    public convenience init(bytes: [UInt8]) throws(WakeWordError) { try self.init(bytes: bytes, ModelBudget()) }

    init(bytes: [UInt8], _ budget: ModelBudget) throws(WakeWordError) {
        let file = try TFLiteFile(bytes, budget)
        let compiler = try NetworkCompiler(file)
        let parts = compiler.parts
        hopsPerStep = compiler.hopsPerStep
        multiplyAdds = parts.multiplyAdds
        steps = parts.steps
        weights = Memory(parts.weights)
        biases = Memory(parts.biases)
        rescalings = parts.rescalings
        tables = Memory(parts.tables)
        initial = parts.initial
        longestRow = parts.longestRow
        mostChannels = parts.mostChannels
        input = compiler.input
        output = compiler.output
        inputFormat = compiler.inputFormat
        outputFormat = compiler.outputFormat
    }

    /// A feature as the input has it.
    func quantise(_ feature: UInt16) -> Int8 {
        // Rounded to the nearest, ties to even; beyond the range to its end.
        let value = Float(feature) * 0.0390625 / inputFormat.scale + Float(inputFormat.zeroPoint)
        return inputFormat.bits(of: value.rounded(.toNearestOrEven))
    }

    /// The output as a probability, 0…1.
    func probability(_ bits: Int8) -> Float {
        let number = outputFormat.isSigned ? Int32(bits) : Int32(UInt8(bitPattern: bits))
        return min(max(Float(number - outputFormat.zeroPoint) * outputFormat.scale, 0), 1)
    }
}

/// What the bits of a tensor's elements stand for: (number − zero point) · scale.
struct NumberFormat: Equatable {
    let isSigned: Bool
    let scale: Float
    let zeroPoint: Int32

    var range: ClosedRange<Int32> { isSigned ? -128...127 : 0...255 }

    /// The bits of a number, clamped to the range.
    func bits(of number: Float) -> Int8 {
        let clamped = min(max(number, Float(range.lowerBound)), Float(range.upperBound))
        return Int8(truncatingIfNeeded: Int32(clamped))
    }

    /// The number of an element with these bits.
    func number(_ bits: UInt8) -> Int32 { isSigned ? Int32(Int8(bitPattern: bits)) : Int32(bits) }
}
