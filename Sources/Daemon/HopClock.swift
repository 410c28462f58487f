/// Times of live audio, in nanoseconds.
enum HopClock {
    /// From one block to the next.
    static let hop: Int64 = 100_000_000
}
