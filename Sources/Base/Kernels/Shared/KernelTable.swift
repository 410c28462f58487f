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

    #if KERNEL_AVX512
    private static let fastConvolution: KernelSet.ConvolveFast? = convolveFast
    #else
    // AVX2 adds products in 16 bits, in which inputs and weights of 8 bits overflow.
    private static let fastConvolution: KernelSet.ConvolveFast? = nil
    #endif

    public static let kernels = KernelSet(
        instructionSet,
        quantisedLayout: IntegerDot.layout,
        convolve: convolve,
        quantise: quantise,
        convolveQuantised: convolveQuantised,
        convolveFast: fastConvolution,
        add: add,
        mean: mean,
        silu: silu,
        softmax: softmax,
        logMel: logMel,
        resample: resample,
        fmaThroughput: fmaThroughput
    )
}
