import KernelInterface

/// What a step computes from single numbers.
enum FloatFunction: Sendable, Equatable {
    case clamp(lowest: Float, highest: Float)
    /// `slope · x` below zero, but no less than a limit.
    case leaky(slope: Float, lowest: Float = -.infinity)
    case logistic, tanh, errorFunction
    case squareRoot, exponential, logarithm
    case negative, absolute, reciprocal
    case power(Float)
    /// `scale · (eˣ − 1)` below zero.
    case elu(scale: Float)
    case softplus
}

/// What a step computes from pairs of numbers. A comparison gives 1 or 0.
enum FloatCombination: Sendable {
    case add, subtract, multiply, divide, power, maximum, minimum
    case greater, greaterOrEqual, less, lessOrEqual, equal
}

/// What a step computes from groups of numbers.
enum FloatReduction: Sendable {
    case mean, sum, maximum
}

/// One step of a network of floats: of a head, or of the speech embedding. Places are offsets of floats in a stream's memory.
enum FloatStep: Sendable {
    /// Adjacent columns of a convolution; a dense layer is one with a kernel of 1.
    case convolve(input: Int, output: Int, columns: Int, shape: ConvolutionShape, weights: Int)
    case apply(FloatFunction, input: Int, output: Int, count: Int)
    /// Loops over two operands and the result.
    case combine(FloatCombination, Loops, left: Int, right: Int, output: Int)
    /// Loops over the first input of each group and the results, and over the members of a group.
    case reduce(FloatReduction, Loops, members: Loops, groupCount: Int, input: Int, output: Int)
    case move(Loops, input: Int, output: Int)
    /// Products of matrices, `[rows × depth]` by `[depth × columns]`, one after the other; an operand that all have in common has the
    /// stride 0.
    case product(MatrixProduct)
    case recur(Recurrence)
    /// Numbers to integers from 0 to 255 by a scale and a zero point that cover them all.
    case quantise(input: Int, output: Int, scale: Int, zero: Int, count: Int)
    /// Each row becomes exp(x · scale) by their sum.
    case softmax(input: Int, output: Int, rows: Int, count: Int, scale: Float)
    /// Goes on after the next `count` steps if the condition is 0.
    case skipUnless(condition: Int, count: Int)
    case skip(count: Int)
}

/// Products of matrices that are both computed. Places and strides are in floats.
struct MatrixProduct: Sendable {
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
