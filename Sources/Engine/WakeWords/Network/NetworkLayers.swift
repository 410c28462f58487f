private import Core
private import Glibc

// What computes.
extension NetworkCompiler {
    /// The constant weights of a layer: integers of 8 bits around 0, each channel with its scale.
    private func weights(_ tensor: TFLiteFile.Tensor, channels: Int) throws(WakeWordError) -> (
        numbers: [Int16], scales: [Float]
    ) {
        if tensor.type.isFloat { _ = try Self.format(tensor) }
        guard tensor.type == .int8, tensor.bytes.count == tensor.count, tensor.zeroPoints.allSatisfy({ $0 == 0 }),
            tensor.scales.count == 1 || tensor.scales.count == channels,
            tensor.scales.allSatisfy({ $0.isFinite && $0 > 0 })
        else {
            throw .unsupported.saying("the weights \(quoted(tensor.name)) are not constant integers of 8 bits around 0")
        }
        try budget.take(tensor.count, of: MemoryLayout<Int16>.stride)
        try budget.take(channels, of: MemoryLayout<Float>.stride)
        let numbers = file.buffer.bytes[tensor.bytes].map { Int16(Int8(bitPattern: $0)) }
        let isCommon = tensor.scales.count == 1
        return (numbers, isCommon ? [Float](repeating: tensor.scales[0], count: channels) : tensor.scales)
    }

    private func biases(_ operation: TFLiteFile.Operator, channels: Int) throws(WakeWordError) -> [Int32] {
        guard operation.inputs.count > 2, operation.inputs[2] >= 0 else {
            try budget.take(channels, of: MemoryLayout<Int32>.stride)
            return [Int32](repeating: 0, count: channels)
        }
        let tensor = try tensor(operation, input: 2)
        let numbers = try file.integers(tensor)
        try requireShape(tensor, is: numbers.count == channels)
        return numbers
    }

    mutating func convolve(_ operation: TFLiteFile.Operator, depthwise: Bool) throws(WakeWordError) {
        let options = try ConvolutionOptions.convolution(operation.options, in: file.buffer, depthwise: depthwise)
        let (source, filter, target) = (
            try tensor(operation, input: 0), try tensor(operation, input: 1), try tensor(operation)
        )
        let window = try ConvolutionWindow(source.shape, filter.shape, options)
        let channels = depthwise ? filter.shape[3] : filter.shape[0]
        let isWhole =
            depthwise ? filter.shape[0] == 1 && channels == window.channels : filter.shape[3] == window.channels
        guard isWhole else {
            throw .unsupported.saying("the convolution of \(quoted(filter.name)) is in groups, which is not supported")
        }
        try requireShape(target, is: target.shape == [1, window.rows, window.columns, channels])
        let (numbers, scales) = try weights(filter, channels: channels)
        let (from, to) = (try Self.format(source), try Self.format(target))
        guard from.isSigned, to.isSigned else {
            throw .unsupported.saying("tensor \(quoted(source.name)) is not signed")
        }
        let zero = Int8(truncatingIfNeeded: from.zeroPoint)
        let place = try window.inputs(at: place(operation, input: 0), zero: zero, &parts)
        // TFLite computes the channels of a depthwise convolution by eights, and rounds those that remain in another way.
        let eights = depthwise ? channels & ~7 : channels
        try budget.take(channels, of: 2 * MemoryLayout<Rescaling>.stride)
        var rescalings: [Rescaling] = []
        for (channel, scale) in scales.enumerated() {
            let scale = Double(from.scale) * Double(scale) / Double(to.scale)
            rescalings.append(try Rescaling(scale, tiesAway: channel >= eights))
        }
        let taps = window.taps
        let output = try layer(
            operation,
            numbers,
            inputZero: from.zeroPoint,
            rescalings,
            positions: window.rows * window.columns,
            activation: options.activation,
            depthwise: depthwise
        )
        let length = depthwise ? taps : taps * window.channels
        let positions = LayerPositions(input: place.start, stride: place.stride, count: length, output: output)
        let rows = depthwise ? numbers : try padded(numbers, length: length, channels: channels)
        let first = try parts.add(weights: rows)
        try parts.add(depthwise ? .depthwise(positions, weights: first) : .dense(positions, weights: first))
    }

    private func padded(_ weights: [Int16], length: Int, channels: Int) throws(WakeWordError) -> [Int16] {
        let row = NetworkStep.rowLength(length)
        try budget.take(ModelBudget.product([row, channels]), of: MemoryLayout<Int16>.stride)
        var rows = [Int16](repeating: 0, count: row * channels)
        for channel in 0..<channels {
            for index in 0..<length { rows[channel * row + index] = weights[channel * length + index] }
        }
        return rows
    }

    /// The output of a layer, with biases to which the zero point of its input is added.
    private mutating func layer(
        _ operation: TFLiteFile.Operator,
        _ weights: [Int16],
        inputZero: Int32,
        _ rescalings: [Rescaling],
        positions: Int,
        activation: Activation,
        depthwise: Bool
    ) throws(WakeWordError) -> LayerOutput {
        let target = try tensor(operation)
        let format = try Self.format(target)
        let channels = rescalings.count
        var biases = try biases(operation, channels: channels)
        let length = channels > 0 ? weights.count / channels : 0
        try budget.step(2 * weights.count)
        for index in weights.indices {
            let channel = depthwise ? index % channels : index / length
            biases[channel] = biases[channel] &- inputZero &* Int32(weights[index])
        }
        return try output(
            operation,
            format,
            positions: positions,
            channels: channels,
            activation,
            firstChannel: parts.add(biases: biases, rescalings)
        )
    }

    mutating func connect(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        let (source, filter, target) = (
            try tensor(operation, input: 0), try tensor(operation, input: 1), try tensor(operation)
        )
        guard filter.shape.count == 2, filter.shape[0] > 0, filter.shape[1] > 0, source.count % filter.shape[1] == 0
        else {
            throw .damaged.saying(
                "the weights \(quoted(filter.name)) have the shape \(filter.shape), which does not fit"
            )
        }
        let (channels, length) = (filter.shape[0], filter.shape[1])
        let positions = source.count / length
        try requireShape(target, is: target.count == positions * channels)
        var activation = Activation.none
        if let options = operation.options {
            activation = try Activation(number: try file.buffer.number(Int8.self, options, field: 0) ?? 0)
            guard try file.buffer.number(Int8.self, options, field: 1) ?? 0 == 0 else {
                throw .unsupported.saying("the weights \(quoted(filter.name)) are in another order than by rows")
            }
        }
        let (numbers, scales) = try weights(filter, channels: channels)
        let (from, to) = (try Self.format(source), try Self.format(target))
        guard from.isSigned, to.isSigned else {
            throw .unsupported.saying("tensor \(quoted(source.name)) is not signed")
        }
        // A common scale is multiplied in the precision of its file.
        let isCommon = filter.scales.count == 1
        try budget.take(channels, of: 2 * MemoryLayout<Rescaling>.stride)
        let rescalings = try scales.map { (scale) throws(WakeWordError) in
            let product = isCommon ? Double(from.scale * scale) : Double(from.scale) * Double(scale)
            return try Rescaling(product / Double(to.scale))
        }
        let start = try place(operation, input: 0)
        let output = try layer(
            operation,
            numbers,
            inputZero: from.zeroPoint,
            rescalings,
            positions: positions,
            activation: activation,
            depthwise: false
        )
        let first = try parts.add(weights: padded(numbers, length: length, channels: channels))
        let layer = LayerPositions(input: start, stride: length, count: length, output: output)
        try parts.add(.dense(layer, weights: first))
    }

    mutating func logistic(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        let (from, to) = (try Self.format(tensor(operation, input: 0)), try Self.format(tensor(operation)))
        try lookUp(operation) { bits in
            let value = from.scale * Float(from.number(bits) - from.zeroPoint)
            let probability = 1 / (1 + expf(-value))
            return to.bits(of: (probability / to.scale).rounded() + Float(to.zeroPoint))
        }
    }

    mutating func requantise(_ operation: TFLiteFile.Operator) throws(WakeWordError) {
        let (from, to) = (try Self.format(tensor(operation, input: 0)), try Self.format(tensor(operation)))
        let rescaling = try Rescaling(Double(from.scale) / Double(to.scale))
        try lookUp(operation) { bits in
            to.bits(of: Float(rescaling.apply(from.number(bits) - from.zeroPoint) &+ to.zeroPoint))
        }
    }

    private mutating func lookUp(
        _ operation: TFLiteFile.Operator,
        _ result: (UInt8) -> Int8
    ) throws(WakeWordError) {
        let (source, target) = (try tensor(operation, input: 0), try tensor(operation))
        try requireShape(target, is: source.count == target.count)
        let from = try place(operation, input: 0)
        let to = try makePlace(operation)
        try parts.lookUp(from, to, count: target.count, table: (0...UInt8.max).map(result))
    }
}
