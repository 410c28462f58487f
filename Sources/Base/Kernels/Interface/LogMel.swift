import Glibc

/// The largest number of frames that a kernel transforms at once, one per lane: the 8 frames of a 100 ms hop.
public let maxFramesAtOnce = 8

/// Where the bands of a log-mel front end lie, and how high their filters are.
public enum MelScale: Sendable, Equatable {
    /// HTK's scale, and filters of height 1.
    case htk
    /// Slaney's scale, linear below 1 kHz and logarithmic above, and filters of area 1 (in hertz).
    case slaney

    func mel(_ hertz: Double) -> Double {
        switch self {
        case .htk: 2595 * log10(1 + hertz / 700)
        case .slaney: hertz < 1000 ? hertz * 3 / 200 : 15 + 27 * log(hertz / 1000) / log(6.4)
        }
    }

    func hertz(_ mel: Double) -> Double {
        switch self {
        case .htk: 700 * (pow(10, mel / 2595) - 1)
        case .slaney: mel < 15 ? mel * 200 / 3 : 1000 * exp((mel - 15) * log(6.4) / 27)
        }
    }
}

/// Geometry of the log-mel front end: `feature = (ln(energy of a band + floor) − mean) / deviation`.
///
/// The caller has validated it: `fftSize` is a power of two from 64 to 4096, `1 ≤ frameSamples ≤ fftSize`,
/// `0 ≤ lowHertz < highHertz ≤ sampleRate / 2`, and `floor` and `deviation` are positive normal numbers.
public struct LogMelShape: Sendable, Equatable {
    public var sampleRate: Double
    public var frameSamples: Int
    public var hopSamples: Int
    public var fftSize: Int
    public var bands: Int
    public var lowHertz: Double
    public var highHertz: Double
    public var scale: MelScale
    public var floor: Float
    public var mean: Float
    public var deviation: Float

    public init(
        sampleRate: Double,
        frameSamples: Int,
        hopSamples: Int,
        fftSize: Int,
        bands: Int,
        lowHertz: Double,
        highHertz: Double,
        scale: MelScale = .htk,
        floor: Float,
        mean: Float,
        deviation: Float
    ) {
        self.sampleRate = sampleRate
        self.frameSamples = frameSamples
        self.hopSamples = hopSamples
        self.fftSize = fftSize
        self.bands = bands
        self.lowHertz = lowHertz
        self.highHertz = highHertz
        self.scale = scale
        self.floor = floor
        self.mean = mean
        self.deviation = deviation
    }

    /// Floats of scratch memory that `KernelSet.LogMel` needs, 64-byte aligned.
    public var scratchCount: Int {
        (FourierShape(size: fftSize).scratchCount + fftSize / 2 + 1) * maxFramesAtOnce
    }

    /// Corner frequencies of the triangular filters in hertz: `bands + 2` points, evenly spaced on the mel scale.
    public func filterBorders() -> [Double] {
        let low = scale.mel(lowHertz)
        let step = (scale.mel(highHertz) - low) / Double(bands + 1)
        return (0..<(bands + 2)).map { scale.hertz(low + step * Double($0)) }
    }

    /// The periodic Hann window, `[frameSamples]`.
    public func window() -> [Double] {
        (0..<frameSamples).map { 0.5 - 0.5 * cos(2 * Double.pi * Double($0) / Double(frameSamples)) }
    }

    /// Weight of an FFT bin in a band's triangular filter: 0 at `borders[band]`, its height at `borders[band + 1]`, 0 at
    /// `borders[band + 2]`, linear in hertz between them.
    public func filterWeight(band: Int, bin: Int, borders: [Double]) -> Double {
        let hertz = Double(bin) * sampleRate / Double(fftSize)
        let rising = (hertz - borders[band]) / (borders[band + 1] - borders[band])
        let falling = (borders[band + 2] - hertz) / (borders[band + 2] - borders[band + 1])
        let height = scale == .slaney ? 2 / (borders[band + 2] - borders[band]) : 1
        return height * max(0, min(rising, falling))
    }
}

/// Geometry of an FFT of `size` real samples, a power of two from 64 to 4096.
///
/// It runs as a complex FFT of half the size over (even, odd) sample pairs, in Stockham passes of radix 4 (and one of radix 2
/// where needed), which leave the result in natural order.
public struct FourierShape {
    public var size: Int

    public init(size: Int) { self.size = size }

    public var half: Int { size / 2 }

    /// Floats of the twiddle table: three complex factors per butterfly position of each radix-4 pass, then one per bin up to half
    /// the Nyquist frequency for the step from complex to real.
    public var tableCount: Int {
        var count = 2 * (half / 2 + 1)
        var length = half
        while length >= 4 {
            count += 6 * (length / 4)
            length /= 4
        }
        return count
    }

    /// Vectors of scratch memory: two complex arrays of half the size.
    public var scratchCount: Int { 4 * half }
}

/// Window, twiddle factors and filters of a log-mel front end, computed once in double precision.
///
/// Immutable after `init`, and therefore safe to share between threads.
public struct LogMelTables: ~Copyable, @unchecked Sendable {
    public let shape: LogMelShape
    /// The window, the twiddle factors, then the filter weights band by band.
    private let floats: UnsafeMutablePointer<Float>
    /// First bin and number of bins of every band, `[bands × 2]`.
    public let spans: UnsafeMutablePointer<Int32>

    public var window: UnsafePointer<Float> { UnsafePointer(floats) }
    public var twiddles: UnsafePointer<Float> { window + shape.frameSamples }
    public var filters: UnsafePointer<Float> { twiddles + FourierShape(size: shape.fftSize).tableCount }

    public init(shape: LogMelShape) {
        self.shape = shape
        var table = shape.window().map(Float.init)
        table += LogMelTables.twiddles(FourierShape(size: shape.fftSize))
        let borders = shape.filterBorders()
        spans = .allocate(capacity: 2 * shape.bands)
        for band in 0..<shape.bands {
            let weights = (0...(shape.fftSize / 2)).map { shape.filterWeight(band: band, bin: $0, borders: borders) }
            let first = weights.firstIndex { $0 > 0 } ?? 0
            let last = weights.lastIndex { $0 > 0 } ?? -1
            spans[2 * band] = Int32(first)
            spans[2 * band + 1] = Int32(last - first + 1)
            if last >= first { table += weights[first...last].map(Float.init) }
        }
        floats = .allocate(capacity: table.count)
        floats.initialize(from: table, count: table.count)
    }

    deinit {
        floats.deallocate()
        spans.deallocate()
    }

    private static func twiddles(_ shape: FourierShape) -> [Float] {
        var table: [Float] = []
        func append(_ numerator: Int, over denominator: Int) {
            let angle = -2 * Double.pi * Double(numerator) / Double(denominator)
            table += [Float(cos(angle)), Float(sin(angle))]
        }
        var length = shape.half
        while length >= 4 {
            for position in 0..<(length / 4) {
                for power in 1...3 { append(power * position, over: length) }
            }
            length /= 4
        }
        for bin in 0...(shape.half / 2) { append(bin, over: shape.size) }
        return table
    }
}
