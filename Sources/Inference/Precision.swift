private import Glibc
import KernelInterface

/// What the layers compute in.
public enum Precision: String, CaseIterable, Sendable {
    case float
    /// Weights rounded to 8 bits and inputs to 7, where the model tells how large a layer's inputs become.
    case int8

    /// The faster of the two.
    ///
    /// Measured on x86-64 with SSE2 and AVX2, where whole numbers take 0.4 to 0.7 of the time. With AVX-512 an instruction
    /// makes four times as many products of them. NEON has no such instruction that every processor has, and was not measured.
    static func fastest(_ instructionSet: InstructionSet) -> Precision {
        switch instructionSet {
        case .scalar: .float
        case .baseline:
            #if arch(x86_64)
            .int8
            #else
            .float
            #endif
        case .avx2, .avx512: .int8
        }
    }

    /// The precision asked for, or what `BECKON_PRECISION` names, or the faster one that the model can run in.
    static func wanted(
        _ precision: Precision?,
        for ranges: [String: Double],
        on instructionSet: InstructionSet,
        file: String
    ) throws(ModelError) -> Precision {
        let canBeQuantised = !ranges.isEmpty
        let name = precision?.rawValue ?? getenv("BECKON_PRECISION").map { String(cString: $0) } ?? ""
        guard !name.isEmpty else { return canBeQuantised ? fastest(instructionSet) : .float }
        let source = precision == nil ? "BECKON_PRECISION: " : ""
        guard let known = Precision(rawValue: name) else {
            let all = allCases.map(\.rawValue).joined(separator: " nor ")
            throw .kernels.saying("\(source)\(quoted(name)) is neither \(all)")
        }
        guard known == .float || canBeQuantised else {
            throw .kernels.saying(
                "\(source)\(file) has no “ranges”, so that it cannot run in int8; choose float or see Models/FORMAT.md"
            )
        }
        return known
    }
}
