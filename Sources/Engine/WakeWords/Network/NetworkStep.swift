/// One step of a network. Places are offsets into the memory of a stream, in bytes; all tensors have elements of 8 bits.
enum NetworkStep {
    case move(Loops, input: Int, output: Int)
    case dense(DenseStep)
    case depthwise(DepthwiseStep)
    /// Replaces each element by an entry of a table of 256.
    case lookUp(LookUpStep)
    case sum(SumStep)
    case product(ProductStep)
    case pool(PoolStep)
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

/// A convolution or fully connected layer: each output is a sum over `length` inputs that are adjacent.
struct DenseStep: BitwiseCopyable {
    let input: Int
    /// Bytes from the inputs of a position to those of the next.
    let stride: Int
    let length: Int
    /// The first weight, `[channels × rowLength(length)]`.
    let weights: Int
    let output: LayerOutput

    /// Rows of weights are padded with zeros to a multiple of 16.
    static func rowLength(_ length: Int) -> Int { (length + 15) & ~15 }
}

/// A depthwise convolution: each output is a sum over `taps` inputs of its own channel.
struct DepthwiseStep: BitwiseCopyable {
    let input: Int
    let stride: Int
    let taps: Int
    /// The first weight, `[taps × channels]`.
    let weights: Int
    let output: LayerOutput
}

struct LookUpStep: BitwiseCopyable {
    let input: Int
    let output: Int
    let count: Int
    /// The first entry, which is that of the element with the bits 0.
    let table: Int
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

/// Adds elements by pairs: each is scaled by itself, and then their sum.
struct SumStep: BitwiseCopyable {
    let pairs: ElementPairs
    let left: Rescaling
    let right: Rescaling
    let sum: Rescaling

    /// Bits of a fraction that the elements get before they are scaled.
    static let fractionBits: Int32 = 20
}

/// Multiplies elements by pairs.
struct ProductStep: BitwiseCopyable {
    let pairs: ElementPairs
    let scale: Rescaling
}

/// The maximum or the mean of `taps` inputs of each channel.
struct PoolStep: BitwiseCopyable {
    enum Kind: BitwiseCopyable {
        case maximum
        /// In whole numbers, ties away from zero; inputs and outputs have one scale.
        case average
        /// The sum of the distances from a zero point, scaled to the mean.
        case mean(Rescaling, zeroPoint: Int32)
    }

    let kind: Kind
    let input: Int
    /// Bytes from the inputs of a position, `[taps × channels]`, to those of the next.
    let stride: Int
    let taps: Int
    let output: LayerOutput
}
