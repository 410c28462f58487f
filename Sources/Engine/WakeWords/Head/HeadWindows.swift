import KernelInterface

/// Windows that a convolution or a pool moves over a tensor of two extents, rows and columns; one of a single extent has one row.
struct HeadWindows {
    /// Of the kernel, of a move, and of the distance between taps: rows and columns.
    var kernel: [Int]
    var stride: [Int]
    var dilation: [Int]
    /// Rows and columns that are added at the beginning and at the end.
    var before: [Int]
    var after: [Int]
    /// Whether a window may begin so late that it does not end within the input.
    var isCeiling = false

    /// Positions along an axis.
    fileprivate func positions(_ axis: Int, _ extent: Int) throws(WakeWordError) -> Int {
        let (extents, pads) = ([kernel[axis], stride[axis], dilation[axis]], [before[axis], after[axis]])
        guard extents.allSatisfy({ (1...1024).contains($0) }), pads.allSatisfy({ (0..<1024).contains($0) }) else {
            throw .damaged.saying("a convolution or pool has the extents \(extents) and the pads \(pads)")
        }
        let room = extent + before[axis] + after[axis] - (kernel[axis] - 1) * dilation[axis] - 1
        guard room >= 0 else { throw .damaged.saying("a convolution or pool is longer than its input") }
        return (room + (isCeiling ? stride[axis] - 1 : 0)) / stride[axis] + 1
    }

    /// The extent of an input with all that so many positions read.
    fileprivate func reach(_ axis: Int, _ positions: Int, _ extent: Int) -> Int {
        max(before[axis] + extent, (positions - 1) * stride[axis] + (kernel[axis] - 1) * dilation[axis] + 1)
    }
}

extension HeadBuilder {
    /// What lies in each window, `[channels, rows · columns, taps]`.
    ///
    /// - Parameters:
    ///   - input: `[1, channels, rows, columns]`.
    ///   - edge: what lies beyond the input.
    private mutating func gather(
        _ input: HeadValue,
        _ windows: HeadWindows,
        edge: Float
    ) throws(WakeWordError) -> (value: HeadValue, rows: Int, columns: Int) {
        guard input.shape.count == 4, input.shape[0] == 1 else {
            throw .unsupported.saying("a convolution or pool over the extents \(input.shape) is not supported")
        }
        let (channels, height, width) = (input.shape[1], input.shape[2], input.shape[3])
        let (rows, columns) = (try windows.positions(0, height), try windows.positions(1, width))
        let output = try value([channels, rows * columns, windows.kernel[0] * windows.kernel[1]])
        // What lies beyond the input is in a copy of it.
        let (down, across) = (windows.reach(0, rows, height), windows.reach(1, columns, width))
        var start = try place(input)
        if (down, across) != (height, width) {
            let copy = try value([channels, down, across])
            let (source, place) = (start, try place(copy))
            for index in 0..<copy.count { initial[place + index] = edge }
            let first = place + windows.before[0] * across + windows.before[1]
            let shape = [channels, height, width]
            try move(shape, from: source, Loops.strides(shape), to: first, Loops.strides(copy.shape))
            start = place
        }
        let (stride, dilation) = (windows.stride, windows.dilation)
        let shape = [channels, rows, columns, windows.kernel[0], windows.kernel[1]]
        let strides = [down * across, stride[0] * across, stride[1], dilation[0] * across, dilation[1]]
        try move(shape, from: start, strides, to: place(output), Loops.strides(shape))
        return (output, rows, columns)
    }

    /// A convolution.
    ///
    /// - Parameters:
    ///   - input: `[1, channels, rows, columns]`.
    ///   - weights: `[outputs, channels / groups, rows, columns]` of the kernel.
    ///   - bias: `[outputs]`; empty for none.
    /// - Returns: `[1, outputs, rows, columns]`.
    mutating func convolve(
        _ input: HeadValue,
        _ windows: HeadWindows,
        weights: [Float],
        bias: [Float],
        outputs: Int,
        groups: Int
    ) throws(WakeWordError) -> HeadValue {
        let found = try gather(input, windows, edge: 0)
        let (channels, positions, taps) = (found.value.shape[0], found.value.shape[1], found.value.shape[2])
        guard groups > 0, outputs > 0, channels % groups == 0, outputs % groups == 0,
            weights.count == outputs * (channels / groups) * taps, bias.isEmpty || bias.count == outputs
        else {
            throw .damaged.saying("the weights of a convolution do not fit its input of the extents \(input.shape)")
        }
        let shape = [1, outputs, found.rows, found.columns]
        if groups == channels, outputs == channels, groups > 1 {
            let factors = HeadValue(shape: [channels, 1, taps], content: .floats(weights))
            let products = try combine(.multiply, found.value, factors)
            var sums = try reduce(.sum, products, axes: [2], keeping: false)
            if !bias.isEmpty {
                sums = try combine(.add, sums, HeadValue(shape: [channels, 1], content: .floats(bias)))
            }
            return try reshape(sums, to: shape)
        }
        let (inner, part) = (channels / groups, outputs / groups)
        try budget.take(weights.count + bias.count, of: MemoryLayout<Float>.stride)
        var results: [HeadValue] = []
        for group in 0..<groups {
            let own = try slice(found.value, axis: 0, group * inner..<(group + 1) * inner)
            let columns = try reshape(transpose(own, order: [1, 0, 2]), to: [positions, inner * taps])
            let first = group * part
            let result = try dense(
                columns,
                weights: Array(weights[first * inner * taps..<(first + part) * inner * taps]),
                bias: bias.isEmpty ? [] : Array(bias[first..<first + part]),
                depth: inner * taps,
                outputs: part
            )
            results.append(try transpose(result, order: [1, 0]))
        }
        return try reshape(results.count == 1 ? results[0] : concatenate(results, axis: 0), to: shape)
    }

    /// The maximum or the mean of each window.
    ///
    /// - Parameters:
    ///   - input: `[1, channels, rows, columns]`.
    ///   - countsEdge: whether what lies beyond the input counts in a mean.
    /// - Returns: `[1, channels, rows, columns]`.
    mutating func pool(
        _ input: HeadValue,
        _ windows: HeadWindows,
        isMean: Bool,
        countsEdge: Bool = false
    ) throws(WakeWordError) -> HeadValue {
        let found = try gather(input, windows, edge: isMean ? 0 : -.greatestFiniteMagnitude)
        let shape = [1, input.shape[1], found.rows, found.columns]
        guard isMean else { return try reshape(reduce(.maximum, found.value, axes: [2], keeping: false), to: shape) }
        let sums = try reduce(.sum, found.value, axes: [2], keeping: false)
        func members(_ axis: Int, _ positions: Int, _ extent: Int) throws(WakeWordError) -> [Int] {
            try budget.take(positions, of: MemoryLayout<Int>.stride)
            try budget.step(positions * windows.kernel[axis])
            return (0..<positions).map { position in
                let first = position * windows.stride[axis] - windows.before[axis]
                let range = countsEdge ? -windows.before[axis]..<extent + windows.after[axis] : 0..<extent
                return (0..<windows.kernel[axis]).count { range.contains(first + $0 * windows.dilation[axis]) }
            }
        }
        let (down, across) = (
            try members(0, found.rows, input.shape[2]), try members(1, found.columns, input.shape[3])
        )
        try budget.take(found.rows * found.columns, of: 2 * MemoryLayout<Float>.stride)
        let factors = down.flatMap { row in across.map { column in 1 / Float(max(row * column, 1)) } }
        let means = try combine(.multiply, sums, HeadValue(shape: [factors.count], content: .floats(factors)))
        return try reshape(means, to: shape)
    }

    /// The product of two tensors that are both computed, over their last two extents.
    mutating func product(_ left: HeadValue, _ right: HeadValue) throws(WakeWordError) -> HeadValue {
        let (a, b) = (left.shape, right.shape)
        guard a.count >= 2, b.count >= 2 else {
            throw .unsupported.saying("a product of tensors of the extents \(a) and \(b) is not supported")
        }
        let (rows, depth, columns) = (a[a.count - 2], a[a.count - 1], b[b.count - 1])
        let batches = (a.dropLast(2).reduce(1, *), b.dropLast(2).reduce(1, *))
        let isFitting =
            batches.0 == batches.1 && a.dropLast(2).filter { $0 > 1 } == b.dropLast(2).filter { $0 > 1 }
            || batches.0 == 1 || batches.1 == 1
        guard b[b.count - 2] == depth, isFitting else {
            throw .damaged.saying("a product of tensors of the extents \(a) and \(b)")
        }
        let outer = batches.0 > 1 || (batches.1 == 1 && a.count >= b.count) ? a.dropLast(2) : b.dropLast(2)
        let output = try value(Array(outer) + [rows, columns])
        try count(operations: output.count * depth)
        let (first, second, to) = (try place(left), try place(right), try place(output))
        try add(
            .product(
                MatrixProduct(
                    left: first,
                    leftStride: batches.0 == 1 ? 0 : rows * depth,
                    right: second,
                    rightStride: batches.1 == 1 ? 0 : depth * columns,
                    output: to,
                    batches: max(batches.0, batches.1),
                    rows: rows,
                    depth: depth,
                    columns: columns
                )
            )
        )
        return output
    }

    /// Integers from 0 to 255 in place of numbers.
    ///
    /// - Returns: the integers, their scale and the zero point.
    mutating func quantise(_ input: HeadValue) throws(WakeWordError) -> [HeadValue] {
        let (output, scale, zero) = (try value(input.shape), try value([]), try value([]))
        let places = (try place(output), try place(scale), try place(zero))
        try add(
            .quantise(input: place(input), output: places.0, scale: places.1, zero: places.2, count: output.count)
        )
        return [output, scale, zero]
    }

    /// A tensor with other extents, in which extents of 1, and such that are missing at the front, are repeated.
    mutating func expand(_ input: HeadValue, to shape: [Int]) throws(WakeWordError) -> HeadValue {
        if let integers = input.integers, integers.count == 1 {
            return try constant(shape, integers[0])
        }
        return try combine(.add, input, constant(shape, 0 as Float))
    }
}
