import KernelContract

// One to six columns of a convolution at once: each row of weights is loaded once for all of them. Every column adds in the
// same order, so that it comes out the same to the last bit whichever columns are computed with it: that is what makes
// streaming equal to the whole window.

/// Where the inputs of one output column lie: `runs` stretches of `length` floats.
struct Patch {
    var runs: Int
    var length: Int
    var runStep: Int
    var columnStep: Int
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

    @inline(__always) func put(_ row: some PanelRow, column: Int) {
        let offset = column * columnStep
        row.store(to: output + offset, residual: residual.map { $0 + offset }, width: width, rectify: rectify)
    }
}

/// One row of the panels of a tile: the row's place in the first panel, and floats from one panel to the next.
struct PanelGroup {
    var first: UnsafePointer<Float>
    var step: Int

    @inline(__always) func row<Row: PanelRow>(_: Row.Type) -> Row { Row(first, step: step) }
    @inline(__always) mutating func next() { first += panelWidth }

    /// The rows of weights, which come after the bias.
    @inline(__always) var afterBias: PanelGroup { PanelGroup(first: first + panelWidth, step: step) }
}

@inline(__always)
func tile1<Row: PanelRow>(
    _: Row.Type,
    _ input: UnsafePointer<Float>,
    _ panels: PanelGroup,
    _ patch: Patch,
    _ outlet: Outlet
) {
    var a = panels.row(Row.self)
    var rows = panels.afterBias
    for run in 0..<patch.runs {
        let x = input + run * patch.runStep
        for index in 0..<patch.length {
            a.add(Vector(repeating: x[index]), rows.row(Row.self))
            rows.next()
        }
    }
    outlet.put(a, column: 0)
}

@inline(__always)
func tile2<Row: PanelRow>(
    _: Row.Type,
    _ input: UnsafePointer<Float>,
    _ panels: PanelGroup,
    _ patch: Patch,
    _ outlet: Outlet
) {
    let bias = panels.row(Row.self)
    var (a, b) = (bias, bias)
    var rows = panels.afterBias
    for run in 0..<patch.runs {
        let u = input + run * patch.runStep
        let v = u + patch.columnStep
        for index in 0..<patch.length {
            let row = rows.row(Row.self)
            rows.next()
            a.add(Vector(repeating: u[index]), row)
            b.add(Vector(repeating: v[index]), row)
        }
    }
    outlet.put(a, column: 0)
    outlet.put(b, column: 1)
}

@inline(__always)
func tile3<Row: PanelRow>(
    _: Row.Type,
    _ input: UnsafePointer<Float>,
    _ panels: PanelGroup,
    _ patch: Patch,
    _ outlet: Outlet
) {
    let bias = panels.row(Row.self)
    var (a, b, c) = (bias, bias, bias)
    var rows = panels.afterBias
    for run in 0..<patch.runs {
        let u = input + run * patch.runStep
        let v = u + patch.columnStep
        let w = v + patch.columnStep
        for index in 0..<patch.length {
            let row = rows.row(Row.self)
            rows.next()
            a.add(Vector(repeating: u[index]), row)
            b.add(Vector(repeating: v[index]), row)
            c.add(Vector(repeating: w[index]), row)
        }
    }
    outlet.put(a, column: 0)
    outlet.put(b, column: 1)
    outlet.put(c, column: 2)
}

@inline(__always)
func tile4<Row: PanelRow>(
    _: Row.Type,
    _ input: UnsafePointer<Float>,
    _ panels: PanelGroup,
    _ patch: Patch,
    _ outlet: Outlet
) {
    let bias = panels.row(Row.self)
    var (a, b, c, d) = (bias, bias, bias, bias)
    var rows = panels.afterBias
    for run in 0..<patch.runs {
        let u = input + run * patch.runStep
        let v = u + patch.columnStep
        let w = v + patch.columnStep
        let x = w + patch.columnStep
        for index in 0..<patch.length {
            let row = rows.row(Row.self)
            rows.next()
            a.add(Vector(repeating: u[index]), row)
            b.add(Vector(repeating: v[index]), row)
            c.add(Vector(repeating: w[index]), row)
            d.add(Vector(repeating: x[index]), row)
        }
    }
    outlet.put(a, column: 0)
    outlet.put(b, column: 1)
    outlet.put(c, column: 2)
    outlet.put(d, column: 3)
}

@inline(__always)
func tile5<Row: PanelRow>(
    _: Row.Type,
    _ input: UnsafePointer<Float>,
    _ panels: PanelGroup,
    _ patch: Patch,
    _ outlet: Outlet
) {
    let bias = panels.row(Row.self)
    var (a, b, c, d, e) = (bias, bias, bias, bias, bias)
    var rows = panels.afterBias
    for run in 0..<patch.runs {
        let u = input + run * patch.runStep
        let v = u + patch.columnStep
        let w = v + patch.columnStep
        let x = w + patch.columnStep
        let y = x + patch.columnStep
        for index in 0..<patch.length {
            let row = rows.row(Row.self)
            rows.next()
            a.add(Vector(repeating: u[index]), row)
            b.add(Vector(repeating: v[index]), row)
            c.add(Vector(repeating: w[index]), row)
            d.add(Vector(repeating: x[index]), row)
            e.add(Vector(repeating: y[index]), row)
        }
    }
    outlet.put(a, column: 0)
    outlet.put(b, column: 1)
    outlet.put(c, column: 2)
    outlet.put(d, column: 3)
    outlet.put(e, column: 4)
}

@inline(__always)
func tile6<Row: PanelRow>(
    _: Row.Type,
    _ input: UnsafePointer<Float>,
    _ panels: PanelGroup,
    _ patch: Patch,
    _ outlet: Outlet
) {
    let bias = panels.row(Row.self)
    var (a, b, c, d, e, f) = (bias, bias, bias, bias, bias, bias)
    var rows = panels.afterBias
    for run in 0..<patch.runs {
        let u = input + run * patch.runStep
        let v = u + patch.columnStep
        let w = v + patch.columnStep
        let x = w + patch.columnStep
        let y = x + patch.columnStep
        let z = y + patch.columnStep
        for index in 0..<patch.length {
            let row = rows.row(Row.self)
            rows.next()
            a.add(Vector(repeating: u[index]), row)
            b.add(Vector(repeating: v[index]), row)
            c.add(Vector(repeating: w[index]), row)
            d.add(Vector(repeating: x[index]), row)
            e.add(Vector(repeating: y[index]), row)
            f.add(Vector(repeating: z[index]), row)
        }
    }
    outlet.put(a, column: 0)
    outlet.put(b, column: 1)
    outlet.put(c, column: 2)
    outlet.put(d, column: 3)
    outlet.put(e, column: 4)
    outlet.put(f, column: 5)
}
