private import Core

// What moves elements without computing.
extension NetworkCompiler {
    /// The elements of a tensor with another shape; they stay where they are.
    mutating func reshape(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        let (source, target) = (try tensor(operation, input: 0), try tensor(operation))
        try requireShape(target, is: source.count == target.count)
        try requireSameFormat(source, target)
        guard places[operation.outputs[0]] == nil else {
            throw .damaged.saying("tensor \(quoted(target.name)) is computed twice")
        }
        places[operation.outputs[0]] = try place(operation, input: 0)
    }

    /// An axis from options or a constant, counted from the end if it is negative.
    func axis(_ number: Int, of shape: [Int]) throws(WakeWordError) -> Int {
        let axis = number < 0 ? number + shape.count : number
        guard shape.indices.contains(axis) else {
            throw .damaged.saying("an operator names the axis \(number) of \(shape)")
        }
        return axis
    }

    /// Whether a tensor has the extents of another one, but for an axis.
    private func isPart(_ part: TFLiteFile.Tensor, of whole: TFLiteFile.Tensor, along axis: Int) -> Bool {
        part.shape.count == whole.shape.count
            && part.shape.indices.allSatisfy { $0 == axis || part.shape[$0] == whole.shape[$0] }
    }

    /// Joins tensors along an axis; PACK makes a new one of extent 1 for each.
    mutating func join(_ operation: TFLiteFile.Operator, isPack: Bool) throws(WakeWordError) {
        let target = try tensor(operation)
        var number = 0
        if let options = operation.options {
            number = Int(try file.buffer.number(Int32.self, options, field: isPack ? 1 : 0) ?? 0)
            let activation = isPack ? nil : try file.buffer.number(Int8.self, options, field: 1)
            guard activation ?? 0 == 0 else {
                throw .unsupported.saying("CONCATENATION has an activation, which is not supported")
            }
        }
        let axis = try axis(number, of: target.shape)
        let to = try makePlace(operation)
        let inner = target.shape[(axis + 1)...].reduce(1, *)
        let row = target.shape[axis] * inner
        let rows = target.shape[..<axis].reduce(1, *)
        var start = 0
        for index in operation.inputs.indices {
            let source = try tensor(operation, input: index)
            try requireSameFormat(source, target)
            let isFitting = isPack ? source.count == rows * inner : isPart(source, of: target, along: axis)
            try requireShape(source, is: isFitting)
            let part = isPack ? inner : source.shape[axis] * inner
            guard part <= row - start else {
                throw .damaged.saying("\(isPack ? "PACK" : "CONCATENATION") has more inputs than its output holds")
            }
            try parts.move([rows, part], from: place(operation, input: index), [part, 1], to: to + start, [row, 1])
            start += part
        }
        try requireShape(target, is: start == row)
    }

    /// - Parameters:
    ///   - input: which input is split.
    ///   - axis: which input is the axis.
    mutating func split(_ operation: TFLiteFile.Operator, _ input: Int, axis: Int) throws(WakeWordError) {
        let source = try tensor(operation, input: input)
        let from = try place(operation, input: input)
        let numbers = try file.integers(tensor(operation, input: axis))
        guard let number = numbers.first, numbers.count == 1 else { throw .damaged.saying("SPLIT has no axis") }
        let axis = try self.axis(Int(number), of: source.shape)
        let inner = source.shape[(axis + 1)...].reduce(1, *)
        let row = source.shape[axis] * inner
        let rows = source.shape[..<axis].reduce(1, *)
        var start = 0
        for index in operation.outputs.indices {
            let target = try tensor(operation, output: index)
            try requireSameFormat(source, target)
            try requireShape(target, is: isPart(target, of: source, along: axis))
            let part = target.shape[axis] * inner
            guard part <= row - start else { throw .damaged.saying("SPLIT has more outputs than its input holds") }
            let to = try makePlace(operation, output: index)
            try parts.move([rows, part], from: from + start, [row, 1], to: to, [part, 1])
            start += part
        }
        try requireShape(source, is: start == row)
    }

    /// The elements that a STRIDED_SLICE takes.
    mutating func slice(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        let (source, target) = (try tensor(operation, input: 0), try tensor(operation))
        try requireSameFormat(source, target)
        guard let options = operation.options else { throw .damaged.saying("STRIDED_SLICE has no options") }
        func mask(_ field: Int) throws(WakeWordError) -> Int32 {
            try file.buffer.number(Int32.self, options, field: field) ?? 0
        }
        let (fromStart, toEnd, single) = (try mask(0), try mask(1), try mask(4))
        guard try mask(2) == 0, try mask(3) == 0 else {
            throw .unsupported.saying("STRIDED_SLICE has new or omitted dimensions, which are not supported")
        }
        var ranges: [[Int32]] = []
        for input in 1...3 { ranges.append(try file.integers(tensor(operation, input: input))) }
        let shape = source.shape
        guard !shape.isEmpty, ranges.allSatisfy({ $0.count == shape.count }) else {
            throw .damaged.saying("STRIDED_SLICE does not have a range for each dimension")
        }
        var (first, counts, strides): (Int, [Int], [Int]) = (0, [], Loops.strides(shape))
        for (index, extent) in shape.enumerated() {
            func has(_ mask: Int32) -> Bool { mask >> Int32(index) & 1 == 1 }
            func place(_ number: Int32) -> Int { min(max(number < 0 ? Int(number) + extent : Int(number), 0), extent) }
            let step = Int(ranges[2][index])
            guard step > 0 else { throw .unsupported.saying("STRIDED_SLICE goes backwards, which is not supported") }
            let start = has(fromStart) ? 0 : place(ranges[0][index])
            let end = has(single) ? min(start + 1, extent) : has(toEnd) ? extent : place(ranges[1][index])
            let count = max(0, (end - start + step - 1) / step)
            counts.append(count)
            first += start * strides[index]
            // Of a single element, the next one may be far away.
            strides[index] *= count > 1 ? step : 1
        }
        try requireShape(target, is: target.count == counts.reduce(1, *))
        let from = try place(operation, input: 0)
        try parts.move(counts, from: from + first, strides, to: makePlace(operation), Loops.strides(counts))
    }

    /// Adds elements that stand for 0 around a tensor.
    mutating func pad(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        let (source, target) = (try tensor(operation, input: 0), try tensor(operation))
        try requireSameFormat(source, target)
        let numbers = try file.integers(tensor(operation, input: 1)).map(Int.init)
        let rank = source.shape.count
        let isWhole = rank > 0 && numbers.count == 2 * rank && target.shape.count == rank
        try requireShape(target, is: isWhole && numbers.allSatisfy { $0 >= 0 })
        for axis in 0..<rank {
            let added = numbers[2 * axis] + numbers[2 * axis + 1]
            try requireShape(target, is: target.shape[axis] == source.shape[axis] + added)
        }
        let from = try place(operation, input: 0)
        let to = try makePlace(operation, value: Int8(truncatingIfNeeded: Self.format(target).zeroPoint))
        let strides = Loops.strides(target.shape)
        let start = (0..<rank).reduce(0) { $0 + numbers[2 * $1] * strides[$1] }
        try parts.move(source.shape, from: from, Loops.strides(source.shape), to: to + start, strides)
    }
}
