/// How samples are read whose declaration does not say it, or says it wrongly: a factor, and where the sign stands.
///
/// Samples are numbers of full scale ±1 by their declaration. ``ReadingRule`` chooses the reading.
public struct SampleReading: Equatable, Sendable, BitwiseCopyable {
    /// What the header, or the caller, says that samples are.
    public enum Declared: Equatable, Sendable, BitwiseCopyable {
        /// Whole numbers of 24 or 32 bits.
        case integers(bits: Int)
        /// Floating-point numbers of full scale ±1.
        case floats

        /// Nil for a layout that leaves nothing to tell: of 8 or 16 bits.
        public init?(_ layout: SampleLayout) {
            switch layout {
            case .u8, .s8, .s16: return nil
            case .s24, .s24le32: self = .integers(bits: 24)
            case .s32: self = .integers(bits: 32)
            case .f32, .f64: self = .floats
            }
        }

        var bits: Int { if case .integers(let bits) = self { bits } else { 0 } }
    }

    public let declared: Declared
    /// Bits of a sample that are not used: it is read as so many times 2 larger. Negative for floats that are larger than ±1.
    var unused = 0
    /// Whether the sign was not extended: from half of the bits that are used on, a sample is negative.
    var isUnsigned = false

    init(_ declared: Declared, unused: Int = 0, isUnsigned: Bool = false) {
        self.declared = declared
        (self.unused, self.isUnsigned) = (unused, isUnsigned)
    }

    /// Floats beyond it are clipped: a pop. Those of full scale 1 may exceed that by as much as 18 dB.
    static let headroom: Float = 8

    var gain: Float { Float(sign: .plus, exponent: unused, significand: 1) }

    /// Whether samples are what is declared.
    public var isDeclared: Bool { unused == 0 }

    /// A sample that is read so.
    func value(_ sample: Float) -> Float {
        var sample = sample * gain
        if case .floats = declared { return max(-Self.headroom, min(Self.headroom, sample)) }
        if unused == 0 { return sample }
        if isUnsigned, sample >= 1 { sample -= 2 }
        return max(-1, min(1, sample))
    }

    /// The line of a warning; nil where samples are what is declared.
    public func warning(_ source: String) -> String? {
        guard case .integers(let bits) = declared else {
            guard unused != 0 else { return nil }
            return
                "\(source) holds floats of up to ±\(Int(1 / gain)), and not ±1; it is read on that scale: write it with floats of ±1, or as 16 bits"
        }
        switch (bits, unused) {
        case (_, 0): return nil
        case (32, 8):
            return
                "\(source) is declared as 32 bits and holds 24 (arecord --format S24_LE); it is read as 24: record with S16_LE or S32_LE, or give "
                + "--raw RATE,N,s24le32 without a header"
        default:
            return
                "\(source) is declared as \(bits) bits and holds \(bits - unused); it is read as \(bits - unused): record with S16_LE, or write it "
                + "as \(bits - unused) bits"
        }
    }

    /// The line for audio that may hold fewer bits than it declares, and may as well be nearly silent.
    public func quietWarning(_ source: String) -> String? {
        guard case .integers(let bits) = declared, unused == 0 else { return nil }
        return
            "\(source) is declared as \(bits) bits and is never louder than 1/256 of that: if words are missing, it may hold fewer bits: record "
            + "with S16_LE, or with a higher capture volume"
    }
}
