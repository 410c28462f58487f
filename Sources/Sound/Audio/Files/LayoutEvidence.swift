/// Tells which bits of 4 bytes are used where the header declares 24: the low ones, as ALSA's `S24_LE`, or the high ones.
///
/// How samples are read that are declared as 32 bits, ``ReadingRule`` tells.
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

    /// The layout of audio that is declared as 24 bits in 4 bytes: the low ones, as ALSA has it, unless the lowest byte is never used.
    var of24In32: SampleLayout { isBeyond && !usesLowest ? .s32 : .s24le32 }
}
