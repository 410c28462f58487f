import Glibc
import KernelInterface

/// The reference for tests: each kernel's definition in scalar loops and double precision, without packed weights.
enum ScalarReference {
    /// Convolution, bias and ReLU; weights `[outputChannels × bands × kernel × inputChannels / groups]`.
    static func convolve(
        _ input: [Float],
        weights: [Float],
        bias: [Float],
        shape: ConvolutionShape,
        columns: Int,
        relu: Bool
    ) -> [Float] {
        let inputs = shape.inputChannels / shape.groups
        let outputs = shape.outputChannels / shape.groups
        var result: [Float] = []
        for column in 0..<columns {
            for channel in 0..<shape.outputChannels {
                var sum = Double(bias[channel])
                for (band, tap) in (0..<shape.bands).flatMap({ band in (0..<shape.kernel).map { (band, $0) } }) {
                    let source = (column * shape.stride + tap * shape.dilation) * shape.inputChannels
                    for index in 0..<inputs {
                        let x = input[band * shape.bandStride + source + (channel / outputs) * inputs + index]
                        let w = weights[((channel * shape.bands + band) * shape.kernel + tap) * inputs + index]
                        sum += Double(x) * Double(w)
                    }
                }
                result.append(Float(relu ? max(0, sum) : sum))
            }
        }
        return result
    }

    /// Means of `width` adjacent columns.
    static func mean(_ input: [Float], columns: Int, width: Int, channels: Int) -> [Float] {
        var result: [Float] = []
        for column in 0..<columns {
            for channel in 0..<channels {
                var sum = 0.0
                for offset in 0..<width { sum += Double(input[(column + offset) * channels + channel]) }
                result.append(Float(sum / Double(width)))
            }
        }
        return result
    }

    /// Probabilities of logits.
    static func softmax(_ logits: [Float], scale: Float) -> [Double] {
        let largest = Double(logits.max() ?? 0)
        let powers = logits.map { exp((Double($0) - largest) * Double(scale)) }
        let sum = powers.reduce(0, +)
        return powers.map { $0 / sum }
    }

    /// Log-mel features by the definition of the DFT.
    static func logMel(_ samples: [Float], shape: LogMelShape, columns: Int) -> [Double] {
        let window = shape.window()
        let borders = shape.filterBorders()
        let size = shape.fftSize
        let circle = (0..<size).map { index in
            let angle = 2 * Double.pi * Double(index) / Double(size)
            return (cosine: cos(angle), sine: sin(angle))
        }
        var result: [Double] = []
        for column in 0..<columns {
            var power: [Double] = []
            for bin in 0...(size / 2) {
                var re = 0.0
                var im = 0.0
                for index in 0..<shape.frameSamples {
                    let x = Double(samples[column * shape.hopSamples + index]) * window[index]
                    let factor = circle[(bin * index) % size]
                    re += x * factor.cosine
                    im -= x * factor.sine
                }
                power.append(re * re + im * im)
            }
            for band in 0..<shape.bands {
                var energy = 0.0
                for bin in 0...(size / 2) {
                    energy += power[bin] * shape.filterWeight(band: band, bin: bin, borders: borders)
                }
                let value = (log(energy + Double(shape.floor)) - Double(shape.mean)) / Double(shape.deviation)
                result.append(value)
            }
        }
        return result
    }
}

extension ConvolutionShape {
    /// The same over several bands, each of which has the inputs of so many columns, and `more`.
    func over(bands: Int, columns: Int, more: Int) -> ConvolutionShape {
        var shape = self
        (shape.bands, shape.bandStride) = (bands, inputColumns(for: columns) * inputChannels + more)
        return shape
    }

    /// Inputs of all bands for so many columns.
    func inputCount(for columns: Int) -> Int {
        (bands - 1) * bandStride + inputColumns(for: columns) * inputChannels
    }
}
