import Glibc
import Inference

/// A published network that tells how a word is pronounced from how it is spelled, letter by letter: the package `hama`'s.
///
/// Recurrent layers read the letters in both directions; then others say sound after sound, each with attention to some letters.
struct SpellingNetwork: Sendable {
    private static let letterWidth = 80
    private static let letterStates = 2 * SpellingRecurrence.states
    private static let taps = 5
    private static let places = 11
    /// What a letter loses, in logits, for each letter that it is away from where the attention was.
    private static let distanceCost: Float = 0.1

    private let letters: SpellingMatrix
    private let depthwise: SpellingMatrix
    private let pointwise: SpellingMatrix
    private let frontNorm: SpellingNorm
    /// Of each layer forwards and backwards.
    private let encoder: [(forwards: SpellingRecurrence, backwards: SpellingRecurrence)]
    private let skip: SpellingMatrix
    private let encoderNorm: SpellingNorm
    private let keys: SpellingMatrix
    private let bridge: SpellingLayer
    private let sounds: SpellingMatrix
    private let decoder: [SpellingRecurrence]
    private let stateSkip: SpellingMatrix
    private let stateNorm: SpellingNorm
    private let query: SpellingMatrix
    private let location: SpellingMatrix
    private let place: SpellingMatrix
    private let energy: SpellingMatrix
    private let contextNorm: SpellingNorm
    private let fusion: SpellingLayer
    private let fusionNorm: SpellingNorm
    private let narrow: SpellingLayer
    private let output: SpellingMatrix

    /// - Parameters:
    ///   - letters: how many letters it knows.
    ///   - sounds: how many sounds.
    /// - Throws: `ModelError`, which names the file.
    init(path: String, letters count: Int, sounds soundCount: Int) throws(ModelError) {
        let weights = try SafeTensors(path: path)
        let (width, states, both) = (Self.letterWidth, SpellingRecurrence.states, Self.letterStates)
        letters = try SpellingMatrix(weights, "letters", count, width)
        depthwise = try SpellingMatrix(weights, "front.depthwise", width, Self.taps)
        pointwise = try SpellingMatrix(weights, "front.pointwise", width, width)
        frontNorm = try SpellingNorm(weights, "front.norm", width)
        var layers: [(forwards: SpellingRecurrence, backwards: SpellingRecurrence)] = []
        for layer in 0..<2 {
            let inputs = layer == 0 ? width : both
            layers.append(
                (
                    try SpellingRecurrence(weights, "encoder.\(layer).forward", inputs: inputs),
                    try SpellingRecurrence(weights, "encoder.\(layer).backward", inputs: inputs)
                )
            )
        }
        encoder = layers
        skip = try SpellingMatrix(weights, "encoder.skip", both, width)
        encoderNorm = try SpellingNorm(weights, "encoder.norm", both)
        keys = try SpellingMatrix(weights, "keys", states, both)
        bridge = try SpellingLayer(weights, "bridge", states, both)
        sounds = try SpellingMatrix(weights, "sounds", soundCount, width)
        decoder = [
            try SpellingRecurrence(weights, "decoder.0", inputs: width),
            try SpellingRecurrence(weights, "decoder.1", inputs: states),
        ]
        stateSkip = try SpellingMatrix(weights, "state.skip", states, width)
        stateNorm = try SpellingNorm(weights, "state.norm", states)
        query = try SpellingMatrix(weights, "attention.query", states, states)
        location = try SpellingMatrix(weights, "attention.location", 16, Self.places)
        place = try SpellingMatrix(weights, "attention.place", states, 16)
        energy = try SpellingMatrix(weights, "attention.energy", 1, states)
        contextNorm = try SpellingNorm(weights, "context.norm", both)
        fusion = try SpellingLayer(weights, "fusion", states, states + both)
        fusionNorm = try SpellingNorm(weights, "fusion.norm", states)
        narrow = try SpellingLayer(weights, "output.in", width, states)
        output = try SpellingMatrix(weights, "output.weight", soundCount, width)
    }

    /// A word as the second half of the network needs it.
    struct Word {
        fileprivate let states: [[Float]]
        fileprivate let keys: [[Float]]
        fileprivate let first: State
    }

    /// What the network knows after some sounds.
    struct State {
        fileprivate var hidden: [[Float]]
        /// Of each letter.
        fileprivate var attention: [Float]
    }

    /// Reads a word.
    ///
    /// - Parameter word: numbers of letters, at least one.
    func read(_ word: [Int]) -> Word {
        let vectors = word.map(letters.row)
        let mixed = vectors.indices.map { place in
            var vector = [Float](repeating: 0, count: Self.letterWidth)
            for tap in 0..<Self.taps {
                let other = place + tap - Self.taps / 2
                guard vectors.indices.contains(other) else { continue }
                for index in vector.indices { vector[index] += vectors[other][index] * depthwise.row(index)[tap] }
            }
            return frontNorm(sum(vectors[place], pointwise(vector)))
        }
        var states = mixed
        // Each layer that says sounds begins with what the layer of letters below it ended with.
        var hidden: [[Float]] = []
        for layer in encoder {
            let forwards = layer.forwards.states(states)
            let backwards = Array(layer.backwards.states(states.reversed()).reversed())
            states = zip(forwards, backwards).map { $0 + $1 }
            hidden.append(bridge((forwards.last ?? []) + (backwards.first ?? [])).map { tanhf($0) })
        }
        let outputs = zip(states, mixed).map { encoderNorm(sum($0, skip($1))) }
        let even = [Float](repeating: 1 / Float(word.count), count: word.count)
        return Word(
            states: outputs,
            keys: outputs.map(keys.callAsFunction),
            first: State(hidden: hidden, attention: even)
        )
    }

    /// The state before the first sound.
    func start(_ word: Word) -> State { word.first }

    /// The log-probabilities of the sounds after one, `[sounds]`, and the state then.
    func next(after sound: Int, _ state: State, _ word: Word) -> (logarithms: [Float], state: State) {
        let vector = sounds.row(sound)
        let lower = decoder[0](vector, after: state.hidden[0])
        let upper = decoder[1](lower, after: state.hidden[1])
        let summed = stateNorm(sum(upper, stateSkip(vector)))
        let asked = query(summed)
        let centre = state.attention.enumerated().reduce(Float(0)) { $0 + Float($1.offset) * $1.element }
        let energies = word.keys.indices.map { letter in
            let around = (0..<Self.places).map { tap in
                let other = letter + tap - Self.places / 2
                return state.attention.indices.contains(other) ? state.attention[other] : 0
            }
            let sums = sum(sum(asked, word.keys[letter]), place(location(around)))
            let value = energy(sums.map { tanhf($0) })[0]
            return value - Self.distanceCost * abs(Float(letter) - centre)
        }
        let attention = logSoftmax(energies).map { expf($0) }
        var context = [Float](repeating: 0, count: Self.letterStates)
        for (weight, letter) in zip(attention, word.states) {
            for index in context.indices { context[index] += weight * letter[index] }
        }
        let fused = fusionNorm(fusion(summed + contextNorm(context)).map { tanhf($0) })
        return (logSoftmax(output(narrow(fused))), State(hidden: [lower, upper], attention: attention))
    }
}

private func logSoftmax(_ logits: [Float]) -> [Float] {
    let highest = logits.max() ?? 0
    let offset = highest + logf(logits.reduce(0) { $0 + expf($1 - highest) })
    return logits.map { $0 - offset }
}
