public import KernelInterface

/// This compilation of the kernels.
public enum Build {
    #if KERNEL_AVX512
    private static let instructionSet = InstructionSet.avx512
    #elseif KERNEL_AVX2
    private static let instructionSet = InstructionSet.avx2
    #else
    private static let instructionSet = InstructionSet.baseline
    #endif

    public static let kernels = KernelSet(
        instructionSet,
        quantisedLayout: WholeProducts.layout,
        convolve: convolve,
        quantise: quantise,
        convolveQuantised: convolveQuantised,
        add: add,
        mean: mean,
        softmax: softmax,
        logMel: logMel,
        decimate: decimate,
        peak: peak
    )
}
