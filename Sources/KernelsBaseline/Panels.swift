import KernelContract

// Accumulators as named members of plain structs: an array of them would live in memory.

/// The output channels of one packed panel at one column.
struct Panel {
    #if KERNEL_AVX512
    var a: Vector

    @inline(__always) init(_ source: UnsafePointer<Float>) { a = aligned(source)[0] }

    @inline(__always) mutating func add(_ factor: Vector, _ row: Panel) { a = multiplyAdd(a, factor, row.a) }

    @inline(__always) func finished(_ residual: UnsafePointer<Float>?, _ rectify: Bool) -> Panel {
        var result = self
        if let residual { result.a = result.a + load(residual) }
        if rectify { result.a = rectified(result.a) }
        return result
    }

    @inline(__always) func write(to target: UnsafeMutablePointer<Float>) { put(a, at: target) }
    #elseif KERNEL_AVX2
    var a: Vector
    var b: Vector

    @inline(__always) init(_ source: UnsafePointer<Float>) {
        a = aligned(source)[0]
        b = aligned(source)[1]
    }

    @inline(__always) mutating func add(_ factor: Vector, _ row: Panel) {
        a = multiplyAdd(a, factor, row.a)
        b = multiplyAdd(b, factor, row.b)
    }

    @inline(__always) func finished(_ residual: UnsafePointer<Float>?, _ rectify: Bool) -> Panel {
        var result = self
        if let residual {
            result.a = result.a + load(residual)
            result.b = result.b + load(residual + 8)
        }
        if rectify {
            result.a = rectified(result.a)
            result.b = rectified(result.b)
        }
        return result
    }

    @inline(__always) func write(to target: UnsafeMutablePointer<Float>) {
        put(a, at: target)
        put(b, at: target + 8)
    }
    #else
    var a: Vector
    var b: Vector
    var c: Vector
    var d: Vector

    @inline(__always) init(_ source: UnsafePointer<Float>) {
        a = aligned(source)[0]
        b = aligned(source)[1]
        c = aligned(source)[2]
        d = aligned(source)[3]
    }

    @inline(__always) mutating func add(_ factor: Vector, _ row: Panel) {
        a = multiplyAdd(a, factor, row.a)
        b = multiplyAdd(b, factor, row.b)
        c = multiplyAdd(c, factor, row.c)
        d = multiplyAdd(d, factor, row.d)
    }

    @inline(__always) func finished(_ residual: UnsafePointer<Float>?, _ rectify: Bool) -> Panel {
        var result = self
        if let residual {
            result.a = result.a + load(residual)
            result.b = result.b + load(residual + 4)
            result.c = result.c + load(residual + 8)
            result.d = result.d + load(residual + 12)
        }
        if rectify {
            result.a = rectified(result.a)
            result.b = rectified(result.b)
            result.c = rectified(result.c)
            result.d = rectified(result.d)
        }
        return result
    }

    @inline(__always) func write(to target: UnsafeMutablePointer<Float>) {
        put(a, at: target)
        put(b, at: target + 4)
        put(c, at: target + 8)
        put(d, at: target + 12)
    }
    #endif

    /// Writes the first `width` channels; what the panel was padded with is dropped.
    @inline(__always)
    func store(
        to target: UnsafeMutablePointer<Float>,
        residual: UnsafePointer<Float>?,
        width: Int,
        rectify: Bool
    ) {
        if width >= panelWidth {
            finished(residual, rectify).write(to: target)
        } else {
            storePart(to: target, residual: residual, width: width, rectify: rectify)
        }
    }

    @inline(never)
    private func storePart(
        to target: UnsafeMutablePointer<Float>,
        residual: UnsafePointer<Float>?,
        width: Int,
        rectify: Bool
    ) {
        withUnsafeBytes(of: self) { bytes in
            let channels = bytes.assumingMemoryBound(to: Float.self)
            for channel in 0..<width {
                var value = channels[channel]
                if let residual { value += residual[channel] }
                target[channel] = rectify && value < 0 ? 0 : value
            }
        }
    }
}

/// Rows of packed panels are aligned.
@inline(__always)
private func aligned(_ source: UnsafePointer<Float>) -> UnsafePointer<Vector> {
    UnsafeRawPointer(source).assumingMemoryBound(to: Vector.self)
}
