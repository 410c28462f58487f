import KernelInterface
import Kernels

/// A network of floats, ready to run: what computes heads and the speech embedding. A layer of another kind is one more step here.
struct FloatProgram: Sendable {
    let steps: [FloatStep]

    /// Runs all steps. Allocates nothing.
    ///
    /// - Parameters:
    ///   - memory: of a stream, 64-byte aligned.
    ///   - weights: packed.
    func run(
        _ memory: UnsafeMutablePointer<Float>,
        weights: UnsafePointer<Float>,
        _ kernels: borrowing KernelSet
    ) {
        steps.withUnsafeBufferPointer { steps in
            var index = 0
            while index < steps.count { index += 1 + run(steps[index], memory, weights, kernels) }
        }
    }

    /// - Returns: how many steps to leave out.
    private func run(
        _ step: FloatStep,
        _ memory: UnsafeMutablePointer<Float>,
        _ weights: UnsafePointer<Float>,
        _ kernels: borrowing KernelSet
    ) -> Int {
        switch step {
        case .convolve(let input, let output, let columns, let shape, let first):
            let columns = shape.adjacentColumns(columns)
            kernels.convolve(memory + input, memory + output, columns, weights + first, shape, nil, false)
        case .apply(let function, let input, let output, let count):
            function.apply(memory + input, to: memory + output, count)
        case .combine(let combination, let loops, let left, let right, let output):
            let run = loops.run
            loops.forEachRun { a, b, c in
                let (left, right, output) = (memory + left + a, memory + right + b, memory + output + c)
                for index in 0..<run.count {
                    output[index] = combination.value(left[index * run.a], right[index * run.b])
                }
            }
        case .reduce(let reduction, let loops, let members, let groupCount, let input, let output):
            let (run, group) = (loops.run, members.run)
            loops.forEachRun { a, b, _ in
                let (source, target) = (memory + input + a, memory + output + b)
                target.update(repeating: reduction == .maximum ? -.infinity : 0, count: run.count)
                members.forEachRun { member, _, _ in
                    for index in 0..<group.count {
                        reduction.add(source + member + index * group.a, stride: run.a, to: target, run.count)
                    }
                }
                if reduction == .mean { for index in 0..<run.count { target[index] /= Float(groupCount) } }
            }
        case .move(let loops, let input, let output): loops.copy(memory + input, to: memory + output)
        case .product(let product): multiply(product, memory)
        case .recur(let recurrence): recurrence.run(memory, weights, kernels)
        case .quantise(let input, let output, let scale, let zero, let count):
            (memory[scale], memory[zero]) = quantise(memory + input, memory + output, count)
        case .softmax(let input, let output, let rows, let count, let scale):
            for row in 0..<rows { softmax(memory + input + row * count, memory + output + row * count, count, scale) }
        case .skipUnless(let condition, let count): return memory[condition] == 0 ? count : 0
        case .skip(let count): return count
        }
        return 0
    }

    private func softmax(
        _ input: UnsafePointer<Float>,
        _ output: UnsafeMutablePointer<Float>,
        _ count: Int,
        _ scale: Float
    ) {
        var (highest, sum) = (-Float.infinity, Float(0))
        for index in 0..<count { highest = max(highest, input[index]) }
        for index in 0..<count {
            output[index] = FloatFunction.exponential.value((input[index] - highest) * scale)
            sum += output[index]
        }
        for index in 0..<count { output[index] /= sum }
    }

    private func multiply(_ product: MatrixProduct, _ memory: UnsafeMutablePointer<Float>) {
        for batch in 0..<product.batches {
            let left = memory + product.left + batch * product.leftStride
            let right = memory + product.right + batch * product.rightStride
            let output = memory + product.output + batch * product.rows * product.columns
            for row in 0..<product.rows {
                for column in 0..<product.columns {
                    var sum: Float = 0
                    for index in 0..<product.depth {
                        sum += left[row * product.depth + index] * right[index * product.columns + column]
                    }
                    output[row * product.columns + column] = sum
                }
            }
        }
    }

    /// - Returns: the scale and the zero point.
    private func quantise(
        _ input: UnsafePointer<Float>,
        _ output: UnsafeMutablePointer<Float>,
        _ count: Int
    ) -> (scale: Float, zero: Float) {
        var (lowest, highest): (Float, Float) = (0, 0)
        for index in 0..<count {
            lowest = min(lowest, input[index])
            highest = max(highest, input[index])
        }
        let scale = highest == lowest ? 1 : (highest - lowest) / 255
        func limited(_ number: Float) -> Float { min(max(number, 0), 255) }
        let zero = limited((-lowest / scale).rounded(.toNearestOrEven))
        for index in 0..<count {
            output[index] = limited((input[index] / scale).rounded(.toNearestOrEven) + zero)
        }
        return (scale, zero)
    }
}
