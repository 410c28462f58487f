/// The instruction set that kernels were compiled for, from the least capable to the most.
public enum InstructionSet: String, CaseIterable, Sendable, Comparable {
    /// Plain loops in double precision, one number at a time: the reference for tests.
    case scalar
    /// Instructions that every processor of the architecture has: SSE2 on x86-64, NEON on arm64.
    case baseline
    /// AVX2 and FMA: most x86-64 processors since 2013.
    case avx2
    /// The AVX-512 subset of x86-64-v4, and VNNI (dot products of 8-bit integers): Intel servers since 2019, AMD since Zen 4.
    case avx512

    public static func < (left: InstructionSet, right: InstructionSet) -> Bool { left.rank < right.rank }

    private var rank: Int {
        switch self {
        case .scalar: 0
        case .baseline: 1
        case .avx2: 2
        case .avx512: 3
        }
    }
}
