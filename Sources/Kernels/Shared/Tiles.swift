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
        runStride = shape.dilation * shape.inputChannels / inputsPerLane
        columnStride = columns.inputStride / inputsPerLane
    }
}

/// Positions of a tile's results.
struct TileOutput {
    var output: UnsafeMutablePointer<Float>
    var residual: UnsafePointer<Float>?
    /// Floats from one column to the next.
    var columnStride: Int
    /// Output channels from the tile's first one to the layer's last.
    var width: Int
    var relu: Bool

    @inline(__always) func store(_ row: some TileRow, _ panels: PanelGroup, column: Int) {
        let offset = column * columnStride
        row.store(
            to: output + offset,
            residual: residual.map { $0 + offset },
            width: width,
            relu: relu,
            of: panels
        )
    }
}

/// The sums of a tile, column by column, in registers.
protocol TileColumns {
    associatedtype Row: TileRow

    static var count: Int { get }

    init(_ panels: PanelGroup)
    /// Adds the products of the input of each column, which are `stride` apart, with one row of weights.
    mutating func add(_ input: UnsafePointer<Row.Input>, _ stride: Int, _ weights: Row.Weights)
    func store(_ panels: PanelGroup, _ output: TileOutput)
}

struct OneColumn<Row: TileRow>: TileColumns {
    private var sums: Row

    @inline(__always) static var count: Int { 1 }

    @inline(__always) init(_ panels: PanelGroup) { sums = Row(panels) }

    @inline(__always) mutating func add(_ input: UnsafePointer<Row.Input>, _ stride: Int, _ weights: Row.Weights) {
        sums.add(Row.factor(input), weights)
    }

    @inline(__always) func store(_ panels: PanelGroup, _ output: TileOutput) { output.store(sums, panels, column: 0) }
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

    @inline(__always) func store(_ panels: PanelGroup, _ output: TileOutput) {
        before.store(panels, output)
        output.store(sums, panels, column: Before.count)
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
    columns.store(panels, output)
}
