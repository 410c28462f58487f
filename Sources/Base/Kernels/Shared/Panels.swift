import KernelInterface

/// All output channels of one packed panel at one column.
#if KERNEL_AVX512
typealias Panel = OneVector
#elseif KERNEL_AVX2
typealias Panel = LanePair<OneVector>
#else
typealias PanelHalf = LanePair<OneVector>
typealias Panel = LanePair<PanelHalf>
#endif

extension TileOutput {
    /// Adds the residual, applies ReLU, and writes the channels of one of the tile's panels that exist.
    ///
    /// - Parameter result: the sums of a column, as floats.
    @inline(__always)
    func finish(panel: Int, columns: Int, _ clamp: Clamp, _ result: (Int) -> Panel) {
        let channel = panel * panelWidth
        if width - channel < panelWidth {
            for column in 0..<columns { finishPartial(result(column), column, channel) }
        } else {
            for column in 0..<columns { finishFull(result(column), column, channel, clamp) }
        }
    }

    @inline(__always)
    private func finishFull(_ sums: Panel, _ column: Int, _ channel: Int, _ clamp: Clamp) {
        let place = column * columnStride + channel
        var result = sums
        result.finish(residual.map { $0 + place }, relu)
        if let floats { result.write(to: floats + place) }
        if let quantised {
            let offset = column * quantisedStride + channel * IntegerDot.layout.inputBytes
            clamp.quantise(result, to: quantised + offset)
        }
    }

    /// Not inlined: its branches would make full panels spill registers.
    @inline(never)
    private func finishPartial(_ sums: Panel, _ column: Int, _ channel: Int) {
        let place = column * columnStride + channel
        let count = width - channel
        var result = sums
        if let residual {
            // Memory after the residual's end must not be read.
            var padded = SIMD16<Float>.zero
            withUnsafeMutableBytes(of: &padded) { padded in
                guard let start = padded.baseAddress else { return }
                copyPartial(residual + place, to: start, 4 * count)
                result.finish(start.assumingMemoryBound(to: Float.self), relu)
            }
        } else {
            result.finish(nil, relu)
        }
        if let floats {
            withUnsafeBytes(of: result) { channels in
                guard let start = channels.baseAddress else { return }
                copyPartial(start, to: floats + place, 4 * count)
            }
        }
        if let quantised {
            var block = SIMD16<Int16>.zero
            withUnsafeMutableBytes(of: &block) { block in
                guard let start = block.baseAddress else { return }
                Clamp(quantiser).quantise(result, to: start)
                let inputBytes = IntegerDot.layout.inputBytes
                copyPartial(start, to: quantised + column * quantisedStride + channel * inputBytes, inputBytes * count)
            }
        }
    }
}

/// Copies fewer than 64 bytes with one move for each bit set in `count`.
@inline(__always)
private func copyPartial(_ source: UnsafeRawPointer, to target: UnsafeMutableRawPointer, _ count: Int) {
    var index = 0
    if count & 32 != 0 { index = move(SIMD8<UInt32>.self, source, target, index) }
    if count & 16 != 0 { index = move(SIMD4<UInt32>.self, source, target, index) }
    if count & 8 != 0 { index = move(UInt64.self, source, target, index) }
    if count & 4 != 0 { index = move(UInt32.self, source, target, index) }
    if count & 2 != 0 { index = move(UInt16.self, source, target, index) }
    if count & 1 != 0 { index = move(UInt8.self, source, target, index) }
}

@inline(__always)
private func move<Part: BitwiseCopyable>(
    _: Part.Type,
    _ source: UnsafeRawPointer,
    _ target: UnsafeMutableRawPointer,
    _ index: Int
) -> Int {
    let part = (source + index).loadUnaligned(as: Part.self)
    (target + index).storeBytes(of: part, as: Part.self)
    return index + MemoryLayout<Part>.size
}

/// A position in the first packed panel of a tile, and the distance in floats to the same position in the next panel.
struct PanelGroup {
    var first: UnsafePointer<Float>
    var stride: Int

    @inline(__always) func after(_ floats: Int) -> PanelGroup { PanelGroup(first: first + floats, stride: stride) }
    @inline(__always) func skipping(_ panels: Int) -> PanelGroup { after(panels * stride) }
}

/// One column of a register tile: the sums of some adjacent panels, in floats or integers.
protocol TileRow {
    /// The unit in which inputs are read: a float, or a 32-bit lane of quantised inputs.
    associatedtype Input
    /// An input, repeated in all lanes.
    associatedtype Factor
    /// One row of weights of each panel.
    associatedtype Weights
    associatedtype Results: TileResults

    static var panels: Int { get }
    /// The largest number of columns whose sums fit the registers.
    static var columns: Int { get }

    /// Floats of a packed panel before its first row of weights.
    static var headerCount: Int { get }
    /// Floats of each row of weights.
    static var weightRowCount: Int { get }
    /// Values of `Input` that each row of weights multiplies.
    static var inputsPerRow: Int { get }

    /// Starts the sums: at the biases, or at zero.
    init(_ panels: PanelGroup)
    static func factor(_ input: UnsafePointer<Input>) -> Factor
    static func weights(_ row: PanelGroup) -> Weights
    mutating func add(_ factor: Factor, _ weights: Weights)
    /// Quantises all panels, which must be full.
    func quantise(_ panels: PanelGroup, _ clamp: Clamp, to target: UnsafeMutableRawPointer)
    /// The same after adding a residual.
    func quantise(
        _ panels: PanelGroup,
        adding residual: UnsafePointer<Float>,
        _ clamp: Clamp,
        to target: UnsafeMutableRawPointer
    )
    /// Writes all panels, which must be full, as floats.
    func write(_ panels: PanelGroup, relu: Bool, to target: UnsafeMutablePointer<Float>)
    /// Writes the results of a tile; `sums` holds its rows, `[columns × panelCount]`.
    static func finish(
        _ sums: UnsafeRawPointer,
        columns: Int,
        panelCount: Int,
        _ panels: PanelGroup,
        _ output: TileOutput
    )
}

/// One column of a single panel.
protocol SinglePanel: TileRow {
    /// The results of all output channels, before residual and ReLU.
    func result(_ panels: PanelGroup) -> Panel
}

extension SinglePanel {
    @inline(__always) static var panels: Int { 1 }

    @inline(__always) func quantise(_ panels: PanelGroup, _ clamp: Clamp, to target: UnsafeMutableRawPointer) {
        clamp.quantise(result(panels), to: target)
    }

    @inline(__always)
    func quantise(
        _ panels: PanelGroup,
        adding residual: UnsafePointer<Float>,
        _ clamp: Clamp,
        to target: UnsafeMutableRawPointer
    ) {
        var result = result(panels)
        result.finish(residual, false)
        clamp.quantise(result, to: target)
    }

    @inline(__always) func write(_ panels: PanelGroup, relu: Bool, to target: UnsafeMutablePointer<Float>) {
        var result = result(panels)
        result.finish(nil, relu)
        result.write(to: target)
    }

    @inline(__always)
    static func finish(
        _ sums: UnsafeRawPointer,
        columns: Int,
        panelCount: Int,
        _ panels: PanelGroup,
        _ output: TileOutput
    ) {
        let rows = sums.assumingMemoryBound(to: Self.self)
        let clamp = Clamp(output.quantiser)
        for panel in 0..<panelCount {
            let own = panels.skipping(panel)
            output.finish(panel: panel, columns: columns, clamp) { rows[$0 * panelCount + panel].result(own) }
        }
    }
}

/// One panel with float sums.
struct FloatPanel: SinglePanel {
    typealias Results = FloatResults

    private var sums: Panel

    @inline(__always) static var columns: Int { Width.hasFewRegisters ? 3 : 6 }
    @inline(__always) static var headerCount: Int { panelWidth }
    @inline(__always) static var weightRowCount: Int { panelWidth }
    @inline(__always) static var inputsPerRow: Int { 1 }

    @inline(__always) init(_ panels: PanelGroup) { sums = Panel(panels.first) }

    @inline(__always) static func factor(_ input: UnsafePointer<Float>) -> Vector {
        repeated(input.pointee)
    }

    @inline(__always) static func weights(_ row: PanelGroup) -> Panel { Panel(row.first) }

    @inline(__always) mutating func add(_ factor: Vector, _ weights: Panel) { sums.add(factor, weights) }

    @inline(__always) func result(_: PanelGroup) -> Panel { sums }
}

#if !KERNEL_AVX2 && !KERNEL_AVX512
/// A panel with float sums of which only the lower half of the channels, or fewer, exist. Wider vectors gain nothing by it.
struct HalfPanel: SinglePanel {
    typealias Results = FloatResults

    private var sums: PanelHalf

    @inline(__always) static var columns: Int { 6 }
    @inline(__always) static var headerCount: Int { panelWidth }
    @inline(__always) static var weightRowCount: Int { panelWidth }
    @inline(__always) static var inputsPerRow: Int { 1 }

    @inline(__always) init(_ panels: PanelGroup) { sums = PanelHalf(panels.first) }

    @inline(__always) static func factor(_ input: UnsafePointer<Float>) -> Vector { FloatPanel.factor(input) }

    @inline(__always) static func weights(_ row: PanelGroup) -> PanelHalf { PanelHalf(row.first) }

    @inline(__always) mutating func add(_ factor: Vector, _ weights: PanelHalf) { sums.add(factor, weights) }

    @inline(__always) func result(_: PanelGroup) -> Panel { Panel(low: sums) }
}
#endif

/// Two adjacent rows as one; nested, up to eight panels.
struct Panels<First: TileRow, Second: TileRow>: TileRow
where First.Input == Second.Input, First.Factor == Second.Factor {
    typealias Weights = (first: First.Weights, second: Second.Weights)
    typealias Results = First.Results

    private var first: First
    private var second: Second

    @inline(__always) static var panels: Int { First.panels + Second.panels }
    @inline(__always) static var columns: Int {
        Width.vector == 16 ? min(First.columns, 24 / panels) : First.columns / 2
    }
    @inline(__always) static var headerCount: Int { First.headerCount }
    @inline(__always) static var weightRowCount: Int { First.weightRowCount }
    @inline(__always) static var inputsPerRow: Int { First.inputsPerRow }

    @inline(__always) init(_ panels: PanelGroup) {
        first = First(panels)
        second = Second(panels.skipping(First.panels))
    }

    @inline(__always) static func factor(_ input: UnsafePointer<First.Input>) -> First.Factor { First.factor(input) }

    @inline(__always) static func weights(_ row: PanelGroup) -> Weights {
        (First.weights(row), Second.weights(row.skipping(First.panels)))
    }

    @inline(__always) mutating func add(_ factor: First.Factor, _ weights: Weights) {
        first.add(factor, weights.first)
        second.add(factor, weights.second)
    }

    @inline(__always) func quantise(_ panels: PanelGroup, _ clamp: Clamp, to target: UnsafeMutableRawPointer) {
        first.quantise(panels, clamp, to: target)
        let bytes = First.panels * panelWidth * IntegerDot.layout.inputBytes
        second.quantise(panels.skipping(First.panels), clamp, to: target + bytes)
    }

    @inline(__always)
    func quantise(
        _ panels: PanelGroup,
        adding residual: UnsafePointer<Float>,
        _ clamp: Clamp,
        to target: UnsafeMutableRawPointer
    ) {
        first.quantise(panels, adding: residual, clamp, to: target)
        let channels = First.panels * panelWidth
        let place = target + channels * IntegerDot.layout.inputBytes
        second.quantise(panels.skipping(First.panels), adding: residual + channels, clamp, to: place)
    }

    @inline(__always) func write(_ panels: PanelGroup, relu: Bool, to target: UnsafeMutablePointer<Float>) {
        first.write(panels, relu: relu, to: target)
        second.write(panels.skipping(First.panels), relu: relu, to: target + First.panels * panelWidth)
    }

    @inline(__always)
    static func finish(
        _ sums: UnsafeRawPointer,
        columns: Int,
        panelCount: Int,
        _ panels: PanelGroup,
        _ output: TileOutput
    ) {
        First.finish(sums, columns: columns, panelCount: panelCount, panels, output)
    }
}

typealias TwoPanels<Row: TileRow> = Panels<Row, Row>
typealias ThreePanels<Row: TileRow> = Panels<TwoPanels<Row>, Row>
typealias FourPanels<Row: TileRow> = Panels<TwoPanels<Row>, TwoPanels<Row>>
typealias EightPanels<Row: TileRow> = Panels<FourPanels<Row>, FourPanels<Row>>
