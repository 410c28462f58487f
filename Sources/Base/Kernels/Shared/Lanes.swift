// Accumulators are named members of plain structs, since an array of them would live in memory.

/// The sums of some output channels of a panel at one column.
protocol Lanes {
    static var count: Int { get }

    init(_ source: UnsafePointer<Float>)
    mutating func add(_ factor: Vector, _ row: Self)
    mutating func finish(_ residual: UnsafePointer<Float>?, _ relu: Bool)
    func write(to target: UnsafeMutablePointer<Float>)
}

/// As many output channels as a vector has elements.
struct OneVector: Lanes {
    private var sums: Vector

    @inline(__always) static var count: Int { Width.vector }

    // Rows of packed panels are aligned.
    @inline(__always) init(_ source: UnsafePointer<Float>) {
        sums = UnsafeRawPointer(source).assumingMemoryBound(to: Vector.self).pointee
    }

    @inline(__always) mutating func add(_ factor: Vector, _ row: OneVector) {
        sums = multiplyAdd(sums, factor, row.sums)
    }

    @inline(__always) mutating func finish(_ residual: UnsafePointer<Float>?, _ relu: Bool) {
        if let residual { sums = sums + load(residual) }
        if relu { sums = rectified(sums) }
    }

    @inline(__always) func write(to target: UnsafeMutablePointer<Float>) { store(sums, to: target) }
}

/// Two adjacent halves: two vectors, or nested four.
struct LanePair<Half: Lanes>: Lanes {
    private var low: Half
    private var high: Half

    @inline(__always) static var count: Int { 2 * Half.count }

    @inline(__always) init(_ source: UnsafePointer<Float>) {
        low = Half(source)
        high = Half(source + Half.count)
    }

    /// Lanes whose upper half is not used.
    @inline(__always) init(low: Half) {
        self.low = low
        high = low
    }

    @inline(__always) mutating func add(_ factor: Vector, _ row: LanePair) {
        low.add(factor, row.low)
        high.add(factor, row.high)
    }

    @inline(__always) mutating func finish(_ residual: UnsafePointer<Float>?, _ relu: Bool) {
        low.finish(residual, relu)
        high.finish(residual.map { $0 + Half.count }, relu)
    }

    @inline(__always) func write(to target: UnsafeMutablePointer<Float>) {
        low.write(to: target)
        high.write(to: target + Half.count)
    }
}
