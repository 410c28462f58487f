public import KernelInterface

/// The kernels of this module, compiled for its instruction set.
public enum KernelTable {
    #if KERNEL_AVX512
    private static let instructionSet = InstructionSet.avx512
    #elseif KERNEL_AVX2
    private static let instructionSet = InstructionSet.avx2
    #elseif KERNEL_DOTPRODUCT
    private static let instructionSet = InstructionSet.dotProduct
    #else
    private static let instructionSet = InstructionSet.baseline
    #endif

    public static let kernels = KernelSet(
        instructionSet,
        quantisedLayout: IntegerDot.layout,
        convolve: convolve,
        quantise: quantise,
        convolveQuantised: convolveQuantised,
        add: add,
        mean: mean,
        silu: silu,
        softmax: softmax,
        logMel: logMel,
        resample: resample,
        fmaThroughput: fmaThroughput
    )
}
