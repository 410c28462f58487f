private import Glibc

extension FloatFunction {
    @inline(__always)
    func value(_ x: Float) -> Float {
        switch self {
        case .clamp(let lowest, let highest): min(max(x, lowest), highest)
        case .leaky(let slope, let lowest): max(x < 0 ? x * slope : x, lowest)
        case .logistic: 1 / (1 + expf(-x))
        case .tanh: tanhf(x)
        case .errorFunction: erff(x)
        case .squareRoot: x.squareRoot()
        case .exponential: expf(x)
        case .logarithm: logf(x)
        case .negative: -x
        case .absolute: abs(x)
        case .reciprocal: 1 / x
        case .power(let exponent): exponent == 2 ? x * x : powf(x, exponent)
        case .elu(let scale): x < 0 ? scale * expm1f(x) : x
        case .softplus: max(x, 0) + log1pf(expf(-abs(x)))
        }
    }

    /// Applies it to `count` numbers; the output may be the input.
    func apply(_ input: UnsafePointer<Float>, to output: UnsafeMutablePointer<Float>, _ count: Int) {
        if case .leaky(let slope, let lowest) = self {
            // The speech embedding's: alone in the loop and in place, so that it is in vectors.
            if input != UnsafePointer(output) { output.update(from: input, count: count) }
            for index in 0..<count {
                let x = output[index]
                output[index] = max(x < 0 ? x * slope : x, lowest)
            }
            return
        }
        for index in 0..<count { output[index] = value(input[index]) }
    }
}

extension FloatCombination {
    @inline(__always)
    func value(_ a: Float, _ b: Float) -> Float {
        switch self {
        case .add: a + b
        case .subtract: a - b
        case .multiply: a * b
        case .divide: a / b
        case .power: b == 2 ? a * a : powf(a, b)
        case .maximum: max(a, b)
        case .minimum: min(a, b)
        case .greater: a > b ? 1 : 0
        case .greaterOrEqual: a >= b ? 1 : 0
        case .less: a < b ? 1 : 0
        case .lessOrEqual: a <= b ? 1 : 0
        case .equal: a == b ? 1 : 0
        }
    }
}

extension FloatReduction {
    /// Adds a member of `count` groups, `stride` numbers from one to the next, to their results.
    @inline(__always)
    func add(_ members: UnsafePointer<Float>, stride: Int, to results: UnsafeMutablePointer<Float>, _ count: Int) {
        switch (self, stride) {
        case (.maximum, 1): for index in 0..<count { results[index] = max(results[index], members[index]) }
        case (.maximum, _): for index in 0..<count { results[index] = max(results[index], members[index * stride]) }
        case (_, 1): for index in 0..<count { results[index] += members[index] }
        default: for index in 0..<count { results[index] += members[index * stride] }
        }
    }
}
