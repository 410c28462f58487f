import KernelInterface

/// What a step of a head computes from single numbers.
enum HeadFunction: Sendable, Equatable {
    case clamp(lowest: Float, highest: Float)
    /// `slope · x` below zero.
    case leaky(slope: Float)
    case logistic, tanh, errorFunction
    case squareRoot, exponential, logarithm
    case negative, absolute, reciprocal
    case power(Float)
    /// `scale · (eˣ − 1)` below zero.
    case elu(scale: Float)
    case softplus
}

/// What a step of a head computes from pairs of numbers. A comparison gives 1 or 0.
enum HeadCombination: Sendable {
    case add, subtract, multiply, divide, power, maximum, minimum
    case greater, greaterOrEqual, less, lessOrEqual, equal
}

/// What a step of a head computes from groups of numbers.
enum HeadReduction: Sendable {
    case mean, sum, maximum
}

/// One step of a head. Places are offsets of floats in a stream's memory.
enum HeadStep: Sendable {
    /// A dense layer: `rows` columns of a convolution with a kernel of 1.
    case dense(input: Int, output: Int, rows: Int, shape: ConvolutionShape, weights: Int)
    case apply(HeadFunction, input: Int, output: Int, count: Int)
    /// Loops over two operands and the result.
    case combine(HeadCombination, Loops, left: Int, right: Int, output: Int)
    /// Loops over the first input of each group and the results, and over the members of a group.
    case reduce(HeadReduction, Loops, members: Loops, groupCount: Int, input: Int, output: Int)
    case move(Loops, input: Int, output: Int)
    /// Products of matrices, `[rows × depth]` by `[depth × columns]`, one after the other; an operand that all have in common has the
    /// stride 0.
    case product(HeadProduct)
    case recur(HeadRecurrence)
    /// Numbers to integers from 0 to 255 by a scale and a zero point that cover them all.
    case quantise(input: Int, output: Int, scale: Int, zero: Int, count: Int)
    /// Each row becomes exp(x · scale) by their sum.
    case softmax(input: Int, output: Int, rows: Int, count: Int, scale: Float)
    /// Goes on after the next `count` steps if the condition is 0.
    case skipUnless(condition: Int, count: Int)
    case skip(count: Int)
}

/// Products of matrices that are both computed. Places and strides are in floats.
struct HeadProduct: Sendable {
    let left: Int
    let leftStride: Int
    let right: Int
    let rightStride: Int
    let output: Int
    let batches: Int
    let rows: Int
    let depth: Int
    let columns: Int
}
