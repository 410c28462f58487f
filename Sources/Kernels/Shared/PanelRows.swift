import KernelInterface

// What a tile is made of, whatever its numbers are: the sums of some panels at one column, and how they grow.

/// A place in the first panel of a tile, and floats from one panel to the next.
struct PanelGroup {
    var first: UnsafePointer<Float>
    var step: Int

    @inline(__always) func after(_ floats: Int) -> PanelGroup { PanelGroup(first: first + floats, step: step) }
    @inline(__always) func skipping(_ panels: Int) -> PanelGroup { after(panels * step) }
}

/// Some panels side by side at one column: what a tile's rows are made of.
protocol PanelRow {
    /// What is read of a column at once, and that in all lanes.
    associatedtype Input
    associatedtype Factor
    associatedtype Weights

    static var panels: Int { get }
    /// Columns at once whose sums the registers hold.
    static var columns: Int { get }

    /// Floats of a panel before its first row of weights, and of each row.
    static var headCount: Int { get }
    static var rowCount: Int { get }
    /// How many of `Input` a row reads.
    static var inputCount: Int { get }

    /// What the sums begin with.
    init(_ panels: PanelGroup)
    static func factor(_ input: UnsafePointer<Input>) -> Factor
    static func weights(_ row: PanelGroup) -> Weights
    mutating func add(_ factor: Factor, _ weights: Weights)
    /// Writes the channels of all panels; `width` of them are there in all.
    func store(
        to target: UnsafeMutablePointer<Float>,
        residual: UnsafePointer<Float>?,
        width: Int,
        rectify: Bool,
        of panels: PanelGroup
    )
}

/// One panel whose products are of floats.
struct FloatPanel: PanelRow {
    private var sums: Panel

    @inline(__always) static var panels: Int { 1 }
    @inline(__always) static var columns: Int { Width.isShortOfRegisters ? 3 : 6 }
    // The biases.
    @inline(__always) static var headCount: Int { panelWidth }
    @inline(__always) static var rowCount: Int { panelWidth }
    @inline(__always) static var inputCount: Int { 1 }

    @inline(__always) init(_ panels: PanelGroup) { sums = Panel(panels.first) }

    @inline(__always) static func factor(_ input: UnsafePointer<Float>) -> Vector {
        Vector(repeating: input.pointee)
    }

    @inline(__always) static func weights(_ row: PanelGroup) -> Panel { Panel(row.first) }

    @inline(__always) mutating func add(_ factor: Vector, _ weights: Panel) { sums.add(factor, weights) }
    @inline(__always)
    func store(
        to target: UnsafeMutablePointer<Float>,
        residual: UnsafePointer<Float>?,
        width: Int,
        rectify: Bool,
        of panels: PanelGroup
    ) {
        sums.store(to: target, residual: residual, width: width, rectify: rectify)
    }
}

/// Two rows side by side as one: two panels of one, four of two.
struct Pair<Half: PanelRow>: PanelRow {
    typealias Weights = (a: Half.Weights, b: Half.Weights)

    private var a: Half
    private var b: Half

    @inline(__always) static var panels: Int { 2 * Half.panels }
    @inline(__always) static var columns: Int { Width.vector == 16 ? Half.columns : Half.columns / 2 }
    @inline(__always) static var headCount: Int { Half.headCount }
    @inline(__always) static var rowCount: Int { Half.rowCount }
    @inline(__always) static var inputCount: Int { Half.inputCount }

    @inline(__always) init(_ panels: PanelGroup) {
        a = Half(panels)
        b = Half(panels.skipping(Half.panels))
    }

    @inline(__always) static func factor(_ input: UnsafePointer<Half.Input>) -> Half.Factor { Half.factor(input) }

    @inline(__always) static func weights(_ row: PanelGroup) -> Weights {
        (Half.weights(row), Half.weights(row.skipping(Half.panels)))
    }

    @inline(__always) mutating func add(_ factor: Half.Factor, _ weights: Weights) {
        a.add(factor, weights.a)
        b.add(factor, weights.b)
    }
    @inline(__always)
    func store(
        to target: UnsafeMutablePointer<Float>,
        residual: UnsafePointer<Float>?,
        width: Int,
        rectify: Bool,
        of panels: PanelGroup
    ) {
        let half = Half.panels * panelWidth
        a.store(to: target, residual: residual, width: width, rectify: rectify, of: panels)
        b.store(
            to: target + half,
            residual: residual.map { $0 + half },
            width: width - half,
            rectify: rectify,
            of: panels.skipping(Half.panels)
        )
    }
}
