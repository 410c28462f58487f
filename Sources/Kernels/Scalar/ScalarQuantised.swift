import KernelInterface

extension ScalarKernels {
    @Sendable static func quantise(
        _ input: UnsafePointer<Float>,
        to output: UnsafeMutableRawPointer,
        count: Int,
        quantiser: Quantiser
    ) -> Bool {
        let target = output.assumingMemoryBound(to: Int16.self)
        var isFinite = true
        for index in 0..<count {
            let scaled = input[index] * quantiser.scale
            if !scaled.isFinite { isFinite = false }
            let cut = min(max(scaled, quantiser.low), quantiser.high)
            target[index] = cut.isNaN ? 0 : Int16(cut.rounded(.toNearestOrEven) + quantiser.offset)
        }
        return isFinite
    }

    @Sendable static func convolveQuantised(
        _ input: UnsafeRawPointer,
        to output: UnsafeMutablePointer<Float>,
        columns: ColumnRun,
        packed: UnsafePointer<Float>,
        shape: ConvolutionShape,
        residual: UnsafePointer<Float>?,
        rectify: Bool
    ) {
        let bytes = UnsafeRawPointer(packed)
        let inputs = input.assumingMemoryBound(to: Int16.self)
        for column in 0..<columns.count {
            for channel in 0..<shape.outputChannels {
                let weights = QuantisedChannel(channel, of: shape, .pairs)
                var sum = 0
                for tap in 0..<shape.kernel {
                    for index in 0..<shape.inputChannels {
                        let x = inputs[column * columns.inputStep + tap * shape.dilation * shape.inputChannels + index]
                        let place = weights.place(of: tap * shape.inputChannels + index)
                        sum += Int(x) * Int(bytes.load(fromByteOffset: place, as: Int8.self))
                    }
                }
                let place = column * columns.outputStep + channel
                let plain = Float(sum) * packed[weights.multiplier] + packed[weights.multiplier + panelWidth]
                let value = plain + (residual?[place] ?? 0)
                output[place] = rectify && value < 0 ? 0 : value
            }
        }
    }
}
