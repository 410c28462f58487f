private import Glibc
public import KernelInterface
private import KernelsBaseline

// Builds for a few tests have the baseline's kernels only; see Package.swift.
#if canImport(KernelsAVX512)
private import KernelsAVX2
private import KernelsAVX512
#elseif canImport(KernelsDotProduct)
private import CSystem
private import KernelsDotProduct
#endif

extension InstructionSet {
    /// The instruction sets that this processor and operating system support, in ascending order.
    public static let supported: [InstructionSet] = {
        #if canImport(KernelsAVX512)
        let flags = processorFlags()
        let avx2 = ["avx", "avx2", "fma", "f16c", "bmi1", "bmi2", "abm", "movbe"]
        let avx512 = ["avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl", "avx512_vnni"]
        guard flags.isSuperset(of: avx2) else { return [.scalar, .baseline] }
        return flags.isSuperset(of: avx512) ? [.scalar, .baseline, .avx2, .avx512] : [.scalar, .baseline, .avx2]
        #elseif canImport(KernelsDotProduct)
        return CSystem_hardware() & hasDotProduct == 0 ? [.scalar, .baseline] : [.scalar, .baseline, .dotProduct]
        #else
        return [.scalar, .baseline]
        #endif
    }()

    /// The most capable supported instruction set.
    public static var best: InstructionSet { supported.last ?? .baseline }

    /// The kernels compiled for it; nil if this processor cannot run them.
    public var kernels: KernelSet? {
        guard InstructionSet.supported.contains(self) else { return nil }
        switch self {
        case .scalar: return ScalarKernels.kernels
        case .baseline: return KernelsBaseline.KernelTable.kernels
        #if canImport(KernelsAVX512)
        case .avx2: return KernelsAVX2.KernelTable.kernels
        case .avx512: return KernelsAVX512.KernelTable.kernels
        #elseif canImport(KernelsDotProduct)
        case .dotProduct: return KernelsDotProduct.KernelTable.kernels
        #endif
        default: return nil
        }
    }
}

extension KernelSet {
    /// The fastest kernels that this processor can run.
    public static var best: KernelSet { InstructionSet.best.kernels ?? KernelsBaseline.KernelTable.kernels }

    /// The set that the environment variable `BECKON_KERNELS` names, if this processor can run it; otherwise the fastest.
    public static let preferred: KernelSet = {
        let named = getenv("BECKON_KERNELS").flatMap { InstructionSet(rawValue: String(cString: $0)) }
        return named?.kernels ?? best
    }()
}

#if canImport(KernelsDotProduct)
/// `HWCAP_ASIMDDP` of Linux: the processor has `sdot`.
private let hasDotProduct: UInt = 1 << 20
#endif

#if canImport(KernelsAVX512)
/// The first processor's flags in `/proc/cpuinfo`. Unlike CPUID, Linux leaves out what the operating system has disabled.
private func processorFlags() -> Set<String> {
    guard let file = fopen("/proc/cpuinfo", "r") else { return [] }
    defer { fclose(file) }
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, file) > 0 {
        guard let line else { break }
        let text = String(cString: line)
        if text.hasPrefix("flags") { return Set(text.split { $0 == " " || $0 == "\n" }.map(String.init)) }
    }
    return []
}
#endif
