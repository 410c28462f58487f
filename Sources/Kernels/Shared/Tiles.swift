import KernelInterface

// One to six columns of a convolution at once: each row of weights is loaded once for all of them. Every column adds in the
// same order, so that it comes out the same to the last bit whichever columns are computed with it: that is what makes
// streaming equal to the whole window.

/// Where the inputs of one output column lie: `runs` stretches of `length` rows, the steps counted in a row's `Input`.
struct Patch {
    var runs: Int
    var length: Int
    var runStep: Int
    var columnStep: Int
    /// Floats of weights behind each run that no row reads.
    var weightGap = 0

    /// - Parameter atOnce: input channels in each of a row's inputs.
    @inline(__always)
    init<Row: PanelRow>(_ shape: ConvolutionShape, _ columns: ColumnRun, _: Row.Type, atOnce: Int) {
        let group = atOnce * Row.inputCount
        runs = shape.runs
        length = (shape.runLength + group - 1) / group
        runStep = shape.dilation * shape.inputChannels / atOnce
        columnStep = columns.inputStep / atOnce
    }
}

/// Where a tile's results go.
struct Outlet {
    var output: UnsafeMutablePointer<Float>
    var residual: UnsafePointer<Float>?
    /// Floats from one column to the next.
    var columnStep: Int
    /// Channels that are there from the tile's first one on.
    var width: Int
    var rectify: Bool

    @inline(__always) func put(_ row: some PanelRow, _ panels: PanelGroup, column: Int) {
        let offset = column * columnStep
        row.store(
            to: output + offset,
            residual: residual.map { $0 + offset },
            width: width,
            rectify: rectify,
            of: panels
        )
    }
}

/// The sums of a tile's columns, each in registers of its own.
protocol TileColumns {
    associatedtype Row: PanelRow

    static var count: Int { get }

    init(_ panels: PanelGroup)
    /// Adds what lies at `input` and, for each further column, `step` behind.
    mutating func add(_ input: UnsafePointer<Row.Input>, _ step: Int, _ weights: Row.Weights)
    func put(_ panels: PanelGroup, _ outlet: Outlet)
}

struct OneColumn<Row: PanelRow>: TileColumns {
    private var sums: Row

    @inline(__always) static var count: Int { 1 }

    @inline(__always) init(_ panels: PanelGroup) { sums = Row(panels) }

    @inline(__always) mutating func add(_ input: UnsafePointer<Row.Input>, _ step: Int, _ weights: Row.Weights) {
        sums.add(Row.factor(input), weights)
    }

    @inline(__always) func put(_ panels: PanelGroup, _ outlet: Outlet) { outlet.put(sums, panels, column: 0) }
}

/// Some columns, and one more behind them.
struct OneMore<Before: TileColumns>: TileColumns {
    typealias Row = Before.Row

    private var before: Before
    private var sums: Row

    @inline(__always) static var count: Int { Before.count + 1 }

    @inline(__always) init(_ panels: PanelGroup) {
        before = Before(panels)
        sums = Row(panels)
    }

    @inline(__always) mutating func add(_ input: UnsafePointer<Row.Input>, _ step: Int, _ weights: Row.Weights) {
        before.add(input, step, weights)
        sums.add(Row.factor(input + Before.count * step), weights)
    }

    @inline(__always) func put(_ panels: PanelGroup, _ outlet: Outlet) {
        before.put(panels, outlet)
        outlet.put(sums, panels, column: Before.count)
    }
}

typealias TwoColumns<Row: PanelRow> = OneMore<OneColumn<Row>>
typealias ThreeColumns<Row: PanelRow> = OneMore<TwoColumns<Row>>
typealias FourColumns<Row: PanelRow> = OneMore<ThreeColumns<Row>>
typealias FiveColumns<Row: PanelRow> = OneMore<FourColumns<Row>>
typealias SixColumns<Row: PanelRow> = OneMore<FiveColumns<Row>>

/// Computes one tile.
@inline(__always)
func tile<Columns: TileColumns>(
    _: Columns.Type,
    _ input: UnsafePointer<Columns.Row.Input>,
    _ panels: PanelGroup,
    _ patch: Patch,
    _ outlet: Outlet
) {
    var columns = Columns(panels)
    var rows = panels.after(Columns.Row.headCount)
    for run in 0..<patch.runs {
        let x = input + run * patch.runStep
        for index in 0..<patch.length {
            columns.add(x + index * Columns.Row.inputCount, patch.columnStep, Columns.Row.weights(rows))
            rows = rows.after(Columns.Row.rowCount)
        }
        rows = rows.after(patch.weightGap)
    }
    columns.put(panels, outlet)
}
