// What moves numbers without computing.
extension ONNXHead {
    func reshape(_ call: ONNXCall, _ first: HeadValue) throws(WakeWordError) -> HeadValue {
        let shape = first.shape
        switch call.kind {
        case "Flatten":
            let number = call.integer("axis") ?? 1
            let axis = number < 0 ? number + shape.count : number
            guard (0...shape.count).contains(axis) else { throw .damaged.saying("Flatten has the axis \(number)") }
            return try builder.reshape(first, to: [shape[..<axis].reduce(1, *), shape[axis...].reduce(1, *)])
        case "Reshape":
            guard let wanted = try call.integers("shape", input: 1) else {
                throw .damaged.saying("Reshape has no extents")
            }
            guard wanted.count <= HeadBuilder.Limits.dimensions else {
                throw .size.saying("a tensor has \(wanted.count) dimensions")
            }
            let new = wanted.enumerated().map { $1 == 0 && shape.indices.contains($0) ? shape[$0] : $1 }
            return try builder.reshape(first, to: new)
        case "Squeeze":
            let named = try call.integers("axes", input: 1)
            try file.budget.take(named?.count ?? 0, of: (1 + shape.count) * MemoryLayout<Int>.stride)
            let axes = try named?.map { (axis) throws(WakeWordError) in
                try HeadBuilder.axis(axis, of: shape)
            }
            let kept = shape.indices.filter { axis in axes.map { !$0.contains(axis) } ?? (shape[axis] != 1) }
            return try builder.reshape(first, to: kept.map { shape[$0] })
        default:
            let axes = try call.integers("axes", input: 1) ?? []
            let count = shape.count + axes.count
            guard count <= HeadBuilder.Limits.dimensions else {
                throw .size.saying("a tensor has \(count) dimensions")
            }
            let places = axes.map { $0 < 0 ? $0 + count : $0 }
            var (new, rest) = ([Int](), shape[...])
            for place in 0..<count { new.append(places.contains(place) ? 1 : rest.popFirst() ?? 1) }
            return try builder.reshape(first, to: new)
        }
    }

    mutating func concatenate(_ inputs: [HeadValue], axis: Int) throws(WakeWordError) -> HeadValue {
        let integers = inputs.compactMap(\.integers)
        guard integers.count == inputs.count else { return try builder.concatenate(inputs, axis: axis) }
        try file.budget.take(integers.reduce(0) { $0 + $1.count }, of: 2 * MemoryLayout<Int>.stride)
        let joined = integers.flatMap { $0 }
        return HeadValue(shape: [joined.count], content: .integers(joined))
    }

    mutating func slice(_ call: ONNXCall, _ first: HeadValue) throws(WakeWordError) -> HeadValue {
        guard let starts = try call.integers("starts", input: 1),
            let ends = try call.integers("ends", input: 2), starts.count == ends.count
        else { throw .damaged.saying("Slice has no ranges") }
        let axes = try call.integers("axes", input: 3) ?? Array(starts.indices)
        let steps = try call.integers("steps", input: 4) ?? []
        guard axes.count == starts.count, steps.allSatisfy({ $0 == 1 }) else {
            throw .unsupported.saying("Slice with other steps than 1 is not supported")
        }
        var result = first
        for (number, axis) in axes.enumerated() {
            let extent = result.shape[try HeadBuilder.axis(axis, of: result.shape)]
            func place(_ number: Int) -> Int { min(max(number < 0 ? number + extent : number, 0), extent) }
            let (start, end) = (place(starts[number]), place(ends[number]))
            if let integers = result.integers, result.shape.count == 1 {
                try file.budget.take(max(end - start, 0), of: MemoryLayout<Int>.stride)
                let taken = start < end ? Array(integers[start..<end]) : []
                result = HeadValue(shape: [taken.count], content: .integers(taken))
            } else {
                guard start < end else { throw .damaged.saying("Slice takes nothing") }
                result = try builder.slice(result, axis: axis, start..<end)
            }
        }
        return result
    }

    mutating func gather(_ call: ONNXCall, _ first: HeadValue) throws(WakeWordError) -> HeadValue {
        guard let indices = try call.input(1).integers, indices.count == 1, let index = indices.first else {
            throw .unsupported.saying("Gather of other than one place is not supported")
        }
        let axis = try HeadBuilder.axis(call.integer("axis") ?? 0, of: first.shape)
        let place = index < 0 ? index + first.shape[axis] : index
        guard (0..<first.shape[axis]).contains(place) else { throw .damaged.saying("Gather has the index \(index)") }
        let isScalar = try call.input(1).shape.isEmpty
        if let integers = first.integers, first.shape.count == 1 {
            return HeadValue(shape: isScalar ? [] : [1], content: .integers([integers[place]]))
        }
        let slice = try builder.slice(first, axis: axis, place..<place + 1)
        guard isScalar else { return slice }
        var shape = slice.shape
        shape.remove(at: axis)
        return try builder.reshape(slice, to: shape)
    }
}
