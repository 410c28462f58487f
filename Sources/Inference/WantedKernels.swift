private import Glibc
import KernelInterface
import Kernels

extension KernelSet {
    /// The kernels asked for, or those that `BECKON_KERNELS` names, or the best that the processor has.
    static func wanted(_ instructionSet: InstructionSet?) throws(ModelError) -> KernelSet {
        let name = instructionSet?.rawValue ?? getenv("BECKON_KERNELS").map { String(cString: $0) } ?? ""
        guard !name.isEmpty else { return .best }
        let source = instructionSet == nil ? "BECKON_KERNELS: " : ""
        let supported = InstructionSet.supported.map(\.rawValue).joined(separator: ", ")
        guard let known = InstructionSet(rawValue: name) else {
            throw .kernels.saying("\(source)\(quoted(name)) is none of the kernels; this processor runs \(supported)")
        }
        guard let kernels = known.kernels else {
            throw .kernels.saying("\(source)this processor cannot run \(name) kernels; it runs \(supported)")
        }
        return kernels
    }
}
