/// Geometry of a transform of `size` real samples, a power of two from 64 to 4096.
///
/// It runs as a complex transform of half the size over (even, odd) sample pairs, in Stockham passes of radix 4 (and
/// one of radix 2 where needed), which leave the result in natural order.
public struct FourierShape {
    public var size: Int

    public init(size: Int) { self.size = size }

    public var half: Int { size / 2 }

    /// Floats of the table: three twiddle factors for each butterfly position of each pass, then one for each bin of
    /// the last step up to the middle.
    public var tableCount: Int {
        var count = 2 * (half / 2 + 1)
        var length = half
        while length >= 4 {
            count += 6 * (length / 4)
            length /= 4
        }
        return count
    }

    /// Vectors of scratch memory: two complex arrays of half the size.
    public var scratchCount: Int { 4 * half }
}
