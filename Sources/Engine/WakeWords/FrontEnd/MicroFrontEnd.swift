/// The front end of microWakeWord's models: 40 mel bands every 10 ms, in integers.
///
/// A window of 30 ms, its power spectrum in mel bands from 125 to 7500 Hz, reduction of steady noise, automatic gain (PCAN), and
/// logarithm. All results equal those of the front end of TensorFlow Lite Micro, with the settings of microWakeWord. After `init`,
/// nothing allocates.
public struct MicroFrontEnd: ~Copyable {
    /// Numbers per hop.
    public static let bands = 40
    /// Samples at 16 kHz from one hop to the next.
    public static let hopSamples = 160
    static let windowSamples = 480

    /// Features of the newest window, `[bands]`: 64 times a natural logarithm. A step is 0.0390625 in the unit of microWakeWord's models.
    public private(set) var features = [UInt16](repeating: 0, count: bands)

    private let window = Memory<Int16>(FrontEndTables.window)
    private let samples = Memory<Int16>(windowSamples)
    /// Samples that are there; the next one is added after them.
    private var filled = 0
    private var fourier = FixedPointFourier()
    private let melBands = MelBands()
    private let energies = Memory<UInt32>(bands)
    private let noise = Memory<UInt32>(bands)
    private let gains = Memory<Int32>(FrontEndTables.gains)
    private let logarithms = Memory<Int32>(FrontEndTables.logarithms)

    public init() {}

    /// Returns to the state before the first sample.
    public mutating func reset() {
        samples.clear()
        noise.clear()
        filled = 0
        for band in features.indices { features[band] = 0 }
    }

    /// Adds a sample at 16 kHz.
    ///
    /// - Returns: whether `features` are new, as after each 160 samples. The first window needs 480.
    public mutating func add(_ sample: Int16) -> Bool {
        samples.base[filled] = sample
        filled += 1
        guard filled == Self.windowSamples else { return false }
        let shift = applyWindow()
        fourier.transform(shift: shift)
        melBands.measure(fourier, shift: shift, into: energies.base)
        for band in 0..<Self.bands {
            let signal = reduceNoise(energies.base[band], band: band)
            features[band] = logarithm(applyGain(signal, noise: noise.base[band]))
        }
        filled -= Self.hopSamples
        samples.base.update(from: samples.base + Self.hopSamples, count: filled)
        return true
    }

    /// Writes the windowed samples into the transform's input.
    ///
    /// - Returns: by how many bits they can be shifted left so that the transform has most of its resolution.
    private func applyWindow() -> Int {
        let output = fourier.input.base
        var highest: Int16 = 0
        for index in 0..<Self.windowSamples {
            let product = (Int32(samples.base[index]) &* Int32(window.base[index])) >> FrontEndTables.windowBits
            let value = Int16(truncatingIfNeeded: product)
            output[index] = value
            // The least number has no counterpart, and does not count.
            highest = max(highest, value < 0 ? 0 &- value : value)
        }
        return highest.leadingZeroBitCount - 1
    }

    /// Subtracts the steady part of a band, which is learnt from 2.5 % of each frame in even bands and from 6 % in odd ones. 5 % of the
    /// signal always remain.
    private func reduceNoise(_ signal: UInt32, band: Int) -> UInt32 {
        let bits = FrontEndTables.noiseBits
        let share = UInt64(band & 1 == 0 ? 409 : 983)
        let scaled = signal &<< FrontEndTables.smoothingBits
        let mixed = UInt64(scaled) &* share &+ UInt64(noise.base[band]) &* ((1 << bits) &- share)
        let estimate = UInt32(truncatingIfNeeded: mixed &>> bits)
        noise.base[band] = estimate
        let rest = (scaled &- min(estimate, scaled)) &>> FrontEndTables.smoothingBits
        let least = UInt32(truncatingIfNeeded: (UInt64(signal) &* 819) &>> bits)
        return max(rest, least)
    }

    /// Multiplies by a gain that falls with the noise, and compresses what is near the noise to a square.
    private func applyGain(_ signal: UInt32, noise: UInt32) -> UInt32 {
        let gain = UInt32(bitPattern: Int32(FrontEndTables.gain(of: noise, table: gains.base)))
        let ratio = UInt32(truncatingIfNeeded: (UInt64(signal) &* UInt64(gain)) &>> 6)
        return ratio < 2 << 12 ? (ratio &* ratio) &>> 20 : (ratio &>> 6) &- 64
    }

    /// 64 · ln(8 · value), for values above 0.
    private func logarithm(_ value: UInt32) -> UInt16 {
        let scaled = value &<< 3
        guard scaled > 1 else { return 0 }
        let whole = 31 - scaled.leadingZeroBitCount
        let rest = Int32(bitPattern: scaled ^ (1 &<< UInt32(whole)))
        let fraction = whole < 16 ? rest &<< Int32(16 - whole) : rest &>> Int32(whole - 16)
        let segment = Int(fraction >> 9)
        let (low, high) = (logarithms.base[segment], logarithms.base[segment + 1])
        let between = ((high - low) &* (fraction & 511)) >> 16
        let base2 = UInt64(whole) << 16 + UInt64(fraction + low + between)
        let natural = (base2 &* FrontEndTables.naturalOfBase2 &+ 32768) &>> 16
        return UInt16(clamping: (natural &<< 6 &+ 32768) &>> 16)
    }
}
