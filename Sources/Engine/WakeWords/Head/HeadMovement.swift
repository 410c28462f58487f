// What moves numbers without computing.
extension HeadBuilder {
    /// The same numbers with other extents, of which one may be −1.
    func reshape(_ input: HeadValue, to shape: [Int]) throws(WakeWordError) -> HeadValue {
        var shape = shape
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
        guard input.count > 0, order.sorted() == Array(input.shape.indices) else {
            throw .damaged.saying("the order \(order) of a transposition does not fit the extents \(input.shape)")
        }
        let strides = Self.strides(input.shape)
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
        let strides = Self.strides(input.shape, repeatsOnes: false)
        return try gather(input, shape, strides: strides, start: range.lowerBound * strides[axis])
    }

    private mutating func gather(
        _ input: HeadValue,
        _ shape: [Int],
        strides: [Int],
        start: Int = 0
    ) throws(WakeWordError) -> HeadValue {
        try count(operations: input.count)
        let places = Self.places(shape, strides: strides, start: start)
        if let floats = input.floats {
            return HeadValue(shape: shape, content: .floats(places.map { floats[$0] }))
        }
        let output = try value(shape)
        let map = try add(map: places)
        let (from, to) = (try place(input), try place(output))
        try add(.move(input: from, map: map, output: to, count: output.count))
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
        let constants = inputs.compactMap(\.floats)
        if constants.count == inputs.count {
            try count(operations: Self.count(shape))
            let parts = zip(inputs, constants).map { ($0.shape[axis] * inner, $1) }
            let rows = (0..<shape[..<axis].reduce(1, *)).flatMap { row in
                parts.flatMap { part, floats in floats[row * part..<(row + 1) * part] }
            }
            return HeadValue(shape: shape, content: .floats(rows))
        }
        let output = try value(shape)
        let to = try place(output)
        var start = 0
        for input in inputs {
            let (from, part) = (try place(input), input.shape[axis] * inner)
            for row in 0..<shape[..<axis].reduce(1, *) {
                let target = to + row * shape[axis] * inner + start
                try add(.move(input: from + row * part, map: nil, output: target, count: part))
            }
            start += part
        }
        return output
    }
}

// Places of numbers in a tensor.
extension HeadBuilder {
    /// An axis, counted from the end if it is negative.
    static func axis(_ number: Int, of shape: [Int]) throws(WakeWordError) -> Int {
        let axis = number < 0 ? number + shape.count : number
        guard shape.indices.contains(axis) else {
            throw .damaged.saying("an operator names the axis \(number) of the extents \(shape)")
        }
        return axis
    }

    /// Numbers from one index to the next, for each extent; 0 for an extent of 1, which is repeated.
    static func strides(_ shape: [Int], repeatsOnes: Bool = true) -> [Int] {
        var strides: [Int] = []
        var stride = 1
        for extent in shape.reversed() {
            strides.append(extent == 1 && repeatsOnes ? 0 : stride)
            stride *= extent
        }
        return strides.reversed()
    }

    /// The place of each number of a tensor with these strides, in the order of the extents.
    static func places(_ shape: [Int], strides: [Int], start: Int = 0) -> [Int] {
        var places = [start]
        for (extent, stride) in zip(shape, strides) {
            places = places.flatMap { place in (0..<extent).map { place + $0 * stride } }
        }
        return places
    }
}
