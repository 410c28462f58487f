import Glibc
import Inference

/// A matrix, `[rows × columns]`.
struct SpellingMatrix: Sendable {
    let rows: Int
    let columns: Int
    private let numbers: [Float]

    init(_ weights: SafeTensors, _ name: String, _ rows: Int, _ columns: Int) throws(ModelError) {
        (self.rows, self.columns) = (rows, columns)
        numbers = try weights.floats(name, shape: [rows, columns])
    }

    /// A row.
    func row(_ index: Int) -> [Float] { Array(numbers[index * columns..<(index + 1) * columns]) }

    /// The product with a vector, `[columns]`; what is missing of a vector counts as 0.
    func callAsFunction(_ vector: [Float]) -> [Float] {
        let count = min(columns, vector.count)
        return (0..<rows).map { row in
            var sum: Float = 0
            for index in 0..<count { sum += numbers[row * columns + index] * vector[index] }
            return sum
        }
    }
}

/// A matrix and a bias, `NAME.weight` and `NAME.bias`.
struct SpellingLayer: Sendable {
    private let weights: SpellingMatrix
    private let bias: [Float]

    init(_ weights: SafeTensors, _ name: String, _ rows: Int, _ columns: Int) throws(ModelError) {
        self.weights = try SpellingMatrix(weights, name + ".weight", rows, columns)
        bias = try weights.floats(name + ".bias", shape: [rows])
    }

    func callAsFunction(_ vector: [Float]) -> [Float] { sum(weights(vector), bias) }
}

/// A normalisation of a vector with a scale and a shift.
struct SpellingNorm: Sendable {
    private let scale: [Float]
    private let shift: [Float]

    init(_ weights: SafeTensors, _ name: String, _ count: Int) throws(ModelError) {
        scale = try weights.floats(name + ".weight", shape: [count])
        shift = try weights.floats(name + ".bias", shape: [count])
    }

    func callAsFunction(_ vector: [Float]) -> [Float] {
        let count = Float(vector.count)
        let mean = vector.reduce(0, +) / count
        let variance = vector.reduce(0) { $0 + ($1 - mean) * ($1 - mean) } / count
        let factor = 1 / (variance + 1e-5).squareRoot()
        return vector.indices.map { (vector[$0] - mean) * factor * scale[$0] + shift[$0] }
    }
}

/// A recurrent layer with gates (GRU): update, reset, new.
struct SpellingRecurrence: Sendable {
    static let states = 96
    private let input: SpellingMatrix
    private let state: SpellingMatrix
    /// Of the input, then of the state.
    private let bias: [Float]

    init(_ weights: SafeTensors, _ name: String, inputs: Int) throws(ModelError) {
        input = try SpellingMatrix(weights, name + ".input", 3 * Self.states, inputs)
        state = try SpellingMatrix(weights, name + ".state", 3 * Self.states, Self.states)
        bias = try weights.floats(name + ".bias", shape: [6 * Self.states])
    }

    /// The next state.
    func callAsFunction(_ vector: [Float], after former: [Float]) -> [Float] {
        let count = Self.states
        let new = sum(input(vector), Array(bias[..<(3 * count)]))
        let old = sum(state(former), Array(bias[(3 * count)...]))
        return (0..<count).map { index in
            let update = sigmoid(new[index] + old[index])
            let reset = sigmoid(new[count + index] + old[count + index])
            let value = tanhf(new[2 * count + index] + reset * old[2 * count + index])
            return (1 - update) * value + update * former[index]
        }
    }

    /// The states after each of some vectors.
    func states(_ vectors: [[Float]]) -> [[Float]] {
        var state = [Float](repeating: 0, count: Self.states)
        return vectors.map { vector in
            state = self(vector, after: state)
            return state
        }
    }
}

func sum(_ one: [Float], _ other: [Float]) -> [Float] { zip(one, other).map { $0 + $1 } }

private func sigmoid(_ value: Float) -> Float { 1 / (1 + expf(-value)) }
