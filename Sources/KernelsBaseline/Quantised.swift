import KernelContract

// Convolutions in whole numbers: weights of 8 bits, inputs of 16, two products a lane at once, sums of 32. A sum is exact, and
// so is what comes of it the same to the last bit on every instruction set.

/// One panel whose products are of whole numbers.
struct QuantisedPanel: PanelRow {
    private var sums: WholePanel

    @inline(__always) static var panels: Int { 1 }
    // A product is a vector of its own before it is added: with three columns SSE2 would be short of registers.
    @inline(__always) static var columns: Int { Width.isShortOfRegisters ? 2 : 6 }
    @inline(__always) static var headCount: Int { quantisedHeadCount }
    @inline(__always) static var rowCount: Int { quantisedRowCount }

    @inline(__always) init(_: PanelGroup) { sums = .zero }

    @inline(__always) static func factor(_ pair: Int32) -> WholePanel { WholePanel(repeating: pair) }

    @inline(__always) static func weights(_ row: PanelGroup) -> WholePanel { widen(row.first) }

    @inline(__always) mutating func add(_ factor: WholePanel, _ weights: WholePanel) {
        sums = addProducts(sums, weights, factor)
    }

    @inline(__always)
    func store(
        to target: UnsafeMutablePointer<Float>,
        residual: UnsafePointer<Float>?,
        width: Int,
        rectify: Bool,
        of panels: PanelGroup
    ) {
        let head = UnsafeRawPointer(panels.first).assumingMemoryBound(to: SIMD16<Float>.self)
        // Not in one rounding, which not every instruction set has.
        let values = floats(sums) * head[0] + head[1]
        unsafeBitCast(values, to: Panel.self).store(to: target, residual: residual, width: width, rectify: rectify)
    }
}

/// See ``KernelSet/ConvolveQuantised``.
@Sendable
func convolveQuantised(
    _ input: UnsafePointer<Int16>,
    to output: UnsafeMutablePointer<Float>,
    columns: ColumnRun,
    packed: UnsafePointer<Float>,
    shape: ConvolutionShape,
    residual: UnsafePointer<Float>?,
    rectify: Bool
) {
    // All in pairs: what is read at once.
    let patch = Patch(shape, columns, atOnce: 2)
    let outlet = Outlet(
        output: output,
        residual: residual,
        columnStep: columns.outputStep,
        width: shape.outputChannels,
        rectify: rectify
    )
    let panels = (shape.outputChannels + panelWidth - 1) / panelWidth
    let weights = PanelGroup(first: packed, step: quantisedPanelCount(shape))
    let pairs = UnsafeRawPointer(input).assumingMemoryBound(to: Int32.self)
    multiply(QuantisedPanel.self, pairs, columns.count, weights, panels, patch, outlet)
}

/// See ``KernelSet/Quantise``.
@Sendable
func quantise(
    _ input: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Int16>,
    count: Int,
    quantiser: Quantiser
) -> Bool {
    let limit = Vector(repeating: quantiser.limit)
    var broken = Vector.zero
    var index = 0
    while index + Width.vector <= count {
        let scaled = load(input + index) * quantiser.scale
        broken = broken + scaled * 0
        let cut = scaled.replacing(with: limit, where: scaled .> limit).replacing(with: -limit, where: scaled .< -limit)
        let bits = unsafeBitCast(cut + wholeNumberRounding, to: Halves.self)
        UnsafeMutableRawPointer(output + index).storeBytes(of: bits.evenHalf, as: Half.self)
        index += Width.vector
    }
    var isFinite = true
    for lane in 0..<Width.vector where broken[lane] != 0 { isFinite = false }
    while index < count {
        let scaled = input[index] * quantiser.scale
        if !scaled.isFinite { isFinite = false }
        let cut = scaled > quantiser.limit ? quantiser.limit : scaled < -quantiser.limit ? -quantiser.limit : scaled
        output[index] = Int16(truncatingIfNeeded: nearestWhole(cut))
        index += 1
    }
    return isFinite
}

/// A vector's bits in halves of its elements, and every second of these.
#if KERNEL_AVX512
private typealias Halves = SIMD32<Int16>
private typealias Half = SIMD16<Int16>
#elseif KERNEL_AVX2
private typealias Halves = SIMD16<Int16>
private typealias Half = SIMD8<Int16>
#else
private typealias Halves = SIMD8<Int16>
private typealias Half = SIMD4<Int16>
#endif
