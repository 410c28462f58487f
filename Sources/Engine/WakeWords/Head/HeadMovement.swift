// What moves numbers without computing.
extension HeadBuilder {
    /// The same numbers with other extents, of which one may be −1.
    func reshape(_ input: HeadValue, to shape: [Int]) throws(WakeWordError) -> HeadValue {
        var shape = shape
        guard shape.count <= Limits.dimensions else { throw .size.saying("a tensor has \(shape.count) dimensions") }
        if shape.filter({ $0 == -1 }).count == 1, let place = shape.firstIndex(of: -1) {
            shape[place] = 1
            let rest = try Self.count(shape)
            guard input.count % rest == 0 else {
                throw .damaged.saying("a tensor of the extents \(input.shape) cannot get the extents \(shape)")
            }
            shape[place] = input.count / rest
        }
        guard try Self.count(shape) == input.count else {
            throw .damaged.saying("a tensor of the extents \(input.shape) cannot get the extents \(shape)")
        }
        return HeadValue(shape: shape, content: input.content)
    }

    mutating func transpose(_ input: HeadValue, order: [Int]) throws(WakeWordError) -> HeadValue {
        guard input.count > 0, order.count == input.shape.count, order.sorted() == Array(input.shape.indices) else {
            throw .damaged.saying(
                "the order \(listed(order)) of a transposition does not fit the extents \(input.shape)"
            )
        }
        let strides = Loops.strides(input.shape)
        return try gather(input, order.map { input.shape[$0] }, strides: order.map { strides[$0] })
    }

    /// Part of a tensor along one axis.
    mutating func slice(_ input: HeadValue, axis: Int, _ range: Range<Int>) throws(WakeWordError) -> HeadValue {
        let axis = try Self.axis(axis, of: input.shape)
        guard range.lowerBound >= 0, range.upperBound <= input.shape[axis], !range.isEmpty else {
            throw .damaged.saying("a slice lies outside of the extents \(input.shape)")
        }
        var shape = input.shape
        shape[axis] = range.count
        let strides = Loops.strides(input.shape)
        return try gather(input, shape, strides: strides, start: range.lowerBound * strides[axis])
    }

    private mutating func gather(
        _ input: HeadValue,
        _ shape: [Int],
        strides: [Int],
        start: Int = 0
    ) throws(WakeWordError) -> HeadValue {
        try count(operations: input.count)
        if let floats = try floats(input) {
            try budget.take(shape.reduce(1, *), of: 2 * MemoryLayout<Float>.stride)
            let loops = Loops(shape, a: strides)
            var moved: [Float] = []
            loops.forEachRun { place, _, _ in
                let run = loops.run
                for index in 0..<run.count { moved.append(floats[start + place + index * run.a]) }
            }
            return HeadValue(shape: shape, content: .floats(moved))
        }
        let output = try value(shape)
        try move(shape, from: place(input) + start, strides, to: place(output), Loops.strides(shape))
        return output
    }

    mutating func concatenate(_ inputs: [HeadValue], axis: Int) throws(WakeWordError) -> HeadValue {
        guard let first = inputs.first else { throw .damaged.saying("nothing is joined") }
        let axis = try Self.axis(axis, of: first.shape)
        var shape = first.shape
        shape[axis] = 0
        for input in inputs {
            var other = input.shape
            guard other.indices.contains(axis) else { throw .damaged.saying("tensors of other extents are joined") }
            shape[axis] += other[axis]
            other[axis] = first.shape[axis]
            guard other == first.shape else {
                throw .damaged.saying("tensors of the extents \(first.shape) and \(input.shape) are joined")
            }
        }
        let inner = shape[(axis + 1)...].reduce(1, *)
        let isConstant = inputs.allSatisfy { if case .computed = $0.content { false } else { true } }
        if isConstant {
            let total = try Self.count(shape)
            try count(operations: total)
            try budget.take(total, of: MemoryLayout<Float>.stride)
            var parts: [(count: Int, floats: [Float])] = []
            for input in inputs { parts.append((input.shape[axis] * inner, try floats(input) ?? [])) }
            let rowCount = shape[..<axis].reduce(1, *)
            try budget.step(ModelBudget.product([rowCount, parts.count]))
            var rows: [Float] = []
            rows.reserveCapacity(total)
            for row in 0..<rowCount {
                for part in parts { rows += part.floats[row * part.count..<(row + 1) * part.count] }
            }
            return HeadValue(shape: shape, content: .floats(rows))
        }
        let output = try value(shape)
        let to = try place(output)
        var start = 0
        let row = shape[axis] * inner
        for input in inputs {
            let part = input.shape[axis] * inner
            try move([input.count / part, part], from: place(input), [part, 1], to: to + start, [row, 1])
            start += part
        }
        return output
    }

    /// An axis, counted from the end if it is negative.
    static func axis(_ number: Int, of shape: [Int]) throws(WakeWordError) -> Int {
        let axis = number < 0 ? number + shape.count : number
        guard shape.indices.contains(axis) else {
            throw .damaged.saying("an operator names the axis \(number) of the extents \(shape)")
        }
        return axis
    }
}
