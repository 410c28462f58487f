private import Core

/// The silence that follows the end of audio, so that its last word is decided too: a window of zeros, block by block.
public struct ClosingSilence: Sendable {
    /// Samples at 16 kHz in all.
    public static let samples = AudioFormat.windowSamples

    private var blocks = AudioFormat.windowHops

    public init() {}

    /// Fills the next block of 1600 samples with zeros; false when all have been given.
    public mutating func next(into block: inout MutableSpan<Float>) -> Bool {
        for index in block.indices { block[index] = 0 }
        guard blocks > 0 else { return false }
        blocks -= 1
        return true
    }

    /// As ``next(into:)-(MutableSpan<Float>)``.
    public mutating func next(_ block: inout [Float]) -> Bool {
        var span = block.mutableSpan
        return next(into: &span)
    }
}
