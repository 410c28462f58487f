/// One step of a network. Places are offsets into the memory of a stream, in bytes; all tensors have elements of 8 bits.
enum NetworkStep {
    case move(Loops, input: Int, output: Int)
    /// A convolution or fully connected layer: sums over all inputs of a position, whose weights are `[channels × rowLength(count)]`.
    case dense(LayerPositions, weights: Int)
    /// A depthwise convolution: sums over the inputs of a channel, whose weights are `[count × channels]`.
    case depthwise(LayerPositions, weights: Int)
    /// The maximum or the mean of a channel's inputs.
    case pool(PoolKind, LayerPositions)
    /// Replaces each element by an entry of a table of 256; the first is that of the element with the bits 0.
    case lookUp(input: Int, output: Int, count: Int, table: Int)
    /// Adds elements by pairs: each is scaled by itself, and then their sum.
    case sum(ElementPairs, left: Rescaling, right: Rescaling, sum: Rescaling)
    /// Multiplies elements by pairs.
    case product(ElementPairs, scale: Rescaling)

    /// Rows of weights are padded with zeros to a multiple of 16.
    static func rowLength(_ length: Int) -> Int { (length + 15) & ~15 }

    /// Bits of a fraction that the elements of a sum get before they are scaled.
    static let fractionBits: Int32 = 20
}

/// The outputs of a layer: `[positions × channels]`.
struct LayerOutput: BitwiseCopyable {
    let place: Int
    let positions: Int
    let channels: Int
    /// The first channel in the network's biases and rescalings.
    let firstChannel: Int
    let zeroPoint: Int32
    let lowest: Int32
    let highest: Int32

    @inline(__always)
    func clamped(_ value: Int32) -> Int8 {
        Int8(truncatingIfNeeded: min(max(value &+ zeroPoint, lowest), highest))
    }
}

/// The inputs of each position of a layer, which are adjacent, and what is computed of them.
struct LayerPositions: BitwiseCopyable {
    let input: Int
    /// Bytes from the inputs of a position to those of the next.
    let stride: Int
    /// Inputs of an output.
    let count: Int
    let output: LayerOutput
}

enum PoolKind: BitwiseCopyable {
    case maximum
    /// In whole numbers, ties away from zero; inputs and outputs have one scale.
    case average
    /// The sum of the distances from a zero point, scaled to the mean.
    case mean(Rescaling, zeroPoint: Int32)
}

/// The elements of two tensors by pairs, as distances from their zero points.
struct ElementPairs: BitwiseCopyable {
    let left: Int
    let right: Int
    let leftZero: Int32
    let rightZero: Int32
    /// Over both tensors and the output.
    let loops: Loops
    /// Of one channel.
    let output: LayerOutput
}
