// What moves elements without computing.
extension NetworkCompiler {
    mutating func reshape(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        let (source, target) = (try tensor(operation, input: 0), try tensor(operation))
        try requireShape(target, is: source.count == target.count)
        try requireSameFormat(source, target)
        let from = try place(operation, input: 0)
        try parts.copy([CopiedRun(source: from, target: makePlace(operation), count: target.count)])
    }

    /// Takes memory for runs in a list that grows.
    func takeRuns(_ count: Int) throws(WakeWordError) { try budget.take(count, of: 2 * MemoryLayout<CopiedRun>.stride) }

    /// An axis from options or a constant, counted from the end if it is negative.
    func axis(_ number: Int, of shape: [Int]) throws(WakeWordError) -> Int {
        let axis = number < 0 ? number + shape.count : number
        guard shape.indices.contains(axis) else {
            throw .damaged.saying("an operator names the axis \(number) of \(shape)")
        }
        return axis
    }

    mutating func concatenate(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        let target = try tensor(operation)
        var number = 0
        if let options = operation.options {
            number = Int(try file.buffer.number(Int32.self, options, field: 0) ?? 0)
            guard try file.buffer.number(Int8.self, options, field: 1) ?? 0 == 0 else {
                throw .unsupported.saying("CONCATENATION has an activation, which is not supported")
            }
        }
        let axis = try axis(number, of: target.shape)
        let to = try makePlace(operation)
        let inner = target.shape[(axis + 1)...].reduce(1, *)
        let row = target.shape[axis] * inner
        let rows = target.shape[..<axis].reduce(1, *)
        var (runs, start): ([CopiedRun], Int) = ([], 0)
        for index in operation.inputs.indices {
            try takeRuns(rows)
            let source = try tensor(operation, input: index)
            try requireSameFormat(source, target)
            try requireShape(
                source,
                is: source.shape.count == target.shape.count
                    && source.shape.indices.allSatisfy { $0 == axis || source.shape[$0] == target.shape[$0] }
            )
            let from = try place(operation, input: index)
            let part = source.shape[axis] * inner
            guard part <= row - start else {
                throw .damaged.saying("CONCATENATION has more inputs than its output holds")
            }
            for step in 0..<rows {
                runs.append(CopiedRun(source: from + step * part, target: to + step * row + start, count: part))
            }
            start += part
        }
        try requireShape(target, is: start == row)
        try parts.copy(runs)
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
            try requireShape(
                target,
                is: target.shape.count == source.shape.count
                    && target.shape.indices.allSatisfy { $0 == axis || target.shape[$0] == source.shape[$0] }
            )
            let part = target.shape[axis] * inner
            guard part <= row - start else { throw .damaged.saying("SPLIT has more outputs than its input holds") }
            let to = try makePlace(operation, output: index)
            let first = from + start
            try takeRuns(rows)
            try parts.copy((0..<rows).map { CopiedRun(source: first + $0 * row, target: to + $0 * part, count: part) })
            start += part
        }
        try requireShape(source, is: start == row)
    }

    mutating func slice(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        let (source, target) = (try tensor(operation, input: 0), try tensor(operation))
        try requireSameFormat(source, target)
        let from = try place(operation, input: 0)
        let ranges = try StridedRanges(operation, of: source, in: file) { (index) throws(WakeWordError) in
            try file.integers(tensor(operation, input: index))
        }
        try requireShape(target, is: target.count == ranges.count)
        let to = try makePlace(operation)
        guard ranges.count > 0 else { return }
        let sources = try ranges.offsets(in: source.shape, budget)
        try takeRuns(sources.count)
        try parts.copy(
            sources.enumerated().map { CopiedRun(source: from + $1, target: to + $0 * ranges.run, count: ranges.run) }
        )
    }

    /// Joins tensors along a new axis.
    mutating func pack(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        let target = try tensor(operation)
        var number = 0
        if let options = operation.options {
            number = Int(try file.buffer.number(Int32.self, options, field: 1) ?? 0)
        }
        let axis = try axis(number, of: target.shape)
        try requireShape(target, is: target.shape[axis] == operation.inputs.count)
        let to = try makePlace(operation)
        let part = target.shape[(axis + 1)...].reduce(1, *)
        let row = target.shape[axis] * part
        let rows = target.shape[..<axis].reduce(1, *)
        var runs: [CopiedRun] = []
        for index in operation.inputs.indices {
            let source = try tensor(operation, input: index)
            try requireSameFormat(source, target)
            try requireShape(source, is: source.count == rows * part)
            let from = try place(operation, input: index)
            try takeRuns(rows)
            for step in 0..<rows {
                runs.append(CopiedRun(source: from + step * part, target: to + step * row + index * part, count: part))
            }
        }
        try parts.copy(runs)
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
        guard source.count > 0 else { return }
        let row = source.shape[rank - 1]
        let strides = HeadBuilder.strides(target.shape, repeatsOnes: false)
        let start = (0..<rank).reduce(0) { $0 + numbers[2 * $1] * strides[$1] }
        let places = try budget.places(Array(source.shape.dropLast()), strides: strides.dropLast(), start: start)
        try takeRuns(places.count)
        try parts.copy(
            places.enumerated().map { CopiedRun(source: from + $0 * row, target: to + $1, count: row) }
        )
    }
}
