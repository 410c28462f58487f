// Rows of numbers, of which each is predicted from the two rows before it, and what it differs by is entropy-coded: asymmetric numeral
// systems (Duda 2013) with a state for each component, so that encoder and decoder take a row's components in order.

/// What decodes rows; the lists are `[components]`, or `[components × …]`.
public struct RowCode: Sendable {
    /// Numbers of a row.
    public let components: Int
    /// A component is predicted as so many times its last value, and so many times the one before.
    public let predictor: (last: [Float], before: [Float])
    /// From one whole number of the code to the next.
    public let step: Float
    /// What a component's values are divided by to become 8-bit integers.
    public let units: [Float]
    /// The symbols of a component are this many numbers on either side of 0.
    public let reach: Int
    /// Of each symbol: how often of ``total`` it occurs, and how often those before it do together, `[components × symbols]`.
    private let frequencies: [UInt16]
    private let starts: [UInt16]
    /// The symbol at each place of ``total``, `[components × total]`.
    private let symbols: [UInt8]

    /// The sum of a component's frequencies.
    public static let total = 1 << 12
    /// A state is refilled by 16 bits where it is below this.
    private static let least: UInt32 = 1 << 16

    /// - Parameters:
    ///   - frequencies: `[components × (2 reach + 1)]`; those of a component sum to ``total``.
    /// - Returns: nil where the lists do not fit each other.
    public init?(
        predictor: (last: [Float], before: [Float]),
        step: Float,
        units: [Float],
        reach: Int,
        frequencies: [Int]
    ) {
        let count = 2 * reach + 1
        components = predictor.last.count
        guard components > 0, (1...127).contains(reach), units.count == components,
            predictor.before.count == components,
            frequencies.count == components * count, units.allSatisfy({ $0 > 0 }),
            frequencies.allSatisfy((0...Self.total).contains)
        else { return nil }
        var starts: [UInt16] = []
        var symbols: [UInt8] = []
        for component in 0..<components {
            for symbol in 0..<count {
                let frequency = frequencies[component * count + symbol]
                starts.append(UInt16(truncatingIfNeeded: symbols.count - component * Self.total))
                symbols += repeatElement(UInt8(symbol), count: frequency)
                guard symbols.count <= (component + 1) * Self.total else { return nil }
            }
            guard symbols.count == (component + 1) * Self.total else { return nil }
        }
        (self.predictor, self.step, self.units, self.reach) = (predictor, step, units, reach)
        (self.starts, self.symbols) = (starts, symbols)
        self.frequencies = frequencies.map { UInt16($0) }
    }

    /// Decodes rows to 8-bit integers, which ``units`` scale.
    ///
    /// - Parameters:
    ///   - code: 32 bits for each state, then words of 16 bits; little-endian.
    ///   - stride: from one row of the target to the next.
    ///   - target: zeros, `[rows × stride]`.
    /// - Returns: whether the code is whole: it is as long as it should be, and ends as encoders begin.
    public func decode(
        _ code: UnsafeRawBufferPointer,
        rows: Int,
        to target: UnsafeMutablePointer<Int8>,
        stride: Int
    ) -> Bool {
        var place = 4 * components
        guard code.count >= place else { return false }
        var states = (0..<components).map {
            UInt32(littleEndian: code.loadUnaligned(fromByteOffset: 4 * $0, as: UInt32.self))
        }
        var (last, before) = ([Float](repeating: 0, count: components), [Float](repeating: 0, count: components))
        let count = 2 * reach + 1
        for row in 0..<rows {
            for component in 0..<components {
                var state = states[component]
                let slot = Int(state) & (Self.total - 1)
                let symbol = Int(symbols[component * Self.total + slot])
                let entry = component * count + symbol
                state = UInt32(frequencies[entry]) &* (state >> 12) &+ UInt32(slot) &- UInt32(starts[entry])
                if state < Self.least {
                    guard place + 2 <= code.count else { return false }
                    let word = UInt16(littleEndian: code.loadUnaligned(fromByteOffset: place, as: UInt16.self))
                    state = state << 16 | UInt32(word)
                    place += 2
                }
                states[component] = state
                let predicted =
                    predictor.last[component] * last[component] + predictor.before[component] * before[component]
                let value = predicted + step * Float(symbol - reach)
                before[component] = last[component]
                last[component] = value
                let whole = max(-127, min(127, value / units[component]))
                target[row * stride + component] = Int8(truncatingIfNeeded: Int32((whole + 0x1.8p23).bitPattern & 0xFF))
            }
        }
        // The encoder began with these states.
        return place == code.count && states.allSatisfy { $0 == Self.least }
    }
}
