import Core

/// Tells how samples of 4 bytes are laid out whose header does not: 24 bits in the low 3 bytes, or 32 bits.
///
/// arecord since alsa-utils 1.2.10 declares `S24_LE` as 32 bits. Samples that all lie within 24 bits, and use the lowest byte, are
/// read as such: as 32 bits they would never be louder than −48 dBFS, and 24-bit converters leave the lowest byte of 32 at 0.
struct LayoutEvidence: Equatable, Sendable {
    /// A sample needs more than 24 bits. The highest byte is a sign, or 0.
    private(set) var isBeyond = false
    /// A sample uses the lowest byte.
    private(set) var usesLowest = false
    /// Samples that are not 0.
    private(set) var sounding = 0
    private var phase = 0
    private var bits: UInt32 = 0

    /// Takes the next bytes, which may end within a sample; stops at one beyond 24 bits.
    mutating func add(_ bytes: some Sequence<UInt8>) {
        for byte in bytes {
            bits = bits >> 8 | UInt32(byte) << 24
            phase += 1
            guard phase == 4 else { continue }
            phase = 0
            guard bits != 0 else { continue }
            sounding += 1
            if bits & 0xFF != 0 { usesLowest = true }
            let high = bits >> 24
            if high != 0, !(high == 0xFF && bits & 0x80_0000 != 0) { isBeyond = true }
        }
    }

    /// The line of a warning.
    static func warning(_ source: String) -> String {
        "\(source) is declared as 32 bits and holds 24 (arecord --format S24_LE); it is read as 24: record with S16_LE or S32_LE, or give "
            + "--raw RATE,N,s24le32 without a header"
    }

    /// The layout of audio that is declared as 32 bits.
    var of32Bits: SampleLayout { !isBeyond && usesLowest ? .s24le32 : .s32 }

    /// The layout of audio that is declared as 24 bits in 4 bytes: the low ones, as ALSA has it, unless the lowest byte is never used.
    var of24In32: SampleLayout { isBeyond && !usesLowest ? .s32 : .s24le32 }
}

/// The full scale of floating-point samples. It is 1; some programs write whole numbers as floats.
struct FloatScale: Equatable, Sendable {
    /// What samples are divided by.
    private(set) var fullScale: Float = 1

    /// Floats of full scale 1 may exceed it, by as much as 18 dB.
    private static let headroom: Float = 8
    private static let scales: [Float] = [0x1p15, 0x1p23, 0x1p31]

    /// Takes the largest magnitude of the next samples; returns whether the scale changed.
    mutating func add(peak: Float) -> Bool {
        guard peak > fullScale * Self.headroom, fullScale < 0x1p31 else { return false }
        fullScale = Self.scales.first { $0 > fullScale && peak <= $0 * 2 } ?? 0x1p31
        return true
    }

    /// The line of a warning.
    func warning(_ source: String) -> String {
        "\(source) holds floats of up to ±\(Int(fullScale)), and not ±1; it is read on that scale: write it with floats of ±1, or as 16 bits"
    }
}
