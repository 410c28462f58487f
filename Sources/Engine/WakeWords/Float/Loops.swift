/// Nested loops over up to three tensors at once. What moves, cuts, joins, repeats or pairs elements is such loops, and no list of places.
///
/// Loops that go through all tensors in one line are joined to one.
struct Loops: BitwiseCopyable, Sendable {
    private var extents = SIMD8<Int32>(repeating: 1)
    private var strides: (a: SIMD8<Int32>, b: SIMD8<Int32>, c: SIMD8<Int32>) = (.zero, .zero, .zero)
    private var innermost = 0

    /// - Parameters:
    ///   - shape: extents, outermost first: at most 8, none of them 0, whose product fits 31 bits.
    ///   - a: elements from one index to the next in the first tensor, for each extent; `b`, `c`: in the others.
    init(_ shape: [Int], a: [Int], b: [Int]? = nil, c: [Int]? = nil) {
        var isFirst = true
        for (index, extent) in shape.enumerated() where extent > 1 {
            let next = (Int32(extent), Int32(a[index]), Int32(b?[index] ?? 0), Int32(c?[index] ?? 0))
            let last = innermost
            let isJoined =
                strides.a[last] == next.0 * next.1 && strides.b[last] == next.0 * next.2
                && strides.c[last] == next.0 * next.3
            if isFirst {
                extents[0] = next.0
            } else if isJoined {
                extents[last] *= next.0
            } else {
                innermost += 1
                extents[innermost] = next.0
            }
            isFirst = false
            (strides.a[innermost], strides.b[innermost], strides.c[innermost]) = (next.1, next.2, next.3)
        }
    }

    /// Elements of a run, the innermost loop, and the distances from one to the next.
    var run: (count: Int, a: Int, b: Int, c: Int) {
        let last = innermost
        return (Int(extents[last]), Int(strides.a[last]), Int(strides.b[last]), Int(strides.c[last]))
    }

    /// Calls `body` with the places of each run's first elements.
    @inline(__always)
    func forEachRun(_ body: (_ a: Int, _ b: Int, _ c: Int) -> Void) {
        var index = SIMD8<Int32>.zero
        var (a, b, c) = (0, 0, 0)
        // The loop around the runs is not counted in `index`, because runs may be short.
        let second = max(innermost - 1, 0)
        let count = innermost > 0 ? extents[second] : 1
        let (nextA, nextB, nextC) = (Int(strides.a[second]), Int(strides.b[second]), Int(strides.c[second]))
        while true {
            var (runA, runB, runC) = (a, b, c)
            for _ in 0..<count {
                body(runA, runB, runC)
                (runA, runB, runC) = (runA &+ nextA, runB &+ nextB, runC &+ nextC)
            }
            var loop = second - 1
            while loop >= 0 {
                index[loop] += 1
                a += Int(strides.a[loop])
                b += Int(strides.b[loop])
                c += Int(strides.c[loop])
                if index[loop] < extents[loop] { break }
                index[loop] = 0
                a -= Int(strides.a[loop] * extents[loop])
                b -= Int(strides.b[loop] * extents[loop])
                c -= Int(strides.c[loop] * extents[loop])
                loop -= 1
            }
            if loop < 0 { return }
        }
    }

    /// Copies each element of the first tensor to its place in the second.
    @inline(__always)
    func copy<Number>(_ source: UnsafePointer<Number>, to target: UnsafeMutablePointer<Number>) {
        let run = run
        forEachRun { a, b, _ in
            if run.a == 1, run.b == 1, run.count >= 16 {
                (target + b).update(from: source + a, count: run.count)
            } else {
                for index in 0..<run.count { target[b + index * run.b] = source[a + index * run.a] }
            }
        }
    }

    /// Whether `copy` moves whole runs.
    var isContiguous: Bool { run.a == 1 && run.b == 1 }

    /// Elements from one index to the next in a tensor of this shape, for each extent.
    ///
    /// - Parameter repeatsOnes: whether an extent of 1 stands for any number of equal ones.
    static func strides(_ shape: [Int], repeatsOnes: Bool = false) -> [Int] {
        var (strides, stride): ([Int], Int) = ([], 1)
        for extent in shape.reversed() {
            strides.append(extent == 1 && repeatsOnes ? 0 : stride)
            stride *= extent
        }
        return strides.reversed()
    }
}
