private import Glibc
import KernelInterface

/// The kernels as plain loops with sums in double precision: slow on purpose, and easy to verify.
///
/// They read the same packed weights as the vector code, so that `BECKON_KERNELS=scalar` runs the whole program on them.
enum ScalarKernels {
    static let kernels = KernelSet(
        .scalar,
        quantisedLayout: .int16x2,
        convolve: convolve,
        quantise: quantise,
        convolveQuantised: convolveQuantised,
        convolveFast: nil,
        add: add,
        mean: mean,
        silu: silu,
        softmax: softmax,
        logMel: logMel,
        resample: resample,
        fmaThroughput: nil
    )

    @Sendable private static func convolve(
        _ input: UnsafePointer<Float>,
        to output: UnsafeMutablePointer<Float>,
        columns: StridedColumns,
        packed: UnsafePointer<Float>,
        shape: ConvolutionShape,
        residual: UnsafePointer<Float>?,
        relu: Bool
    ) {
        let inputs = shape.inputChannels / shape.groups
        for column in 0..<columns.count {
            for channel in 0..<shape.outputChannels {
                let weights = PackedChannel(channel, of: shape)
                let first = column * columns.inputStride + weights.group * inputs
                var sum = Double(packed[weights.bias])
                for row in 0..<shape.depth {
                    let place = inputOffset(row: row, inputs, shape)
                    sum += Double(input[first + place]) * Double(packed[weights.offset(row: row)])
                }
                let target = column * columns.outputStride + channel
                let value = Float(sum) + (residual?[target] ?? 0)
                output[target] = relu && value < 0 ? 0 : value
            }
        }
    }

    /// Inputs from a column's first input to the one that a row of weights multiplies.
    private static func inputOffset(row: Int, _ inputs: Int, _ shape: ConvolutionShape) -> Int {
        let (band, tap) = (row / inputs / shape.kernel, row / inputs % shape.kernel)
        return band * shape.bandStride + tap * shape.dilation * shape.inputChannels + row % inputs
    }

    @Sendable private static func quantise(
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
            let clamped = min(max(scaled, quantiser.low), quantiser.high)
            target[index] = clamped.isNaN ? 0 : Int16(clamped.rounded(.toNearestOrEven) + quantiser.zeroPoint)
        }
        return isFinite
    }

    @Sendable private static func convolveQuantised(
        _ input: UnsafeRawPointer,
        to output: QuantisedOutput,
        columns: StridedColumns,
        packed: UnsafePointer<Float>,
        shape: ConvolutionShape,
        residual: UnsafePointer<Float>?,
        relu: Bool
    ) {
        let bytes = UnsafeRawPointer(packed)
        let inputs = input.assumingMemoryBound(to: Int16.self)
        for column in 0..<columns.count {
            for channel in 0..<shape.outputChannels {
                let weights = QuantisedChannel(channel, of: shape, .int16x2)
                var sum = 0
                for row in 0..<shape.depth {
                    let source = column * columns.inputStride + inputOffset(row: row, shape.inputChannels, shape)
                    let offset = weights.byteOffset(row: row)
                    sum += Int(inputs[source]) * Int(bytes.load(fromByteOffset: offset, as: Int8.self))
                }
                let target = column * columns.outputStride + channel
                let scaled = Float(sum) * packed[weights.multiplier] + packed[weights.multiplier + panelWidth]
                let value = scaled + (residual?[target] ?? 0)
                var result = relu && value < 0 ? 0 : value
                output.floats?[target] = result
                if let quantised = output.quantised {
                    let place = quantised + column * output.quantisedStride + channel * MemoryLayout<Int16>.stride
                    _ = quantise(&result, to: place, count: 1, quantiser: output.quantiser)
                }
            }
        }
    }

    @Sendable private static func add(
        _ left: UnsafePointer<Float>,
        _ right: UnsafePointer<Float>,
        to output: UnsafeMutablePointer<Float>,
        count: Int,
        relu: Bool
    ) {
        for index in 0..<count {
            let sum = left[index] + right[index]
            output[index] = relu && sum < 0 ? 0 : sum
        }
    }

    @Sendable private static func mean(
        _ input: UnsafePointer<Float>,
        to output: UnsafeMutablePointer<Float>,
        columns: Int,
        width: Int,
        channels: Int
    ) {
        for index in 0..<columns * channels {
            var sum = 0.0
            for column in 0..<width { sum += Double(input[index + column * channels]) }
            output[index] = Float(sum / Double(width))
        }
    }

    @Sendable private static func silu(_ values: UnsafeMutablePointer<Float>, count: Int) {
        for index in 0..<count {
            let x = Double(values[index])
            values[index] = Float(x / (1 + exp(-x)))
        }
    }

    @Sendable private static func softmax(
        _ logits: UnsafePointer<Float>,
        to output: UnsafeMutablePointer<Float>,
        count: Int,
        scale: Float
    ) -> Bool {
        var largest = -Float.infinity
        for index in 0..<count {
            guard logits[index].isFinite else { return false }
            largest = max(largest, logits[index])
        }
        var sum = 0.0
        for index in 0..<count { sum += exp(Double(logits[index] - largest) * Double(scale)) }
        for index in 0..<count {
            output[index] = Float(exp(Double(logits[index] - largest) * Double(scale)) / sum)
        }
        return true
    }

    @Sendable private static func resample(
        _ input: UnsafePointer<Float>,
        to output: UnsafeMutablePointer<Float>,
        count: Int,
        phase: Int,
        shape: PolyphaseShape,
        taps: UnsafePointer<Float>
    ) {
        for index in 0..<count {
            let place = phase + index * shape.step
            let first = place / shape.phases
            let weights = taps + place % shape.phases * shape.tapCount
            var sum = 0.0
            for tap in 0..<shape.tapCount { sum += Double(input[first + tap]) * Double(weights[tap]) }
            output[index] = Float(sum)
        }
    }

    /// Follows the definition of the DFT; each bin's complex factor is rotated once per sample.
    @Sendable private static func logMel(
        _ samples: UnsafePointer<Float>,
        to output: UnsafeMutablePointer<Float>,
        columns: Int,
        tables: borrowing LogMelTables,
        scratch: UnsafeMutablePointer<Float>
    ) {
        let shape = tables.shape
        for column in 0..<columns {
            let frame = samples + column * shape.hopSamples
            for bin in 0...(shape.fftSize / 2) {
                let angle = -2 * Double.pi * Double(bin) / Double(shape.fftSize)
                let rotation = (re: cos(angle), im: sin(angle))
                var factor = (re: 1.0, im: 0.0)
                var sum = (re: 0.0, im: 0.0)
                for index in 0..<shape.frameSamples {
                    let x = Double(frame[index]) * Double(tables.window[index])
                    sum = (sum.re + x * factor.re, sum.im + x * factor.im)
                    factor = (
                        factor.re * rotation.re - factor.im * rotation.im,
                        factor.re * rotation.im + factor.im * rotation.re
                    )
                }
                scratch[bin] = Float(sum.re * sum.re + sum.im * sum.im)
            }
            var weight = tables.filters
            for band in 0..<shape.bands {
                var energy = 0.0
                for index in 0..<Int(tables.spans[2 * band + 1]) {
                    energy += Double(scratch[Int(tables.spans[2 * band]) + index]) * Double(weight[index])
                }
                weight += Int(tables.spans[2 * band + 1])
                output[column * shape.bands + band] =
                    Float((log(energy + Double(shape.floor)) - Double(shape.mean)) / Double(shape.deviation))
            }
        }
    }
}
