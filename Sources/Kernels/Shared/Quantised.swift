import KernelInterface

// Convolutions in whole numbers of seven bits. A sum of products is exact, and so is what comes of it the same to the last bit on
// every instruction set.

/// One panel whose products are of whole numbers.
struct QuantisedPanel: PanelRow {
    private var products = WholeProducts()

    @inline(__always) static var panels: Int { 1 }
    @inline(__always) static var columns: Int { WholeProducts.columns }
    @inline(__always) static var headCount: Int { quantisedHeadCount }
    @inline(__always) static var rowCount: Int {
        WholeProducts.inputCount * WholeProducts.layout.atOnce * panelWidth / 4
    }
    @inline(__always) static var inputCount: Int { WholeProducts.inputCount }

    @inline(__always) init(_: PanelGroup) {}

    @inline(__always) static func factor(_ input: UnsafePointer<Int32>) -> WholeProducts.Factor {
        WholeProducts.factor(input)
    }

    @inline(__always) static func weights(_ row: PanelGroup) -> WholeProducts.Weights {
        WholeProducts.weights(row.first)
    }

    @inline(__always) mutating func add(_ factor: WholeProducts.Factor, _ weights: WholeProducts.Weights) {
        products.add(factor, weights)
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
        let values = floats(products.total) * head[0] + head[1]
        unsafeBitCast(values, to: Panel.self).store(to: target, residual: residual, width: width, rectify: rectify)
    }
}

/// See ``KernelSet/ConvolveQuantised``.
@Sendable
func convolveQuantised(
    _ input: UnsafeRawPointer,
    to output: UnsafeMutablePointer<Float>,
    columns: ColumnRun,
    packed: UnsafePointer<Float>,
    shape: ConvolutionShape,
    residual: UnsafePointer<Float>?,
    rectify: Bool
) {
    let atOnce = WholeProducts.layout.atOnce
    var patch = Patch(shape, columns, QuantisedPanel.self, atOnce: atOnce)
    // What a run is filled up with is read no further than whole rows reach.
    patch.weightGap = (shape.runDepth - patch.length * atOnce * WholeProducts.inputCount) * panelWidth / 4
    let outlet = Outlet(
        output: output,
        residual: residual,
        columnStep: columns.outputStep,
        width: shape.outputChannels,
        rectify: rectify
    )
    let panels = (shape.outputChannels + panelWidth - 1) / panelWidth
    let weights = PanelGroup(first: packed, step: quantisedPanelCount(shape))
    let inputs = input.assumingMemoryBound(to: Int32.self)
    multiply(QuantisedPanel.self, inputs, columns.count, weights, panels, patch, outlet)
}
