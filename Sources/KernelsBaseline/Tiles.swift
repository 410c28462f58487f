// One to six columns of a convolution at once: each row of weights is loaded once for all of them. Every column adds in the
// same order, so that it comes out the same to the last bit whichever columns are computed with it: that is what makes
// streaming equal to the whole window.

/// Where the inputs of one output column lie: `runs` stretches of `length`, all counted in what a row reads at once.
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

@inline(__always)
func tile1<Row: PanelRow>(
    _: Row.Type,
    _ input: UnsafePointer<Row.Input>,
    _ panels: PanelGroup,
    _ patch: Patch,
    _ outlet: Outlet
) {
    var a = Row(panels)
    var rows = panels.after(Row.headCount)
    for run in 0..<patch.runs {
        let x = input + run * patch.runStep
        for index in 0..<patch.length {
            a.add(Row.factor(x[index]), Row.weights(rows))
            rows = rows.after(Row.rowCount)
        }
    }
    outlet.put(a, panels, column: 0)
}

@inline(__always)
func tile2<Row: PanelRow>(
    _: Row.Type,
    _ input: UnsafePointer<Row.Input>,
    _ panels: PanelGroup,
    _ patch: Patch,
    _ outlet: Outlet
) {
    let bias = Row(panels)
    var (a, b) = (bias, bias)
    var rows = panels.after(Row.headCount)
    for run in 0..<patch.runs {
        let u = input + run * patch.runStep
        let v = u + patch.columnStep
        for index in 0..<patch.length {
            let row = Row.weights(rows)
            rows = rows.after(Row.rowCount)
            a.add(Row.factor(u[index]), row)
            b.add(Row.factor(v[index]), row)
        }
    }
    outlet.put(a, panels, column: 0)
    outlet.put(b, panels, column: 1)
}

@inline(__always)
func tile3<Row: PanelRow>(
    _: Row.Type,
    _ input: UnsafePointer<Row.Input>,
    _ panels: PanelGroup,
    _ patch: Patch,
    _ outlet: Outlet
) {
    let bias = Row(panels)
    var (a, b, c) = (bias, bias, bias)
    var rows = panels.after(Row.headCount)
    for run in 0..<patch.runs {
        let u = input + run * patch.runStep
        let v = u + patch.columnStep
        let w = v + patch.columnStep
        for index in 0..<patch.length {
            let row = Row.weights(rows)
            rows = rows.after(Row.rowCount)
            a.add(Row.factor(u[index]), row)
            b.add(Row.factor(v[index]), row)
            c.add(Row.factor(w[index]), row)
        }
    }
    outlet.put(a, panels, column: 0)
    outlet.put(b, panels, column: 1)
    outlet.put(c, panels, column: 2)
}

@inline(__always)
func tile4<Row: PanelRow>(
    _: Row.Type,
    _ input: UnsafePointer<Row.Input>,
    _ panels: PanelGroup,
    _ patch: Patch,
    _ outlet: Outlet
) {
    let bias = Row(panels)
    var (a, b, c, d) = (bias, bias, bias, bias)
    var rows = panels.after(Row.headCount)
    for run in 0..<patch.runs {
        let u = input + run * patch.runStep
        let v = u + patch.columnStep
        let w = v + patch.columnStep
        let x = w + patch.columnStep
        for index in 0..<patch.length {
            let row = Row.weights(rows)
            rows = rows.after(Row.rowCount)
            a.add(Row.factor(u[index]), row)
            b.add(Row.factor(v[index]), row)
            c.add(Row.factor(w[index]), row)
            d.add(Row.factor(x[index]), row)
        }
    }
    outlet.put(a, panels, column: 0)
    outlet.put(b, panels, column: 1)
    outlet.put(c, panels, column: 2)
    outlet.put(d, panels, column: 3)
}

@inline(__always)
func tile5<Row: PanelRow>(
    _: Row.Type,
    _ input: UnsafePointer<Row.Input>,
    _ panels: PanelGroup,
    _ patch: Patch,
    _ outlet: Outlet
) {
    let bias = Row(panels)
    var (a, b, c, d, e) = (bias, bias, bias, bias, bias)
    var rows = panels.after(Row.headCount)
    for run in 0..<patch.runs {
        let u = input + run * patch.runStep
        let v = u + patch.columnStep
        let w = v + patch.columnStep
        let x = w + patch.columnStep
        let y = x + patch.columnStep
        for index in 0..<patch.length {
            let row = Row.weights(rows)
            rows = rows.after(Row.rowCount)
            a.add(Row.factor(u[index]), row)
            b.add(Row.factor(v[index]), row)
            c.add(Row.factor(w[index]), row)
            d.add(Row.factor(x[index]), row)
            e.add(Row.factor(y[index]), row)
        }
    }
    outlet.put(a, panels, column: 0)
    outlet.put(b, panels, column: 1)
    outlet.put(c, panels, column: 2)
    outlet.put(d, panels, column: 3)
    outlet.put(e, panels, column: 4)
}

@inline(__always)
func tile6<Row: PanelRow>(
    _: Row.Type,
    _ input: UnsafePointer<Row.Input>,
    _ panels: PanelGroup,
    _ patch: Patch,
    _ outlet: Outlet
) {
    let bias = Row(panels)
    var (a, b, c, d, e, f) = (bias, bias, bias, bias, bias, bias)
    var rows = panels.after(Row.headCount)
    for run in 0..<patch.runs {
        let u = input + run * patch.runStep
        let v = u + patch.columnStep
        let w = v + patch.columnStep
        let x = w + patch.columnStep
        let y = x + patch.columnStep
        let z = y + patch.columnStep
        for index in 0..<patch.length {
            let row = Row.weights(rows)
            rows = rows.after(Row.rowCount)
            a.add(Row.factor(u[index]), row)
            b.add(Row.factor(v[index]), row)
            c.add(Row.factor(w[index]), row)
            d.add(Row.factor(x[index]), row)
            e.add(Row.factor(y[index]), row)
            f.add(Row.factor(z[index]), row)
        }
    }
    outlet.put(a, panels, column: 0)
    outlet.put(b, panels, column: 1)
    outlet.put(c, panels, column: 2)
    outlet.put(d, panels, column: 3)
    outlet.put(e, panels, column: 4)
    outlet.put(f, panels, column: 5)
}
