#if KERNEL_AVX512
import KernelInterface
import _Builtin_intrinsics.intel

/// One panel whose integer sums themselves are the results, in place of floats.
struct SumPanel: SinglePanel {
    typealias Results = FloatResults

    private var panel: QuantisedPanel

    @inline(__always) static var columns: Int { QuantisedPanel.columns }
    @inline(__always) static var headerCount: Int { QuantisedPanel.headerCount }
    @inline(__always) static var weightRowCount: Int { QuantisedPanel.weightRowCount }
    @inline(__always) static var inputsPerRow: Int { QuantisedPanel.inputsPerRow }

    @inline(__always) init(_ panels: PanelGroup) { panel = QuantisedPanel(panels) }

    @inline(__always) static func factor(_ input: UnsafePointer<Int32>) -> IntegerDot.Factor {
        QuantisedPanel.factor(input)
    }

    @inline(__always) static func weights(_ row: PanelGroup) -> IntegerDot.Weights { QuantisedPanel.weights(row) }

    @inline(__always) mutating func add(_ factor: IntegerDot.Factor, _ weights: IntegerDot.Weights) {
        panel.add(factor, weights)
    }

    @inline(__always) func result(_: PanelGroup) -> Panel { unsafeBitCast(panel.sums, to: Panel.self) }
}

/// See ``KernelSet/ConvolveFast``.
@Sendable
func convolveFast(
    _ input: UnsafeRawPointer,
    to output: QuantisedOutput,
    columns: Int,
    packed: UnsafePointer<Float>,
    fast weights: UnsafePointer<Float>,
    shape: ConvolutionShape,
    residual: UnsafePointer<Float>?,
    relu: Bool,
    scratch: UnsafeMutableRawPointer
) {
    let fast = FastConvolution(shape)
    let channels = shape.outputChannels
    let (evenCount, oddCount) = ((columns + 1) / 2, columns / 2)
    let even = (scratch + fast.planeBytes(columns: columns)).assumingMemoryBound(to: Float.self)
    let odd = even + evenCount * channels
    let difference = odd + evenCount * channels
    differences(input, to: scratch, columns: fast.difference.inputColumns(for: oddCount), channels: shape.inputChannels)
    sums(input, fast.even, evenCount, weights, to: even)
    sums(input + shape.inputChannels, fast.odd, evenCount, weights + fast.oddOffset, to: odd)
    sums(UnsafeRawPointer(scratch), fast.difference, oddCount, weights + fast.differenceOffset, to: difference)

    // Columns 0, 2, 4, …; then columns 1, 3, 5, …
    var evenOutput = TileOutput(
        floats: output.floats,
        residual: residual,
        columnStride: 2 * channels,
        width: channels,
        relu: relu,
        quantised: output.quantised,
        quantisedStride: 2 * output.quantisedStride,
        quantiser: output.quantiser
    )
    var oddOutput = evenOutput
    oddOutput.floats = output.floats.map { $0 + channels }
    oddOutput.residual = residual.map { $0 + channels }
    oddOutput.quantised = output.quantised.map { $0 + output.quantisedStride }
    let clamp = Clamp(output.quantiser)
    let panels = channels / panelWidth
    addExcess(fast, weights, scratch, oddCount, to: difference)
    var header = PanelGroup(first: packed, stride: quantisedPanelCount(shape))
    for panel in 0..<panels {
        let first = panel * panelWidth
        evenOutput.finish(panel: 0, columns: evenCount, clamp) { pair in
            let place = pair * channels + first
            return QuantisedPanel.floats(integers(even + place) &+ integers(odd + place), header)
        }
        let constant = integers(weights + fast.sumsOffset + first)
        oddOutput.finish(panel: 0, columns: oddCount, clamp) { pair in
            let place = pair * channels + first
            let sum = integers(even + place + channels) &+ integers(odd + place)
            return QuantisedPanel.floats(sum &+ (integers(difference + place) &- constant), header)
        }
        header = header.skipping(1)
        evenOutput.advance(panels: 1)
        oddOutput.advance(panels: 1)
    }
}

/// Adds the products of the weights beyond 8 bits.
private func addExcess(
    _ fast: FastConvolution,
    _ packed: UnsafePointer<Float>,
    _ plane: UnsafeRawPointer,
    _ columns: Int,
    to sums: UnsafeMutablePointer<Float>
) {
    let channels = fast.difference.outputChannels
    let planeStride = fast.difference.inputChannels / 4
    let counts = UnsafeRawPointer(packed + fast.excessOffset).assumingMemoryBound(to: Int32.self)
    var lanes = counts + channels / panelWidth
    var weights = UnsafeRawPointer(packed + fast.excessWeightsOffset)
    for panel in 0..<channels / panelWidth {
        for _ in 0..<counts[panel] {
            let row = IntegerDot.weights(weights)
            var inputs = plane.assumingMemoryBound(to: Int32.self) + Int(lanes.pointee)
            var place = sums + panel * panelWidth
            for _ in 0..<columns {
                var dot = Int8DotVNNI(integers(place))
                dot.add(IntegerDot.factor(inputs), row)
                UnsafeMutableRawPointer(place).storeBytes(of: dot.total, as: Int32Panel.self)
                inputs += planeStride
                place += channels
            }
            lanes += 1
            weights += 4 * panelWidth
        }
    }
}

@inline(__always)
private func integers(_ source: UnsafePointer<Float>) -> Int32Panel {
    UnsafeRawPointer(source).loadUnaligned(as: Int32Panel.self)
}

/// Computes the integer sums of all columns of a part.
private func sums(
    _ input: UnsafeRawPointer,
    _ shape: ConvolutionShape,
    _ count: Int,
    _ packed: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>
) {
    let columns = shape.adjacentColumns(count)
    let tileInput = TileInput(shape, columns, SumPanel.self, inputsPerLane: IntegerDot.layout.inputsPerLane)
    let tileOutput = TileOutput(
        floats: output,
        columnStride: columns.outputStride,
        width: shape.outputChannels,
        relu: false
    )
    let weights = PanelGroup(first: packed, stride: quantisedPanelCount(shape))
    let inputs = input.assumingMemoryBound(to: Int32.self)
    multiply(SumPanel.self, inputs, count, weights, shape.outputChannels / panelWidth, tileInput, tileOutput)
}

/// The plane of differences: column m is input column 2m + 1, less column 2m + 2, plus 127.
private func differences(
    _ input: UnsafeRawPointer,
    to plane: UnsafeMutableRawPointer,
    columns: Int,
    channels: Int
) {
    for column in 0..<columns {
        let source = input + (2 * column + 1) * channels
        let target = plane + column * channels
        for index in stride(from: 0, to: channels, by: 16) {
            let left = (source + index).loadUnaligned(as: SIMD16<UInt8>.self)
            let right = (source + channels + index).loadUnaligned(as: SIMD16<UInt8>.self)
            (target + index).storeBytes(of: left &+ 127 &- right, as: SIMD16<UInt8>.self)
        }
    }
}
#endif
