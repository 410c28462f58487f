import Glibc
import KernelInterface
import Kernels

// What layers compute of each column by itself; channels are a multiple of `columnLanes`.

private typealias Lanes = SIMD8<Float>
let columnLanes = 8

@inline(__always)
private func lanes(_ row: UnsafePointer<Float>, _ index: Int) -> Lanes {
    UnsafeRawPointer(row + index).loadUnaligned(as: Lanes.self)
}

@inline(__always)
private func store(_ lanes: Lanes, _ row: UnsafeMutablePointer<Float>, _ index: Int) {
    UnsafeMutableRawPointer(row + index).storeBytes(of: lanes, as: Lanes.self)
}

/// Gives each column the mean 0 and the variance 1.
///
/// - Parameter scale: a factor for each channel, then a summand for each; nil for none.
func normalise(
    _ input: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>,
    _ columns: Int,
    _ channels: Int,
    _ scale: UnsafePointer<Float>?
) {
    for column in 0..<columns {
        let (row, target) = (input + column * channels, output + column * channels)
        var sum = Lanes.zero
        for index in stride(from: 0, to: channels, by: columnLanes) { sum += lanes(row, index) }
        let mean = sum.sum() / Float(channels)
        var squares = Lanes.zero
        for index in stride(from: 0, to: channels, by: columnLanes) {
            let difference = lanes(row, index) - mean
            squares += difference * difference
        }
        let factor = 1 / (squares.sum() / Float(channels) + 1e-5).squareRoot()
        for index in stride(from: 0, to: channels, by: columnLanes) {
            var value = (lanes(row, index) - mean) * factor
            if let scale { value = value * lanes(scale, index) + lanes(scale, channels + index) }
            store(value, target, index)
        }
    }
}

/// The first half of each column, times the sigmoid of the second, which is `silu(x) / x`.
///
/// - Parameters:
///   - channels: of the output.
///   - scratch: memory for as many floats as the output has.
func gate(
    _ input: UnsafePointer<Float>,
    to output: UnsafeMutablePointer<Float>,
    _ columns: Int,
    _ channels: Int,
    _ scratch: UnsafeMutablePointer<Float>,
    _ kernels: borrowing KernelSet
) {
    for column in 0..<columns {
        (scratch + column * channels).update(from: input + (2 * column + 1) * channels, count: channels)
    }
    kernels.silu(scratch, columns * channels)
    for column in 0..<columns {
        let (row, silu) = (input + 2 * column * channels, scratch + column * channels)
        for index in stride(from: 0, to: channels, by: columnLanes) {
            let gate = lanes(row, channels + index)
            let share = (lanes(silu, index) / gate).replacing(with: 0.5, where: gate .== 0)
            store(lanes(row, index) * share, output + column * channels, index)
        }
    }
}

/// Applies GELU, `x · Φ(x)`, to `count` floats in place.
func gelu(_ values: UnsafeMutablePointer<Float>, _ count: Int) {
    let root = Float(0.5).squareRoot()
    for index in 0..<count { values[index] = 0.5 * values[index] * (1 + erff(values[index] * root)) }
}
