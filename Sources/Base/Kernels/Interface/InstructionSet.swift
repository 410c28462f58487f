/// The instruction set that kernels were compiled for, from the least capable to the most.
public enum InstructionSet: String, CaseIterable, Sendable, Comparable {
    /// Plain loops in double precision, one number at a time: the reference for tests.
    case scalar
    /// Instructions that every processor of the architecture has: SSE2 on x86-64, NEON on arm64.
    case baseline
    /// NEON with `sdot` (dot products of 8-bit integers), optional since ARMv8.2: Cortex-A76 (Raspberry Pi 5) and later, not
    /// Cortex-A53 and A72 (Raspberry Pi 3 and 4).
    case dotProduct = "dotprod"
    /// AVX2 and FMA: most x86-64 processors since 2013.
    case avx2
    /// The AVX-512 subset of x86-64-v4, and VNNI (dot products of 8-bit integers): Intel servers since 2019, AMD since Zen 4.
    case avx512

    public static func < (left: InstructionSet, right: InstructionSet) -> Bool { left.rank < right.rank }

    private var rank: Int { Self.allCases.firstIndex(of: self) ?? 0 }
}
