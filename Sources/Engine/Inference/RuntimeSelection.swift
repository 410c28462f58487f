private import Core
private import Glibc
import KernelInterface
import Kernels

/// The arithmetic of a model's layers.
public enum Precision: String, CaseIterable, Sendable {
    case float
    /// Weights of 8 bits and inputs of 7 bits in layers whose input range the model gives; floats in the other layers.
    case int8

    /// The faster precision.
    ///
    /// On x86-64 with SSE2 and AVX2, int8 took 0.4 to 0.7 times as long as float in measurements. One AVX-512 instruction computes
    /// four times as many 8-bit products as float products, and so does `sdot` of ARMv8.2: half the instructions a hop. NEON
    /// without it needs 1.6 times the instructions of float.
    static func fastest(_ instructionSet: InstructionSet) -> Precision {
        switch instructionSet {
        case .scalar: .float
        case .baseline:
            #if arch(x86_64)
            .int8
            #else
            .float
            #endif
        case .dotProduct, .avx2, .avx512: .int8
        }
    }

    /// The requested precision, or the one that `BECKON_PRECISION` names, or the fastest that the model supports.
    ///
    /// - Throws: `ModelError.kernels` where the name is unknown, or int8 is requested for a model without ranges.
    static func select(
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

extension KernelSet {
    /// The requested kernels, or those that `BECKON_KERNELS` names, or the fastest that the processor can run.
    ///
    /// - Throws: `ModelError.kernels` where the name is unknown, or the processor cannot run them.
    static func select(_ instructionSet: InstructionSet?) throws(ModelError) -> KernelSet {
        let name = instructionSet?.rawValue ?? getenv("BECKON_KERNELS").map { String(cString: $0) } ?? ""
        guard !name.isEmpty else { return .best }
        let source = instructionSet == nil ? "BECKON_KERNELS: " : ""
        let supported = InstructionSet.supported.map(\.rawValue).joined(separator: ", ")
        guard let known = InstructionSet(rawValue: name) else {
            throw .kernels.saying("\(source)\(quoted(name)) is not a set of kernels; this processor runs \(supported)")
        }
        guard let kernels = known.kernels else {
            throw .kernels.saying("\(source)this processor cannot run \(name) kernels; it runs \(supported)")
        }
        return kernels
    }
}
