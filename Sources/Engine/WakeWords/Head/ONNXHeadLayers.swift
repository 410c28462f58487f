private import Core

// Layers with weights, and pools.
extension ONNXHead {
    /// Constant floats of a node's input; none for an optional one that is missing.
    private func floats(_ call: ONNXCall, _ number: Int) throws(WakeWordError) -> [Float] {
        guard let input = try call.optionalInput(number) else { return [] }
        guard let floats = try builder.floats(input) else {
            throw .unsupported.saying("\(call.kind) whose weights are computed is not supported")
        }
        return floats
    }

    /// Windows over the last one or two extents, as the attributes of a node say.
    private func windows(_ call: ONNXCall, kernel: [Int], over extents: [Int]) throws(WakeWordError) -> HeadWindows {
        let axes = kernel.count
        func numbers(_ name: String) throws(WakeWordError) -> [Int] {
            let numbers = call.integers(name) ?? [Int](repeating: 1, count: axes)
            guard numbers.count == axes, numbers.allSatisfy({ (1...1024).contains($0) }) else {
                throw .damaged.saying("\(call.kind) has the \(name) \(listed(numbers))")
            }
            return numbers
        }
        let (stride, dilation) = (try numbers("strides"), try numbers("dilations"))
        guard extents.count == axes, (1...2).contains(axes), kernel.allSatisfy({ (1...1024).contains($0) }) else {
            throw .unsupported.saying("\(call.kind) over the extents \(extents) is not supported")
        }
        var pads = call.integers("pads") ?? [Int](repeating: 0, count: 2 * axes)
        if let kind = call.text("auto_pad"), kind == "SAME_UPPER" || kind == "SAME_LOWER" {
            pads = [Int](repeating: 0, count: 2 * axes)
            for axis in 0..<axes {
                let reach = (kernel[axis] - 1) * dilation[axis] + 1
                let count = (extents[axis] + stride[axis] - 1) / stride[axis]
                let missing = max(0, (count - 1) * stride[axis] + reach - extents[axis])
                pads[axis] = kind == "SAME_UPPER" ? missing / 2 : missing - missing / 2
                pads[axes + axis] = missing - pads[axis]
            }
        }
        guard pads.count == 2 * axes else { throw .damaged.saying("\(call.kind) has the pads \(listed(pads))") }
        /// One extent has one row.
        func both(_ numbers: some Collection<Int>, _ first: Int) -> [Int] {
            axes == 2 ? Array(numbers) : [first] + numbers
        }
        return HeadWindows(
            kernel: both(kernel, 1),
            stride: both(stride, 1),
            dilation: both(dilation, 1),
            before: both(pads.prefix(axes), 0),
            after: both(pads.suffix(axes), 0),
            isCeiling: call.integer("ceil_mode") ?? 0 != 0
        )
    }

    /// `[1, channels, rows, columns]` for a tensor of one or two extents.
    private func plane(_ call: ONNXCall, _ input: HeadValue) throws(WakeWordError) -> HeadValue {
        let shape = input.shape
        guard shape.count == 3 || shape.count == 4, shape[0] == 1 else {
            throw .unsupported.saying("\(call.kind) over the extents \(shape) is not supported")
        }
        return shape.count == 4 ? input : try builder.reshape(input, to: [1, shape[1], 1, shape[2]])
    }

    /// The result with as many extents as the input.
    private func flat(_ output: HeadValue, like input: HeadValue) throws(WakeWordError) -> HeadValue {
        let shape = output.shape
        return input.shape.count == 4 ? output : try builder.reshape(output, to: [1, shape[1], shape[3]])
    }

    mutating func convolve(_ call: ONNXCall, _ first: HeadValue) throws(WakeWordError) -> HeadValue {
        let filter = try call.input(1)
        guard filter.shape.count == first.shape.count, filter.count > 0, var weights = try builder.floats(filter) else {
            throw .unsupported.saying("\(call.kind) whose weights are computed or do not fit is not supported")
        }
        var plane = try plane(call, first)
        let isInteger = call.kind == "ConvInteger"
        if isInteger {
            if let zero = try call.optionalInput(2) { plane = try builder.combine(.subtract, plane, zero) }
            let (zeros, part) = (try floats(call, 3), weights.count / filter.shape[0])
            guard zeros.count <= 1 || zeros.count == filter.shape[0] else {
                throw .damaged.saying("ConvInteger has \(zeros.count) zero points")
            }
            if !zeros.isEmpty {
                try file.budget.take(weights.count, of: MemoryLayout<Float>.stride)
                for index in weights.indices { weights[index] -= zeros[zeros.count == 1 ? 0 : index / part] }
            }
        }
        let (kernel, extents) = (Array(filter.shape.dropFirst(2)), Array(first.shape.dropFirst(2)))
        let windows = try windows(call, kernel: kernel, over: extents)
        let output = try builder.convolve(
            plane,
            windows,
            weights: weights,
            bias: isInteger ? [] : floats(call, 2),
            outputs: filter.shape[0],
            groups: call.integer("group") ?? 1
        )
        return try flat(output, like: first)
    }

    mutating func pool(_ call: ONNXCall, _ first: HeadValue) throws(WakeWordError) -> HeadValue {
        let plane = try plane(call, first)
        let kernel = call.integers("kernel_shape") ?? []
        let windows = try windows(call, kernel: kernel, over: Array(first.shape.dropFirst(2)))
        let output = try builder.pool(
            plane,
            windows,
            isMean: call.kind == "AveragePool",
            countsEdge: call.integer("count_include_pad") ?? 0 != 0
        )
        return try flat(output, like: first)
    }

    mutating func recur(_ call: ONNXCall) throws(WakeWordError) -> [HeadValue] {
        let kind: Recurrence.Kind = call.kind == "LSTM" ? .lstm : .gru
        let peepholes = kind == .lstm ? try call.optionalInput(7) : nil
        let hasOther = call.attributes["clip"] != nil || call.integer("input_forget") ?? 0 != 0
        let usual = kind == .lstm ? ["Sigmoid", "Tanh", "Tanh"] : ["Sigmoid", "Tanh"]
        let functions = call.texts("activations") ?? usual
        guard peepholes == nil, !hasOther, functions == usual || functions == usual + usual,
            call.integer("layout") ?? 0 == 0,
            kind == .lstm || call.integer("linear_before_reset") ?? 0 == 1
        else {
            throw .unsupported.saying("\(call.kind) of another kind than PyTorch's is not supported")
        }
        let first = try call.input(0)
        let (inputs, recurrent) = (try call.input(1), try call.input(2))
        let direction = call.text("direction") ?? "forward"
        let reversals = direction == "bidirectional" ? [false, true] : [direction == "reverse"]
        guard let all = try builder.floats(inputs), let own = try builder.floats(recurrent),
            inputs.shape.count == 3, recurrent.shape.count == 3, inputs.shape[0] == reversals.count,
            recurrent.shape[0] == reversals.count, inputs.shape[1] == recurrent.shape[1],
            recurrent.shape[1] == kind.gates * recurrent.shape[2], recurrent.count > 0, inputs.count > 0
        else { throw .damaged.saying("the weights of \(call.kind) do not fit") }
        if let lengths = try call.optionalInput(4) {
            guard lengths.integers == [first.shape.first ?? 0] else {
                throw .unsupported.saying("\(call.kind) over a part of the sequence is not supported")
            }
        }
        let (width, hidden) = (recurrent.shape[1], recurrent.shape[2])
        var biases = try floats(call, 3)
        // Of each direction they are copied.
        try file.budget.take(2 * width * reversals.count + all.count + own.count, of: 2 * MemoryLayout<Float>.stride)
        if biases.isEmpty { biases = [Float](repeating: 0, count: 2 * width * reversals.count) }
        guard biases.count == 2 * width * reversals.count else {
            throw .damaged.saying("the biases of \(call.kind) do not fit")
        }
        let (inputCount, ownCount) = (all.count / reversals.count, own.count / reversals.count)
        let directions = reversals.enumerated().map { index, isReversed in
            HeadBuilder.RecurrentWeights(
                input: Array(all[index * inputCount..<(index + 1) * inputCount]),
                recurrent: Array(own[index * ownCount..<(index + 1) * ownCount]),
                inputBias: Array(biases[2 * index * width..<(2 * index + 1) * width]),
                recurrentBias: Array(biases[(2 * index + 1) * width..<(2 * index + 2) * width]),
                isReversed: isReversed
            )
        }
        let state = try call.optionalInput(5)
        let cell = kind == .lstm ? try call.optionalInput(6) : nil
        return try builder.recur(kind, first, directions, hidden: hidden, initial: (state, cell))
    }

    mutating func split(_ call: ONNXCall) throws(WakeWordError) -> [HeadValue] {
        let first = try call.input(0)
        let axis = try HeadBuilder.axis(call.integer("axis") ?? 0, of: first.shape)
        let count = max(call.outputs.count, 1)
        let extent = first.shape[axis]
        let even = (extent + count - 1) / count
        let parts =
            try call.integers("split", input: 1)
            ?? (0..<min(count, extent + 1)).map { min(even, extent - $0 * even) }
        try file.budget.step(parts.count)
        guard parts.allSatisfy({ (1...extent).contains($0) }), parts.reduce(0, +) == extent else {
            throw .damaged.saying("Split into \(listed(parts)) of the extent \(extent)")
        }
        var (start, results): (Int, [HeadValue]) = (0, [])
        for part in parts {
            results.append(try builder.slice(first, axis: axis, start..<start + part))
            start += part
        }
        return results
    }
}

// Integers of 8 bits.
extension ONNXHead {
    /// The product of integers that were computed and constant ones, each without its zero point.
    mutating func integerProduct(_ call: ONNXCall, _ first: HeadValue) throws(WakeWordError) -> HeadValue {
        let right = try call.input(1)
        var matrix = try floats(call, 1)
        let zeros = try floats(call, 3)
        guard right.shape.count == 2, zeros.isEmpty || zeros.count == 1 || zeros.count == right.shape[1] else {
            throw .unsupported.saying("MatMulInteger with weights of the extents \(right.shape) is not supported")
        }
        if !zeros.isEmpty {
            try file.budget.take(matrix.count, of: MemoryLayout<Float>.stride)
            for index in matrix.indices { matrix[index] -= zeros.count == 1 ? zeros[0] : zeros[index % zeros.count] }
        }
        var left = first
        if let zero = try call.optionalInput(2) { left = try builder.combine(.subtract, left, zero) }
        return try builder.product(left, matrix, right.shape, isTransposed: false)
    }

    /// (x − zero point) · scale, for all numbers or along an axis.
    mutating func dequantise(_ call: ONNXCall, _ first: HeadValue) throws(WakeWordError) -> HeadValue {
        let (scales, zeros) = (try floats(call, 1), try floats(call, 2))
        guard let numbers = try builder.floats(first), !scales.isEmpty, zeros.isEmpty || zeros.count == scales.count
        else {
            throw .unsupported.saying("DequantizeLinear of numbers that are computed is not supported")
        }
        var inner = 1
        if scales.count > 1 {
            let axis = try HeadBuilder.axis(call.integer("axis") ?? 1, of: first.shape)
            guard first.shape[axis] == scales.count else { throw .damaged.saying("DequantizeLinear has other scales") }
            inner = first.shape[(axis + 1)...].reduce(1, *)
        }
        try file.budget.take(numbers.count, of: MemoryLayout<Float>.stride)
        let floats = numbers.indices.map { index in
            let place = index / max(inner, 1) % scales.count
            return (numbers[index] - (zeros.isEmpty ? 0 : zeros[place])) * scales[place]
        }
        return HeadValue(shape: first.shape, content: .floats(floats))
    }
}

// What other operators come to.
extension ONNXHead {
    /// A constant integer, computed of others: exports compute with extents.
    ///
    /// - Returns: nil for a node that computes other things.
    func fold(_ call: ONNXCall, _ first: HeadValue) throws(WakeWordError) -> HeadValue? {
        guard call.inputs.count == 2, let left = first.integers, let function = Self.folded[call.kind] else {
            return nil
        }
        let second = try call.input(1)
        guard let right = second.integers, left.count == right.count || left.count == 1 || right.count == 1 else {
            return nil
        }
        let count = max(left.count, right.count)
        guard !left.isEmpty, !right.isEmpty else { return nil }
        try file.budget.take(count, of: 2 * MemoryLayout<Int>.stride)
        var numbers: [Int] = []
        for index in 0..<count {
            guard let number = function(left[left.count == 1 ? 0 : index], right[right.count == 1 ? 0 : index]) else {
                return nil
            }
            numbers.append(number)
        }
        return HeadValue(shape: left.count == count ? first.shape : second.shape, content: .integers(numbers))
    }

    /// Each is nil where the result is not an integer of usual size.
    private static let folded: [String: @Sendable (Int, Int) -> Int?] = [
        "Add": { limited($0.addingReportingOverflow($1)) }, "Sub": { limited($0.subtractingReportingOverflow($1)) },
        "Mul": { limited($0.multipliedReportingOverflow(by: $1)) },
        "Div": { $1 == 0 ? nil : limited($0.dividedReportingOverflow(by: $1)) },
        "Mod": { $1 == 0 ? nil : limited($0.remainderReportingOverflow(dividingBy: $1)) },
        "Equal": { $0 == $1 ? 1 : 0 }, "Greater": { $0 > $1 ? 1 : 0 }, "Less": { $0 < $1 ? 1 : 0 },
    ]

    private static func limited(_ result: (partialValue: Int, overflow: Bool)) -> Int? {
        result.overflow ? nil : result.partialValue
    }

    mutating func clip(_ call: ONNXCall, _ first: HeadValue) throws(WakeWordError) -> HeadValue {
        let (lowest, highest) = (try floats(call, 1).first, try floats(call, 2).first)
        return try builder.apply(
            .clamp(
                lowest: lowest ?? call.float("min") ?? -.infinity,
                highest: highest ?? call.float("max") ?? .infinity
            ),
            first
        )
    }

    mutating func composed(_ call: ONNXCall, _ first: HeadValue) throws(WakeWordError) -> HeadValue {
        func constant(_ number: Float) -> HeadValue { HeadValue(shape: [], content: .floats([number])) }
        switch call.kind {
        case "Gelu":
            let error = try builder.combine(.multiply, first, constant(Float(0.5).squareRoot()))
            guard call.text("approximate") ?? "none" == "none" else {
                throw .unsupported.saying("Gelu that is approximated is not supported")
            }
            let share = try builder.combine(.add, builder.apply(.errorFunction, error), constant(1))
            return try builder.combine(.multiply, builder.combine(.multiply, first, share), constant(0.5))
        case "HardSigmoid", "HardSwish":
            let isSwish = call.kind == "HardSwish"
            let slope = constant(isSwish ? 1 / 6 : call.float("alpha") ?? 0.2)
            let middle = constant(isSwish ? 0.5 : call.float("beta") ?? 0.5)
            let line = try builder.combine(.add, builder.combine(.multiply, first, slope), middle)
            let share = try builder.apply(.clamp(lowest: 0, highest: 1), line)
            return isSwish ? try builder.combine(.multiply, first, share) : share
        case "Mish":
            let share = try builder.apply(.tanh, builder.apply(.softplus, first))
            return try builder.combine(.multiply, first, share)
        case "PRelu":
            let below = try builder.apply(.clamp(lowest: -.infinity, highest: 0), first)
            let above = try builder.apply(.clamp(lowest: 0, highest: .infinity), first)
            return try builder.combine(.add, above, builder.combine(.multiply, below, call.input(1)))
        default:
            let squares = try builder.apply(.power(2), first)
            let axes = try call.integers("axes", input: 1) ?? Array(first.shape.indices)
            let sum = try builder.reduce(.sum, squares, axes: axes, keeping: call.integer("keepdims") ?? 1 != 0)
            return try builder.apply(.squareRoot, sum)
        }
    }
}
