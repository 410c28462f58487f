import KernelInterface

/// One panel of a quantised convolution, with integer sums.
struct QuantisedPanel: SinglePanel {
    typealias Results = QuantisedResults

    private var dot = IntegerDot()

    @inline(__always) static var columns: Int { IntegerDot.columns }
    @inline(__always) static var headerCount: Int { quantisedHeaderCount }
    @inline(__always) static var weightRowCount: Int {
        IntegerDot.lanesPerRow * IntegerDot.layout.inputsPerLane * panelWidth / 4
    }
    @inline(__always) static var inputsPerRow: Int { IntegerDot.lanesPerRow }

    @inline(__always) init(_: PanelGroup) {}

    @inline(__always) static func factor(_ input: UnsafePointer<Int32>) -> IntegerDot.Factor {
        IntegerDot.factor(input)
    }

    @inline(__always) static func weights(_ row: PanelGroup) -> IntegerDot.Weights {
        IntegerDot.weights(row.first)
    }

    @inline(__always) mutating func add(_ factor: IntegerDot.Factor, _ weights: IntegerDot.Weights) {
        dot.add(factor, weights)
    }

    @inline(__always) var sums: Int32Panel { dot.total }

    @inline(__always) func result(_ panels: PanelGroup) -> Panel { QuantisedPanel.floats(sums, panels) }

    /// Integer sums of the first panel as floats.
    @inline(__always) static func floats(_ sums: Int32Panel, _ panels: PanelGroup) -> Panel {
        let head = UnsafeRawPointer(panels.first).assumingMemoryBound(to: SIMD16<Float>.self)
        // Product and sum are rounded separately, because not every instruction set has a fused multiply-add.
        return unsafeBitCast(convertToFloat(sums) * head[0] + head[1], to: Panel.self)
    }
}

/// See ``KernelSet/ConvolveQuantised``.
@Sendable
func convolveQuantised(
    _ input: UnsafeRawPointer,
    to output: QuantisedOutput,
    columns: StridedColumns,
    packed: UnsafePointer<Float>,
    shape: ConvolutionShape,
    residual: UnsafePointer<Float>?,
    relu: Bool
) {
    let inputsPerLane = IntegerDot.layout.inputsPerLane
    var tileInput = TileInput(shape, columns, QuantisedPanel.self, inputsPerLane: inputsPerLane)
    // Padding weights that no row needs are skipped.
    let inputsRead = tileInput.rowsPerRun * inputsPerLane * IntegerDot.lanesPerRow
    tileInput.skippedWeights = (shape.paddedRunLength - inputsRead) * panelWidth / 4
    let tileOutput = TileOutput(
        floats: output.floats,
        residual: residual,
        columnStride: columns.outputStride,
        width: shape.outputChannels,
        relu: relu,
        quantised: output.quantised,
        quantisedStride: output.quantisedStride,
        quantiser: output.quantiser
    )
    let panels = (shape.outputChannels + panelWidth - 1) / panelWidth
    let weights = PanelGroup(first: packed, stride: quantisedPanelCount(shape))
    let inputs = input.assumingMemoryBound(to: Int32.self)
    multiply(QuantisedPanel.self, inputs, columns.count, weights, panels, tileInput, tileOutput)
}
