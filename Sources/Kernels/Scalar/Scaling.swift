/// Multiplies `count` samples by a factor.
public func scale(
    _ input: UnsafePointer<Float>,
    by factor: Float,
    to output: UnsafeMutablePointer<Float>,
    count: Int
) {
    for index in 0..<count { output[index] = input[index] * factor }
}
