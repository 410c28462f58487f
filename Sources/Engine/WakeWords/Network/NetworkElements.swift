private import Core

// What computes without weights: sums and products of elements, and pools.
extension NetworkCompiler {
    /// The most elements of a tensor that is repeated along an axis.
    private static let mostRepeated = 1 << 15

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
        let first = try spread(place(operation, input: 0), left, like: target)
        let second = try spread(place(operation, input: 1), right, like: target)
        let pairs = ElementPairs(
            left: first,
            right: second,
            leftZero: from.zeroPoint,
            rightZero: other.zeroPoint,
            output: try output(operation, to, positions: target.count, channels: 1, activation)
        )
        guard isSum else {
            let scale = Double(from.scale) * Double(other.scale) / Double(to.scale)
            try parts.product(ProductStep(pairs: pairs, scale: Rescaling(scale)))
            return
        }
        // With both scales at most a half, the sum fits.
        let common = 2 * Double(max(from.scale, other.scale))
        let unit = Double(1 << SumStep.fractionBits)
        try parts.sum(
            SumStep(
                pairs: pairs,
                left: Rescaling(Double(from.scale) / common),
                right: Rescaling(Double(other.scale) / common),
                sum: Rescaling(common / (unit * Double(to.scale)))
            )
        )
    }

    /// A tensor with the extents of another one: extents of 1, and such that are missing at the front, are repeated.
    ///
    /// - Returns: its place.
    private mutating func spread(
        _ place: Int,
        _ source: TFLiteFile.Tensor,
        like target: TFLiteFile.Tensor
    ) throws(WakeWordError) -> Int {
        let missing = target.shape.count - source.shape.count
        try requireShape(source, is: missing >= 0)
        let shape = [Int](repeating: 1, count: missing) + source.shape
        guard shape != target.shape else { return place }
        try requireShape(source, is: zip(shape, target.shape).allSatisfy { $0 == $1 || $0 == 1 })
        guard target.count <= Self.mostRepeated else {
            throw .size.saying("tensor \(quoted(target.name)) has \(target.count) elements")
        }
        let to = try parts.reserve(target.count)
        let places = try budget.places(target.shape, strides: HeadBuilder.strides(shape))
        try takeRuns(places.count)
        try parts.copy(places.enumerated().map { CopiedRun(source: place + $1, target: to + $0, count: 1) })
        return to
    }

    private mutating func output(
        _ operation: TFLiteFile.Operator,
        _ format: NumberFormat,
        positions: Int,
        channels: Int,
        _ activation: Activation
    ) throws(WakeWordError) -> LayerOutput {
        let range = activation.range(scale: Double(format.scale), zeroPoint: format.zeroPoint)
        return LayerOutput(
            place: try makePlace(operation),
            positions: positions,
            channels: channels,
            firstChannel: 0,
            zeroPoint: format.zeroPoint,
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
        let place = try inputs(of: window, at: place(operation, input: 0), zero: Int8.min)
        let range = options.activation.range(scale: Double(format.scale), zeroPoint: format.zeroPoint)
        // The elements stay as they are, so that no zero point is added.
        let output = LayerOutput(
            place: try makePlace(operation),
            positions: window.rows * window.columns,
            channels: window.channels,
            firstChannel: 0,
            zeroPoint: 0,
            lowest: range.lowerBound,
            highest: range.upperBound
        )
        try parts.pool(
            PoolStep(
                kind: isAverage ? .average : .maximum,
                input: place.start,
                stride: place.stride,
                taps: window.taps,
                output: output
            )
        )
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
        guard let last = axes.max(), source.count <= Self.mostRepeated, source.count > 0 else {
            throw .unsupported.saying("MEAN over no axis, or of a large tensor, is not supported")
        }
        let strides = HeadBuilder.strides(source.shape, repeatsOnes: false)
        let outer = source.shape.indices.prefix(last).filter { !axes.contains($0) }
        let inner = axes.sorted()
        let channels = source.shape[(last + 1)...].reduce(1, *)
        let positions = try budget.places(outer.map { source.shape[$0] }, strides: outer.map { strides[$0] })
        let taps = try budget.places(inner.map { source.shape[$0] }, strides: inner.map { strides[$0] })
        try requireShape(target, is: target.count == positions.count * channels)
        let place = try place(operation, input: 0)
        let start = try parts.reserve(source.count)
        try takeRuns(ModelBudget.product([positions.count, taps.count]))
        var runs: [CopiedRun] = []
        for position in positions {
            for tap in taps {
                let target = start + runs.count * channels
                runs.append(CopiedRun(source: place + position + tap, target: target, count: channels))
            }
        }
        try parts.copy(runs)
        let scale = try Rescaling(Double(from.scale) / Double(to.scale), ofMean: taps.count)
        try parts.pool(
            PoolStep(
                kind: .mean(scale, zeroPoint: from.zeroPoint),
                input: start,
                stride: taps.count * channels,
                taps: taps.count,
                output: output(operation, to, positions: positions.count, channels: channels, .none)
            )
        )
    }
}
