import KernelInterface

// Accumulators as named members of plain structs: an array of them would live in memory.

/// Some output channels of a packed panel at one column.
protocol Lanes {
    static var count: Int { get }

    init(_ source: UnsafePointer<Float>)
    mutating func add(_ factor: Vector, _ row: Self)
    mutating func finish(_ residual: UnsafePointer<Float>?, _ rectify: Bool)
    func write(to target: UnsafeMutablePointer<Float>)
}

/// As many channels as a vector has elements.
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

    @inline(__always) mutating func finish(_ residual: UnsafePointer<Float>?, _ rectify: Bool) {
        if let residual { sums = sums + load(residual) }
        if rectify { sums = rectified(sums) }
    }

    @inline(__always) func write(to target: UnsafeMutablePointer<Float>) { put(sums, at: target) }
}

struct TwoOf<Half: Lanes>: Lanes {
    private var low: Half
    private var high: Half

    @inline(__always) static var count: Int { 2 * Half.count }

    @inline(__always) init(_ source: UnsafePointer<Float>) {
        low = Half(source)
        high = Half(source + Half.count)
    }

    @inline(__always) mutating func add(_ factor: Vector, _ row: TwoOf) {
        low.add(factor, row.low)
        high.add(factor, row.high)
    }

    @inline(__always) mutating func finish(_ residual: UnsafePointer<Float>?, _ rectify: Bool) {
        low.finish(residual, rectify)
        high.finish(residual.map { $0 + Half.count }, rectify)
    }

    @inline(__always) func write(to target: UnsafeMutablePointer<Float>) {
        low.write(to: target)
        high.write(to: target + Half.count)
    }
}

/// All output channels of one packed panel at one column.
#if KERNEL_AVX512
typealias Panel = OneVector
#elseif KERNEL_AVX2
typealias Panel = TwoOf<OneVector>
#else
typealias Panel = TwoOf<TwoOf<OneVector>>
#endif

extension Panel {
    /// Writes the first `width` channels; what the panel was padded with is dropped.
    @inline(__always)
    func store(
        to target: UnsafeMutablePointer<Float>,
        residual: UnsafePointer<Float>?,
        width: Int,
        rectify: Bool
    ) {
        if width >= panelWidth {
            var result = self
            result.finish(residual, rectify)
            result.write(to: target)
        } else {
            storePart(to: target, residual: residual, width: width, rectify: rectify)
        }
    }

    /// Apart, as its branches would cost whole panels their registers.
    @inline(never)
    private func storePart(
        to target: UnsafeMutablePointer<Float>,
        residual: UnsafePointer<Float>?,
        width: Int,
        rectify: Bool
    ) {
        var result = self
        if let residual {
            // What lies behind the residual's end may not be read.
            var padded = SIMD16<Float>.zero
            withUnsafeMutableBytes(of: &padded) { padded in
                let channels = padded.assumingMemoryBound(to: Float.self)
                guard let start = channels.baseAddress else { return }
                copyPart(residual, to: start, width)
                result.finish(start, rectify)
            }
        } else {
            result.finish(nil, rectify)
        }
        withUnsafeBytes(of: result) { channels in
            guard let start = channels.assumingMemoryBound(to: Float.self).baseAddress else { return }
            copyPart(start, to: target, width)
        }
    }
}

/// Copies fewer than sixteen floats, in as few moves as there are bits set in their number.
@inline(__always)
private func copyPart(_ source: UnsafePointer<Float>, to target: UnsafeMutablePointer<Float>, _ count: Int) {
    var place = 0
    if count & 8 != 0 { place = move(SIMD8<Float>.self, source, target, place) }
    if count & 4 != 0 { place = move(SIMD4<Float>.self, source, target, place) }
    if count & 2 != 0 { place = move(SIMD2<Float>.self, source, target, place) }
    if count & 1 != 0 { target[place] = source[place] }
}

@inline(__always)
private func move<Part: SIMD<Float>>(
    _: Part.Type,
    _ source: UnsafePointer<Float>,
    _ target: UnsafeMutablePointer<Float>,
    _ place: Int
) -> Int {
    let part = UnsafeRawPointer(source + place).loadUnaligned(as: Part.self)
    UnsafeMutableRawPointer(target + place).storeBytes(of: part, as: Part.self)
    return place + Part.scalarCount
}
