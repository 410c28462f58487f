import Glibc

/// The newest two seconds of what is played at 16 kHz, which can be read at any place between two samples.
///
/// Nothing allocates after `init`.
struct ReferenceLine {
    private static let capacity = 1 << 15
    /// Samples that a place between two samples depends on, and places in between for which weights are stored.
    static let taps = 32
    private static let phases = 128

    private var samples: [Float]
    /// Windowed sinc functions, `[phases + 1 × taps]`.
    private let weights: [Float]
    /// Samples so far.
    private(set) var count = 0

    /// - Parameter isUsed: whether anything will be added; without that, it takes no memory.
    init(isUsed: Bool = true) {
        samples = [Float](repeating: 0, count: isUsed ? Self.capacity : 0)
        guard isUsed else {
            weights = []
            return
        }
        var weights: [Float] = []
        let half = Double(Self.taps / 2)
        for phase in 0...Self.phases {
            for tap in 0..<Self.taps {
                let place = Double(tap) - half + 1 - Double(phase) / Double(Self.phases)
                let window = max(0, 1 - (place / half) * (place / half))
                let sinc = place == 0 ? 1 : sin(.pi * place) / (.pi * place)
                weights.append(Float(sinc * Self.bessel(9 * window.squareRoot()) / Self.bessel(9)))
            }
        }
        self.weights = weights
    }

    /// The modified Bessel function of order 0, of which Kaiser's window is made.
    private static func bessel(_ x: Double) -> Double {
        var (sum, term, order) = (1.0, 1.0, 1.0)
        while term > 1e-12 * sum {
            term *= x * x / (4 * order * order)
            sum += term
            order += 1
        }
        return sum
    }

    mutating func add(_ new: Span<Float>) {
        for index in new.indices {
            samples[count & (Self.capacity - 1)] = new[index]
            count += 1
        }
    }

    mutating func reset() {
        for index in samples.indices { samples[index] = 0 }
        count = 0
    }

    /// The value at a place, in samples since the beginning; 0 where there is none. Without the samples after a place, the one before it.
    func value(at place: Double) -> Float {
        let whole = place.rounded(.down)
        let index = Int(whole)
        let fraction = (place - whole) * Double(Self.phases)
        guard fraction > 0, index + Self.taps / 2 < count else { return sample(index) }
        let phase = Int(fraction)
        let share = Float(fraction - Double(phase))
        var sum: Float = 0
        for tap in 0..<Self.taps {
            let left = weights[phase * Self.taps + tap]
            let right = weights[(phase + 1) * Self.taps + tap]
            sum += sample(index + tap - Self.taps / 2 + 1) * (left + (right - left) * share)
        }
        return sum
    }

    private func sample(_ index: Int) -> Float {
        guard index >= 0, index < count, index >= count - Self.capacity else { return 0 }
        return samples[index & (Self.capacity - 1)]
    }
}
