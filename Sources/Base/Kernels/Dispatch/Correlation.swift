public import KernelInterface

extension KernelSet {
    /// Cross-correlation of a pattern with a signal where they overlap wholly: `Σ pattern[k] · signal[lag + k]` for each lag from 0 on,
    /// `[signal.count − pattern.count + 1]`; none where the pattern is longer.
    public func correlation(of pattern: [Float], with signal: [Float]) -> [Float] {
        let count = signal.count - pattern.count + 1
        guard count > 0 else { return [] }
        // A filter of one phase has taps by sixteen; the last ones are 0.
        let rest = (16 - pattern.count % 16) % 16
        let shape = PolyphaseShape(phases: 1, step: 1, tapCount: pattern.count + rest)
        let (taps, input) = (pattern + Array(repeating: 0, count: rest), signal + Array(repeating: 0, count: rest))
        var products = [Float](repeating: 0, count: count)
        input.withUnsafeBufferPointer { input in
            taps.withUnsafeBufferPointer { taps in
                products.withUnsafeMutableBufferPointer { products in
                    // An empty pattern may have no address: then all products are 0, as they are.
                    guard let input = input.baseAddress, let taps = taps.baseAddress, let output = products.baseAddress
                    else { return }
                    resample(input, output, count, 0, shape, taps)
                }
            }
        }
        return products
    }
}
