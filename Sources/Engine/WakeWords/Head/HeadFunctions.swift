private import Glibc

extension HeadFunction {
    @inline(__always)
    func value(_ x: Float) -> Float {
        switch self {
        case .clamp(let lowest, let highest): min(max(x, lowest), highest)
        case .leaky(let slope): x < 0 ? x * slope : x
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
}

extension HeadCombination {
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
