import KernelInterface

// Register tiles: one to six columns of a convolution share each load of a row of weights. Every column adds its
// products in the same order, so that its result does not depend on the other columns of the tile, to the last bit.
// This makes the results of streaming equal to those of a whole window.

/// Positions of a tile's inputs; distances are in units of `TileRow.Input`.
struct TileInput {
    /// Contiguous runs of inputs per output column.
    var runs: Int
    /// Rows of weights per run.
    var rowsPerRun: Int
    var runStride: Int
    var columnStride: Int
    /// Floats of padding weights after each run, which no row reads.
    var skippedWeights = 0

    /// - Parameter inputsPerLane: input channels in one `Input`.
    @inline(__always)
    init<Row: TileRow>(_ shape: ConvolutionShape, _ columns: StridedColumns, _: Row.Type, inputsPerLane: Int) {
        let inputsPerRow = inputsPerLane * Row.inputsPerRow
        runs = shape.runs
        rowsPerRun = (shape.runLength + inputsPerRow - 1) / inputsPerRow
        runStride = shape.runStride / inputsPerLane
        columnStride = columns.inputStride / inputsPerLane
    }
}

/// Positions of a tile's results.
struct TileOutput {
    /// Nil where only quantised results are wanted.
    var floats: UnsafeMutablePointer<Float>?
    var residual: UnsafePointer<Float>?
    /// Floats from one column to the next.
    var columnStride: Int
    /// Output channels from the tile's first one to the layer's last.
    var width: Int
    var relu: Bool
    /// Nil where only floats are wanted.
    var quantised: UnsafeMutableRawPointer?
    /// Bytes from one quantised column to the next.
    var quantisedStride = 0
    var quantiser = Quantiser(range: 1, isNonNegative: true)

    /// The quantised results, where the panels are full and nothing else is wanted, as between most layers: straight from registers.
    @inline(__always) func onlyQuantised(panels: Int) -> UnsafeMutableRawPointer? {
        guard floats == nil, width >= panels * panelWidth else { return nil }
        // The quantiser's lower bound does what ReLU would do.
        return !relu || quantiser.low >= 0 ? quantised : nil
    }

    /// The results as floats, where the panels are full and nothing else is wanted: straight from registers, too.
    @inline(__always) func onlyFloats(panels: Int) -> UnsafeMutablePointer<Float>? {
        quantised == nil && residual == nil && width >= panels * panelWidth ? floats : nil
    }

    /// Moves to a later column.
    @inline(__always) mutating func advance(columns: Int) {
        move(floats: columns * columnStride, bytes: columns * quantisedStride)
    }

    /// Moves to a later panel.
    @inline(__always) mutating func advance(panels: Int) {
        move(floats: panels * panelWidth, bytes: panels * panelWidth * IntegerDot.layout.inputBytes)
        width -= panels * panelWidth
    }

    @inline(__always) private mutating func move(floats count: Int, bytes: Int) {
        if let start = floats { floats = start + count }
        if let start = residual { residual = start + count }
        if let start = quantised { quantised = start + bytes }
    }
}

/// The sums of a tile, column by column, in registers; in memory, all panels of a column follow each other.
protocol TileColumns {
    associatedtype Row: TileRow

    static var count: Int { get }

    init(_ panels: PanelGroup)
    /// Adds the products of the input of each column, which are `stride` apart, with one row of weights.
    mutating func add(_ input: UnsafePointer<Row.Input>, _ stride: Int, _ weights: Row.Weights)
    /// Quantises all panels, which must be full, to columns `stride` bytes apart.
    func quantise(_ panels: PanelGroup, _ clamp: Clamp, to target: UnsafeMutableRawPointer, _ stride: Int)
    /// The same after adding a residual, whose columns are `residualStride` floats apart.
    func quantise(
        _ panels: PanelGroup,
        adding residual: UnsafePointer<Float>,
        _ residualStride: Int,
        _ clamp: Clamp,
        to target: UnsafeMutableRawPointer,
        _ stride: Int
    )
    /// Writes all panels, which must be full, as floats, to columns `stride` floats apart.
    func write(_ panels: PanelGroup, relu: Bool, to target: UnsafeMutablePointer<Float>, _ stride: Int)
}

struct OneColumn<Row: TileRow>: TileColumns {
    private var sums: Row

    @inline(__always) static var count: Int { 1 }

    @inline(__always) init(_ panels: PanelGroup) { sums = Row(panels) }

    @inline(__always) mutating func add(_ input: UnsafePointer<Row.Input>, _ stride: Int, _ weights: Row.Weights) {
        sums.add(Row.factor(input), weights)
    }

    @inline(__always)
    func quantise(_ panels: PanelGroup, _ clamp: Clamp, to target: UnsafeMutableRawPointer, _ stride: Int) {
        sums.quantise(panels, clamp, to: target)
    }

    @inline(__always)
    func quantise(
        _ panels: PanelGroup,
        adding residual: UnsafePointer<Float>,
        _ residualStride: Int,
        _ clamp: Clamp,
        to target: UnsafeMutableRawPointer,
        _ stride: Int
    ) {
        sums.quantise(panels, adding: residual, clamp, to: target)
    }

    @inline(__always)
    func write(_ panels: PanelGroup, relu: Bool, to target: UnsafeMutablePointer<Float>, _ stride: Int) {
        sums.write(panels, relu: relu, to: target)
    }
}

/// Some columns and one more.
struct AndNext<Before: TileColumns>: TileColumns {
    typealias Row = Before.Row

    private var before: Before
    private var sums: Row

    @inline(__always) static var count: Int { Before.count + 1 }

    @inline(__always) init(_ panels: PanelGroup) {
        before = Before(panels)
        sums = Row(panels)
    }

    @inline(__always) mutating func add(_ input: UnsafePointer<Row.Input>, _ stride: Int, _ weights: Row.Weights) {
        before.add(input, stride, weights)
        sums.add(Row.factor(input + Before.count * stride), weights)
    }

    @inline(__always)
    func quantise(_ panels: PanelGroup, _ clamp: Clamp, to target: UnsafeMutableRawPointer, _ stride: Int) {
        before.quantise(panels, clamp, to: target, stride)
        sums.quantise(panels, clamp, to: target + Before.count * stride)
    }

    @inline(__always)
    func quantise(
        _ panels: PanelGroup,
        adding residual: UnsafePointer<Float>,
        _ residualStride: Int,
        _ clamp: Clamp,
        to target: UnsafeMutableRawPointer,
        _ stride: Int
    ) {
        before.quantise(panels, adding: residual, residualStride, clamp, to: target, stride)
        let next = residual + Before.count * residualStride
        sums.quantise(panels, adding: next, clamp, to: target + Before.count * stride)
    }

    @inline(__always)
    func write(_ panels: PanelGroup, relu: Bool, to target: UnsafeMutablePointer<Float>, _ stride: Int) {
        before.write(panels, relu: relu, to: target, stride)
        sums.write(panels, relu: relu, to: target + Before.count * stride)
    }
}

/// What the results of a tile may be where its panels are full: these are written straight from registers. Kinds of rows are told apart here, so
/// that what a kind never does is not compiled for its tiles.
protocol TileResults {
    /// Writes the results; false if they need more than that.
    static func write<Columns: TileColumns>(_ columns: Columns, _ panels: PanelGroup, _ output: TileOutput) -> Bool
}

enum FloatResults: TileResults {
    @inline(__always)
    static func write<Columns: TileColumns>(_ columns: Columns, _ panels: PanelGroup, _ output: TileOutput) -> Bool {
        guard let target = output.onlyFloats(panels: Columns.Row.panels) else { return false }
        columns.write(panels, relu: output.relu, to: target, output.columnStride)
        return true
    }
}

/// Also quantised ones, after adding a residual or without.
enum QuantisedResults: TileResults {
    @inline(__always)
    static func write<Columns: TileColumns>(_ columns: Columns, _ panels: PanelGroup, _ output: TileOutput) -> Bool {
        guard let target = output.onlyQuantised(panels: Columns.Row.panels) else {
            return FloatResults.write(columns, panels, output)
        }
        let (clamp, stride) = (Clamp(output.quantiser), output.quantisedStride)
        if let residual = output.residual {
            columns.quantise(panels, adding: residual, output.columnStride, clamp, to: target, stride)
        } else {
            columns.quantise(panels, clamp, to: target, stride)
        }
        return true
    }
}

typealias TwoColumns<Row: TileRow> = AndNext<OneColumn<Row>>
typealias ThreeColumns<Row: TileRow> = AndNext<TwoColumns<Row>>
typealias FourColumns<Row: TileRow> = AndNext<ThreeColumns<Row>>
typealias FiveColumns<Row: TileRow> = AndNext<FourColumns<Row>>
typealias SixColumns<Row: TileRow> = AndNext<FiveColumns<Row>>

/// Computes one tile.
@inline(__always)
func tile<Columns: TileColumns>(
    _: Columns.Type,
    _ inputs: UnsafePointer<Columns.Row.Input>,
    _ panels: PanelGroup,
    _ input: TileInput,
    _ output: TileOutput
) {
    var columns = Columns(panels)
    var rows = panels.after(Columns.Row.headerCount)
    for run in 0..<input.runs {
        let runInputs = inputs + run * input.runStride
        for index in 0..<input.rowsPerRun {
            columns.add(runInputs + index * Columns.Row.inputsPerRow, input.columnStride, Columns.Row.weights(rows))
            rows = rows.after(Columns.Row.weightRowCount)
        }
        rows = rows.after(input.skippedWeights)
    }
    if Columns.Row.Results.write(columns, panels, output) { return }
    // Only this copy is in memory, so that the sums stay in registers until now.
    withUnsafeBytes(of: columns) { sums in
        guard let sums = sums.baseAddress else { return }
        let panelCount = Columns.Row.panels
        if Columns.count * panelCount <= 4 {
            Columns.Row.finish(sums, columns: Columns.count, panelCount: panelCount, panels, output)
        } else {
            finishLarge(Columns.Row.self, sums, columns: Columns.count, panelCount: panelCount, panels, output)
        }
    }
}

/// Not inlined, because large tiles are few: their number of columns would repeat the code many times.
@inline(never)
private func finishLarge<Row: TileRow>(
    _: Row.Type,
    _ sums: UnsafeRawPointer,
    columns: Int,
    panelCount: Int,
    _ panels: PanelGroup,
    _ output: TileOutput
) {
    Row.finish(sums, columns: columns, panelCount: panelCount, panels, output)
}
