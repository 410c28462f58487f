private import Glibc
import KernelInterface

/// The kernels as plain loops, one number at a time: slow on purpose, and easy to be sure of.
///
/// They read the same packed weights as the vector code, so that `BECKON_KERNELS=scalar` runs a whole program on them.
enum ScalarKernels {
    static let kernels = KernelSet(
        .scalar,
        quantisedLayout: .pairs,
        convolve: convolve,
        quantise: quantise,
        convolveQuantised: convolveQuantised,
        add: add,
        mean: mean,
        softmax: softmax,
        logMel: logMel,
        decimate: decimate,
        peak: nil
    )

    @Sendable private static func convolve(
        _ input: UnsafePointer<Float>,
        to output: UnsafeMutablePointer<Float>,
        columns: ColumnRun,
        packed: UnsafePointer<Float>,
        shape: ConvolutionShape,
        residual: UnsafePointer<Float>?,
        rectify: Bool
    ) {
        let inputs = shape.inputChannels / shape.groups
        for column in 0..<columns.count {
            for channel in 0..<shape.outputChannels {
                let weights = PackedChannel(channel, of: shape)
                let first = column * columns.inputStep + weights.group * inputs
                var sum = Double(packed[weights.bias])
                for tap in 0..<shape.kernel {
                    for index in 0..<inputs {
                        let x = input[first + tap * shape.dilation * shape.inputChannels + index]
                        sum += Double(x) * Double(packed[weights.place(of: tap * inputs + index)])
                    }
                }
                let place = column * columns.outputStep + channel
                let value = Float(sum) + (residual?[place] ?? 0)
                output[place] = rectify && value < 0 ? 0 : value
            }
        }
    }

    @Sendable private static func add(
        _ left: UnsafePointer<Float>,
        _ right: UnsafePointer<Float>,
        to output: UnsafeMutablePointer<Float>,
        count: Int,
        rectify: Bool
    ) {
        for index in 0..<count {
            let sum = left[index] + right[index]
            output[index] = rectify && sum < 0 ? 0 : sum
        }
    }

    @Sendable private static func mean(
        _ input: UnsafePointer<Float>,
        to output: UnsafeMutablePointer<Float>,
        columns: Int,
        run: Int,
        channels: Int
    ) {
        for place in 0..<columns * channels {
            var sum = 0.0
            for offset in 0..<run { sum += Double(input[place + offset * channels]) }
            output[place] = Float(sum / Double(run))
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

    @Sendable private static func decimate(
        _ input: UnsafePointer<Float>,
        to output: UnsafeMutablePointer<Float>,
        count: Int,
        factor: Int,
        taps: UnsafePointer<Float>,
        tapCount: Int
    ) {
        for place in 0..<count {
            var sum = 0.0
            for tap in 0..<tapCount { sum += Double(input[place * factor + tap]) * Double(taps[tap]) }
            output[place] = Float(sum)
        }
    }

    /// By the definition of the discrete Fourier transform, each bin's angle turned on step by step.
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
                let turn = (re: cos(angle), im: sin(angle))
                var factor = (re: 1.0, im: 0.0)
                var sum = (re: 0.0, im: 0.0)
                for index in 0..<shape.frameSamples {
                    let x = Double(frame[index]) * Double(tables.window[index])
                    sum = (sum.re + x * factor.re, sum.im + x * factor.im)
                    factor = (factor.re * turn.re - factor.im * turn.im, factor.re * turn.im + factor.im * turn.re)
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
