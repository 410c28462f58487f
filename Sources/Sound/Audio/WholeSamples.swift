extension Int16 {
    /// A sample from −1 to 1 as a whole number of 16 bits; larger ones are clipped, and NaN becomes 0. Samples that were read from
    /// 16 bits come out as they were.
    public init(sample: Float) {
        self = sample.isNaN ? 0 : Int16(Swift.max(-32_768, Swift.min(32_767, (sample * 32_768).rounded())))
    }
}

extension Float {
    /// A sample of 16 bits as a number from −1 to 1.
    public init(sample: Int16) { self = Float(sample) * 0x1p-15 }
}
