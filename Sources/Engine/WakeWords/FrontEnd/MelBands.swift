private import Glibc

/// Triangular mel filters over a power spectrum: square roots of 40 weighted sums.
struct MelBands: ~Copyable {
    /// The first frequency that counts; the band of each later one.
    private let first: Int
    private let end: Int
    /// The first frequency of each rising edge, `[bands + 2]`: the last is the end.
    private let edges: Memory<Int32>
    /// Weights of a frequency in the band whose edge falls there, and in that whose edge rises, in 4096ths, by frequency.
    private let falling: Memory<Int32>
    private let rising: Memory<Int32>

    init() {
        let count = MicroFrontEnd.bands + 1
        let (low, high) = (Self.mel125, Self.mel7500)
        let spacing = (high - low) / Float(count)
        let hertz = Float(0.5) * 16000 / Float(FixedPointFourier.size / 2)
        let centres = (0..<count).map { low + spacing * Float($0 + 1) }
        first = Int(1.5 + 125 / hertz)
        var edges = [Int32(first)]
        var falling = [Int32](repeating: 0, count: first)
        var rising = falling
        var frequency = first
        for (index, centre) in centres.enumerated() {
            let before = index == 0 ? low : centres[index - 1]
            while true {
                let mel = Self.mel(Float(frequency) * hertz)
                guard mel <= centre else { break }
                let weight = (centre - mel) / (centre - before)
                falling.append(Int32(floorf(weight * 4096 + 0.5)))
                rising.append(Int32(floorf((1 - weight) * 4096 + 0.5)))
                frequency += 1
            }
            edges.append(Int32(frequency))
        }
        end = frequency
        self.edges = Memory(edges)
        self.falling = Memory(falling)
        self.rising = Memory(rising)
    }

    /// The pitches of the outermost edges, as the C library's `log1pf` gives them: the weights depend on their last bits, and a compiler may
    /// compute constants in another precision.
    private static let (mel125, mel7500): (Float, Float) = (0x1.7256cep+7, 0x1.5aaaap+11)

    private static func mel(_ hertz: Float) -> Float { 1127 * Float(log1p(Double(hertz / 700))) }

    /// Writes the bands' amplitudes, `[bands]`.
    ///
    /// - Parameter shift: bits by which the transform's input was shifted left.
    func measure(_ fourier: borrowing FixedPointFourier, shift: Int, into amplitudes: UnsafeMutablePointer<UInt32>) {
        var rise: Int64 = 0
        for band in 0...MicroFrontEnd.bands {
            var (sum, next): (Int64, Int64) = (rise, 0)
            for frequency in Int(edges.base[band])..<Int(edges.base[band + 1]) {
                let (real, imaginary) = (Int32(fourier.real.base[frequency]), Int32(fourier.imaginary.base[frequency]))
                let power = Int64(real &* real &+ imaginary &* imaginary)
                sum = sum &+ power &* Int64(falling.base[frequency])
                next = next &+ power &* Int64(rising.base[frequency])
            }
            // The first sum is the falling edge of a band that does not exist.
            if band > 0 {
                amplitudes[band - 1] = Self.root(UInt64(bitPattern: sum)) &>> UInt32(truncatingIfNeeded: shift)
            }
            rise = next
        }
    }

    /// The square root to the nearest whole number, at most 65535 for numbers of 32 bits.
    private static func root(_ number: UInt64) -> UInt32 {
        var root = UInt64(Double(number).squareRoot())
        // The conversion rounds large numbers, up or down.
        while root > UInt64(UInt32.max) || root &* root > number { root -= 1 }
        while root < UInt64(UInt32.max), (root + 1) &* (root + 1) <= number { root += 1 }
        let highest: UInt64 = number >> 32 == 0 ? 0xFFFF : 0xFFFF_FFFF
        if number - root * root > root, root != highest { root += 1 }
        return UInt32(truncatingIfNeeded: root)
    }
}
