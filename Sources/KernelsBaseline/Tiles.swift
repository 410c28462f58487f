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

/// The panels of a tile: their first, and floats from one to the next.
struct PanelGroup {
    var first: UnsafePointer<Float>
    var step: Int

    @inline(__always) func row<Row: PanelRow>(_: Row.Type, _ index: Int) -> Row {
        Row(first + index * 16, step: step)
    }
}

@inline(__always)
func tile1<Row: PanelRow>(
    _: Row.Type,
    _ input: UnsafePointer<Float>,
    _ panels: PanelGroup,
    _ patch: Patch,
    _ outlet: Outlet
) {
    var a = panels.row(Row.self, 0)
    var next = 1
    for run in 0..<patch.runs {
        let x = input + run * patch.runStep
        for index in 0..<patch.length {
            a.add(Vector(repeating: x[index]), panels.row(Row.self, next))
            next += 1
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
    let bias = panels.row(Row.self, 0)
    var (a, b) = (bias, bias)
    var next = 1
    let step = patch.columnStep
    for run in 0..<patch.runs {
        let x = input + run * patch.runStep
        for index in 0..<patch.length {
            let row = panels.row(Row.self, next)
            next += 1
            a.add(Vector(repeating: x[index]), row)
            b.add(Vector(repeating: x[index + step]), row)
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
    let bias = panels.row(Row.self, 0)
    var (a, b, c) = (bias, bias, bias)
    var next = 1
    let step = patch.columnStep
    for run in 0..<patch.runs {
        let x = input + run * patch.runStep
        for index in 0..<patch.length {
            let row = panels.row(Row.self, next)
            next += 1
            a.add(Vector(repeating: x[index]), row)
            b.add(Vector(repeating: x[index + step]), row)
            c.add(Vector(repeating: x[index + 2 * step]), row)
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
    let bias = panels.row(Row.self, 0)
    var (a, b, c, d) = (bias, bias, bias, bias)
    var next = 1
    let step = patch.columnStep
    for run in 0..<patch.runs {
        let x = input + run * patch.runStep
        for index in 0..<patch.length {
            let row = panels.row(Row.self, next)
            next += 1
            a.add(Vector(repeating: x[index]), row)
            b.add(Vector(repeating: x[index + step]), row)
            c.add(Vector(repeating: x[index + 2 * step]), row)
            d.add(Vector(repeating: x[index + 3 * step]), row)
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
    let bias = panels.row(Row.self, 0)
    var (a, b, c, d, e) = (bias, bias, bias, bias, bias)
    var next = 1
    let step = patch.columnStep
    for run in 0..<patch.runs {
        let x = input + run * patch.runStep
        for index in 0..<patch.length {
            let row = panels.row(Row.self, next)
            next += 1
            a.add(Vector(repeating: x[index]), row)
            b.add(Vector(repeating: x[index + step]), row)
            c.add(Vector(repeating: x[index + 2 * step]), row)
            d.add(Vector(repeating: x[index + 3 * step]), row)
            e.add(Vector(repeating: x[index + 4 * step]), row)
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
    let bias = panels.row(Row.self, 0)
    var (a, b, c, d, e, f) = (bias, bias, bias, bias, bias, bias)
    var next = 1
    let step = patch.columnStep
    for run in 0..<patch.runs {
        let x = input + run * patch.runStep
        for index in 0..<patch.length {
            let row = panels.row(Row.self, next)
            next += 1
            a.add(Vector(repeating: x[index]), row)
            b.add(Vector(repeating: x[index + step]), row)
            c.add(Vector(repeating: x[index + 2 * step]), row)
            d.add(Vector(repeating: x[index + 3 * step]), row)
            e.add(Vector(repeating: x[index + 4 * step]), row)
            f.add(Vector(repeating: x[index + 5 * step]), row)
        }
    }
    outlet.put(a, column: 0)
    outlet.put(b, column: 1)
    outlet.put(c, column: 2)
    outlet.put(d, column: 3)
    outlet.put(e, column: 4)
    outlet.put(f, column: 5)
}
