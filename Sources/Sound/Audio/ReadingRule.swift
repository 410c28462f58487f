/// The one rule that tells how samples are read: for files, pipes, sound cards, Wyoming clients, and the library.
///
/// Whole numbers of 24 or 32 bits may hold 8 or 16 bits fewer: converters of 24 bits and programs that only widen samples leave the *low*
/// bits at 0, which needs no correction; others leave the *high* ones unused, and all words are 48 or 96 dB too quiet. Samples tell:
///
/// - Louder than −48 dB: all bits are used. So it is with nearly all audio, within the first word.
/// - Never negative, and four times as smooth where the upper half is taken for negative: the sign was not extended.
/// - Below −48 dB, and like speech: it rises by 10 dB for 100 ms, and falls again. Then it is read as 8 bits fewer, and where it is below
///   −96 dB as 16 fewer. It may be very quiet speech of a good converter: then it is louder now, and nothing is lost.
/// - Below −48 dB, steady, and loud if it is read so, with bits that no converter of 24 bits sets: the same.
/// - Else it is very quiet, or cannot be told: it stays as it is declared. A quiet room with noise of −90 dB is such audio. If nothing
///   louder comes there is a warning.
///
/// Floats are of full scale ±1, and may exceed it. Some programs write whole numbers of 16, 24 or 32 bits as floats:
///
/// - Whole numbers for a second, and not only −1, 0 and 1: the scale is the least that an eighth of the samples does not exceed twofold in
///   four fifths of that second.
/// - Other numbers are on such a scale where an eighth of the samples is beyond 128 for a fifth of the second: no amplified speech is.
/// - Else it is ±1, and what is beyond ±8 is a pop, which is clipped. No single sample decides, nor a pop of less than half a second.
struct ReadingRule: Sendable {
    /// What slices of 20 ms say, of which the newest with sound are kept.
    static let slices = 50
    /// So many samples show a thing; fewer may be damage.
    private static let enough = 8

    let declared: SampleReading.Declared
    private let channels: Int
    /// Samples of 20 ms, of all channels.
    let sliceSamples: Int
    /// 2 to the number of bits less one, or 1 for floats.
    private let unit: Float

    // Of the slice that is being filled.
    private var filled = 0
    private var isSounding = false
    private var slicePeak: Float = 0
    /// The energy of the difference of neighbours, which is that of speech and not of rumble: of the samples, and of them if their sign is that
    /// of 8 or of 16 bits fewer.
    private var energies = (signed: Float(0), by8: Float(0), by16: Float(0))
    private var former: [Float]
    private var place = 0
    private var whole = 0
    private var sounding = 0
    /// Floats beyond 2⁷, 2¹⁶ and 2²⁴.
    private var beyond = (Int(0), Int(0), Int(0))

    // Of the slices so far.
    private(set) var soundingSlices = 0
    /// Slices since the first one with sound.
    private var elapsed = 0
    /// The exponent of the scale that floats seem to have, until it is told.
    private(set) var provisional = 0
    /// Floats that are no whole numbers.
    private var fractions = 0
    private var silentSlices = 0
    private var history: [Float]
    private var scratch: [Float]
    private var sums = (signed: Float(0), by8: Float(0), by16: Float(0))
    private var negatives = 0
    /// Samples that do not fit with 8 and 16 bits fewer, and those that fit only without a sign.
    private var tooLarge = (by8: Int(0), by16: Int(0))
    private var upper = (by8: Int(0), by16: Int(0))
    /// Samples that are louder than −16 dB with 8 and with 16 bits fewer.
    private var loud = (by8: Int(0), by16: Int(0))
    private var all = 0
    private var usesLowest = 0
    private(set) var peak: Float = 0

    init(_ declared: SampleReading.Declared, rate: Int, channels: Int) {
        self.declared = declared
        self.channels = max(1, channels)
        sliceSamples = max(1, rate / 50) * max(1, channels)
        unit = declared.bits == 0 ? 1 : Float(sign: .plus, exponent: declared.bits - 1, significand: 1)
        former = [Float](repeating: 0, count: max(1, channels))
        history = [Float](repeating: 0, count: Self.slices)
        scratch = history
    }

    /// Samples that are missing in the slice.
    var left: Int { sliceSamples - filled }

    /// Whether audio goes on that is too quiet to tell.
    var isQuiet: Bool { declared != .floats && peak >= 16 && peak < unit / 256 }

    /// Takes the next samples, at most ``left``. Returns whether the slice is complete.
    mutating func add(_ samples: UnsafeBufferPointer<Float>) -> Bool {
        if declared == .floats { addFloats(samples) } else { addIntegers(samples) }
        filled += samples.count
        guard filled >= sliceSamples else { return false }
        endSlice()
        return true
    }

    private mutating func addFloats(_ samples: UnsafeBufferPointer<Float>) {
        for sample in samples {
            let size = sample.magnitude
            guard size > 0 else { continue }
            sounding += 1
            slicePeak = max(slicePeak, size)
            if size == size.rounded(.towardZero) { whole += 1 } else { fractions += 1 }
            if size > 0x1p7 { beyond.0 += 1 }
            if size > 0x1p16 { beyond.1 += 1 }
            if size > 0x1p24 { beyond.2 += 1 }
        }
        isSounding = sounding * 16 >= sliceSamples && !(slicePeak == 1 && whole == sounding)
    }

    private mutating func addIntegers(_ samples: UnsafeBufferPointer<Float>) {
        let (half8, half16) = (unit * 0x1p-8, unit * 0x1p-16)
        let mayBeUnsigned = negatives < Self.enough
        for sample in samples {
            let value = sample * unit
            let last = former[place]
            former[place] = value
            place = place + 1 == channels ? 0 : place + 1
            let step = value - last
            energies.signed += step * step
            if mayBeUnsigned {
                let step8 = Self.fold(value, half8) - Self.fold(last, half8)
                let step16 = Self.fold(value, half16) - Self.fold(last, half16)
                energies.by8 += step8 * step8
                energies.by16 += step16 * step16
            }
            guard value != 0 else { continue }
            isSounding = true
            let size = value.magnitude
            peak = max(peak, size)
            all += 1
            if value < 0 { negatives += 1 }
            if size >= half8 {
                if value > 0, value < 2 * half8 { upper.by8 += 1 } else if value != -half8 { tooLarge.by8 += 1 }
            }
            if size >= half16 {
                if value > 0, value < 2 * half16 { upper.by16 += 1 } else if value != -half16 { tooLarge.by16 += 1 }
            }
            if size >= half8 * 0.16 { loud.by8 += 1 }
            if size >= half16 * 0.16 { loud.by16 += 1 }
            // Larger ones are rounded.
            if size < 0x1p24, Int32(value) & 0xFF != 0 { usesLowest += 1 }
        }
    }

    private static func fold(_ value: Float, _ half: Float) -> Float {
        value >= half && value < 2 * half ? value - 2 * half : value
    }

    private mutating func endSlice() {
        elapsed += isSounding || elapsed > 0 ? 1 : 0
        if isSounding {
            history[soundingSlices % Self.slices] = declared == .floats ? floatSlice : energies.signed
            soundingSlices += 1
            silentSlices = 0
            sums = (sums.signed + energies.signed, sums.by8 + energies.by8, sums.by16 + energies.by16)
        } else {
            silentSlices += 1
        }
        (filled, isSounding, slicePeak, energies) = (0, false, 0, (0, 0, 0))
        (whole, sounding, beyond) = (0, 0, (0, 0, 0))
    }

    /// The number of kept slices.
    private var kept: Int { min(soundingSlices, Self.slices) }

    /// How samples are to be read; nil while it cannot be told.
    ///
    /// - Parameters:
    ///   - isEnd: no more come, so that what came is enough. An incomplete slice counts.
    ///   - present: how they are read now; nil before the first decision.
    mutating func reading(isEnd: Bool, present: SampleReading? = nil) -> SampleReading? {
        if isEnd, filled > 0 { endSlice() }
        return declared == .floats ? floats(isEnd, present) : integers(isEnd, present)
    }

    // MARK: - Whole numbers

    private mutating func integers(_ isEnd: Bool, _ present: SampleReading?) -> SampleReading? {
        let isSigned = negatives >= Self.enough
        let least8 = tooLarge.by8 + (isSigned ? upper.by8 : 0)
        if least8 >= Self.enough { return SampleReading(declared) }
        if let present, present.unused == 8 || declared.bits == 24 { return present }
        let least16 = tooLarge.by16 + (isSigned ? upper.by16 : 0)
        let fits16 = declared.bits == 32 && least16 < Self.enough
        let unused = fits16 ? 16 : 8
        if let present { return fits16 ? present : SampleReading(declared, unused: 8, isUnsigned: present.isUnsigned) }
        if !isSigned, upper.by8 >= Self.enough || fits16 && upper.by16 >= Self.enough {
            let folded = upper.by8 >= Self.enough ? sums.by8 : sums.by16
            guard soundingSlices >= 10 || isEnd else { return nil }
            if folded * 4 < sums.signed {
                return SampleReading(declared, unused: upper.by8 >= Self.enough ? 8 : 16, isUnsigned: true)
            }
            return soundingSlices >= Self.slices || isEnd ? SampleReading(declared) : nil
        }
        if isLikeSpeech(isEnd) { return SampleReading(declared, unused: unused) }
        let loud = fits16 ? loud.by16 : loud.by8
        if declared.bits == 32, soundingSlices >= (isEnd ? 10 : Self.slices), usesLowest * 4 >= all, loud * 32 >= all,
            loud > 0
        {
            return SampleReading(declared, unused: unused)
        }
        return nil
    }

    /// Whether it rises by 10 dB for 100 ms and falls again, within the newest second with sound.
    private mutating func isLikeSpeech(_ isEnd: Bool) -> Bool {
        let count = kept
        guard count >= (isEnd ? 4 : 10) else { return false }
        // Sorted by insertion, which allocates nothing.
        for index in 0..<count {
            let energy = history[index]
            var place = index
            while place > 0, scratch[place - 1] > energy {
                scratch[place] = scratch[place - 1]
                place -= 1
            }
            scratch[place] = energy
        }
        // Steps of samples that are mostly 0 and 1.
        let floor = max(scratch[count / 5], 0.1 * Float(sliceSamples))
        let limit = floor * 10
        var (high, quiet) = (0, 0)
        for index in 0..<count where history[index] >= limit { high += 1 }
        while quiet < count, history[(soundingSlices - 1 - quiet) % Self.slices] < limit { quiet += 1 }
        return high >= (isEnd ? 3 : 5) && (isEnd || quiet + silentSlices >= 3)
    }

    // MARK: - Floats

    /// What a slice is: 1 for whole numbers, and 2 for each scale that an eighth of its samples exceeds; ½ for what floats are to be.
    private var floatSlice: Float {
        func isMany(_ count: Int) -> Int { count * 8 >= sounding ? 1 : 0 }
        let level = isMany(beyond.0) + isMany(beyond.1) + isMany(beyond.2)
        if whole * 100 >= sounding * 99 { return Float(2 * level + 1) }
        return slicePeak <= 1 ? 0.5 : Float(2 * level)
    }

    private mutating func floats(_ isEnd: Bool, _ present: SampleReading?) -> SampleReading? {
        let count = kept
        var (wholes, usual, levels) = (0, 0, (0, 0, 0))
        for index in 0..<count {
            let slice = Int(history[index])
            if slice & 1 == 1 { wholes += 1 }
            if history[index] == 0.5 { usual += 1 }
            if slice >= 2 { levels.0 += 1 }
            if slice >= 4 { levels.1 += 1 }
            if slice >= 6 { levels.2 += 1 }
        }
        let isWhole = count > 0 && wholes * 10 >= count * 9
        provisional = isWhole && count >= 10 || fractions == 0 ? 15 : 0
        if present == nil, !isEnd {
            // At once where it is as it should be.
            if usual == count, count >= 10 { return SampleReading(declared) }
            guard elapsed >= Self.slices else { return nil }
            // A few pops in a second.
            if count < 10 {
                (soundingSlices, elapsed) = (0, 0)
                return nil
            }
            // Quiet noise may come before words, which tell.
            guard levels.0 >= 10 || usual * 2 >= count || !isWhole && elapsed >= 5 * Self.slices else { return nil }
        }
        // Later more is needed, so that it does not change by a pop.
        let many = present != nil ? Self.slices / (isWhole ? 5 : 2) : isEnd ? max(1, count / 5) : max(5, count / 5)
        var scale = levels.2 >= many ? 31 : levels.1 >= many ? 23 : levels.0 >= many ? 15 : 0
        if isWhole, present == nil || count == Self.slices { scale = max(scale, 15) }
        if let present { scale = max(scale, -present.unused) }
        return SampleReading(declared, unused: -scale)
    }
}
