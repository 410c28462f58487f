private import Core

// What computes without weights: sums and products of elements, and pools.
extension NetworkCompiler {
    mutating func combine(_ operation: TFLiteFile.Operator, isSum: Bool) throws(WakeWordError) {
        let (left, right, target) = (
            try tensor(operation, input: 0), try tensor(operation, input: 1), try tensor(operation)
        )
        let (from, other, to) = (try Self.format(left), try Self.format(right), try Self.format(target))
        guard from.isSigned, other.isSigned, to.isSigned else {
            throw .unsupported.saying("tensor \(quoted(target.name)) is not signed")
        }
        var activation = Activation.none
        if let options = operation.options {
            activation = try Activation(number: try file.buffer.number(Int8.self, options, field: 0) ?? 0)
        }
        let pairs = ElementPairs(
            left: try place(operation, input: 0),
            right: try place(operation, input: 1),
            leftZero: from.zeroPoint,
            rightZero: other.zeroPoint,
            loops: Loops(
                target.shape,
                a: try repeated(left, like: target),
                b: try repeated(right, like: target),
                c: Loops.strides(target.shape)
            ),
            output: try output(operation, to, positions: target.count, channels: 1, activation)
        )
        guard isSum else {
            let scale = Double(from.scale) * Double(other.scale) / Double(to.scale)
            return try parts.add(.product(pairs, scale: Rescaling(scale)))
        }
        // With both scales at most a half, the sum fits.
        let common = 2 * Double(max(from.scale, other.scale))
        let unit = Double(1 << NetworkStep.fractionBits)
        try parts.add(
            .sum(
                pairs,
                left: Rescaling(Double(from.scale) / common),
                right: Rescaling(Double(other.scale) / common),
                sum: Rescaling(common / (unit * Double(to.scale)))
            )
        )
    }

    /// The strides of a tensor with the extents of another one: extents of 1, and such that are missing at the front, are repeated.
    private func repeated(_ source: TFLiteFile.Tensor, like target: TFLiteFile.Tensor) throws(WakeWordError) -> [Int] {
        let missing = target.shape.count - source.shape.count
        try requireShape(source, is: missing >= 0)
        let shape = [Int](repeating: 1, count: missing) + source.shape
        try requireShape(source, is: zip(shape, target.shape).allSatisfy { $0 == $1 || $0 == 1 })
        return Loops.strides(shape, repeatsOnes: true)
    }

    /// The output of an operator.
    ///
    /// - Parameter zeroPoint: what is added to its values; nil for that of its format.
    mutating func output(
        _ operation: TFLiteFile.Operator,
        _ format: NumberFormat,
        positions: Int,
        channels: Int,
        _ activation: Activation,
        firstChannel: Int = 0,
        zeroPoint: Int32? = nil
    ) throws(WakeWordError) -> LayerOutput {
        let range = activation.range(scale: Double(format.scale), zeroPoint: format.zeroPoint)
        return LayerOutput(
            place: try makePlace(operation),
            positions: positions,
            channels: channels,
            firstChannel: firstChannel,
            zeroPoint: zeroPoint ?? format.zeroPoint,
            lowest: range.lowerBound,
            highest: range.upperBound
        )
    }

    mutating func pool(_ operation: TFLiteFile.Operator, isAverage: Bool) throws(WakeWordError) {
        let (source, target) = (try tensor(operation, input: 0), try tensor(operation))
        try requireSameFormat(source, target)
        let format = try Self.format(source)
        guard format.isSigned else { throw .unsupported.saying("tensor \(quoted(source.name)) is not signed") }
        let (options, extents) = try ConvolutionOptions.pool(operation.options, in: file.buffer)
        let window = try ConvolutionWindow(source.shape, [1, extents.height, extents.width, 1], options)
        guard !isAverage || !window.isPadded else {
            throw .unsupported.saying("AVERAGE_POOL_2D beyond the edge of its input is not supported")
        }
        try requireShape(target, is: target.shape == [1, window.rows, window.columns, window.channels])
        let place = try window.inputs(at: place(operation, input: 0), zero: Int8.min, &parts)
        // The elements stay as they are, so that no zero point is added.
        let output = try output(
            operation,
            format,
            positions: window.rows * window.columns,
            channels: window.channels,
            options.activation,
            zeroPoint: 0
        )
        let positions = LayerPositions(
            input: place.start,
            stride: place.stride,
            count: window.taps,
            output: output
        )
        try parts.add(.pool(isAverage ? .average : .maximum, positions))
    }

    mutating func mean(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        let (source, target) = (try tensor(operation, input: 0), try tensor(operation))
        let (from, to) = (try Self.format(source), try Self.format(target))
        guard from.isSigned, to.isSigned else {
            throw .unsupported.saying("tensor \(quoted(source.name)) is not signed")
        }
        let numbers = try file.integers(tensor(operation, input: 1))
        try budget.take(numbers.count, of: 4 * MemoryLayout<Int>.stride)
        let axes = Set(try numbers.map { (number) throws(WakeWordError) in try axis(Int(number), of: source.shape) })
        guard let last = axes.max(), source.count > 0 else {
            throw .unsupported.saying("MEAN over no axis is not supported")
        }
        let strides = Loops.strides(source.shape)
        let outer = source.shape.indices.prefix(last).filter { !axes.contains($0) }
        let inner = axes.sorted()
        let channels = source.shape[(last + 1)...].reduce(1, *)
        let positions = outer.reduce(1) { $0 * source.shape[$1] }
        let taps = inner.reduce(1) { $0 * source.shape[$1] }
        try requireShape(target, is: target.count == positions * channels)
        let start = try parts.reserve(source.count)
        let shape = (outer + inner).map { source.shape[$0] } + [channels]
        try parts.move(
            shape,
            from: place(operation, input: 0),
            (outer + inner).map { strides[$0] } + [1],
            to: start,
            Loops.strides(shape)
        )
        let scale = try Rescaling(Double(from.scale) / Double(to.scale), ofMean: taps)
        let layer = LayerPositions(
            input: start,
            stride: taps * channels,
            count: taps,
            output: try output(operation, to, positions: positions, channels: channels, .none)
        )
        try parts.add(.pool(.mean(scale, zeroPoint: from.zeroPoint), layer))
    }
}
