import KernelInterface

/// All output channels of one packed panel at one column.
#if KERNEL_AVX512
typealias Panel = OneVector
#elseif KERNEL_AVX2
typealias Panel = LanePair<OneVector>
#else
typealias Panel = LanePair<LanePair<OneVector>>
#endif

extension Panel {
    /// Writes the first `width` channels; the others are padding.
    @inline(__always)
    func write(
        to target: UnsafeMutablePointer<Float>,
        residual: UnsafePointer<Float>?,
        width: Int,
        relu: Bool
    ) {
        if width >= panelWidth {
            var result = self
            result.finish(residual, relu)
            result.write(to: target)
        } else {
            writePartial(to: target, residual: residual, width: width, relu: relu)
        }
    }

    /// Not inlined: its branches would make full panels spill registers.
    @inline(never)
    private func writePartial(
        to target: UnsafeMutablePointer<Float>,
        residual: UnsafePointer<Float>?,
        width: Int,
        relu: Bool
    ) {
        var result = self
        if let residual {
            // Memory after the residual's end must not be read.
            var padded = SIMD16<Float>.zero
            withUnsafeMutableBytes(of: &padded) { padded in
                let channels = padded.assumingMemoryBound(to: Float.self)
                guard let start = channels.baseAddress else { return }
                copyPartial(residual, to: start, width)
                result.finish(start, relu)
            }
        } else {
            result.finish(nil, relu)
        }
        withUnsafeBytes(of: result) { channels in
            guard let start = channels.assumingMemoryBound(to: Float.self).baseAddress else { return }
            copyPartial(start, to: target, width)
        }
    }
}

/// Copies fewer than 16 floats with one move for each bit set in `count`.
@inline(__always)
private func copyPartial(_ source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, _ count: Int) {
    var index = 0
    if count & 8 != 0 { index = move(SIMD8<Float>.self, source, target, index) }
    if count & 4 != 0 { index = move(SIMD4<Float>.self, source, target, index) }
    if count & 2 != 0 { index = move(SIMD2<Float>.self, source, target, index) }
    if count & 1 != 0 { target[index] = source[index] }
}

@inline(__always)
private func move<Part: SIMD<Float>>(
    _: Part.Type,
    _ source: UnsafePointer<Float>,
    _ target: UnsafeMutablePointer<Float>,
    _ index: Int
) -> Int {
    let part = UnsafeRawPointer(source + index).loadUnaligned(as: Part.self)
    UnsafeMutableRawPointer(target + index).storeBytes(of: part, as: Part.self)
    return index + Part.scalarCount
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
    /// Writes the output channels of all panels, of which the first `width` exist.
    func store(
        to target: UnsafeMutablePointer<Float>,
        residual: UnsafePointer<Float>?,
        width: Int,
        relu: Bool,
        of panels: PanelGroup
    )
}

/// One panel with float sums.
struct FloatPanel: TileRow {
    private var sums: Panel

    @inline(__always) static var panels: Int { 1 }
    @inline(__always) static var columns: Int { Width.hasFewRegisters ? 3 : 6 }
    @inline(__always) static var headerCount: Int { panelWidth }
    @inline(__always) static var weightRowCount: Int { panelWidth }
    @inline(__always) static var inputsPerRow: Int { 1 }

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
        relu: Bool,
        of panels: PanelGroup
    ) {
        sums.write(to: target, residual: residual, width: width, relu: relu)
    }
}

/// Two adjacent rows as one; nested, four panels.
struct PanelPair<Half: TileRow>: TileRow {
    typealias Weights = (a: Half.Weights, b: Half.Weights)

    private var a: Half
    private var b: Half

    @inline(__always) static var panels: Int { 2 * Half.panels }
    @inline(__always) static var columns: Int { Width.vector == 16 ? Half.columns : Half.columns / 2 }
    @inline(__always) static var headerCount: Int { Half.headerCount }
    @inline(__always) static var weightRowCount: Int { Half.weightRowCount }
    @inline(__always) static var inputsPerRow: Int { Half.inputsPerRow }

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
        relu: Bool,
        of panels: PanelGroup
    ) {
        let half = Half.panels * panelWidth
        a.store(to: target, residual: residual, width: width, relu: relu, of: panels)
        b.store(
            to: target + half,
            residual: residual.map { $0 + half },
            width: width - half,
            relu: relu,
            of: panels.skipping(Half.panels)
        )
    }
}
