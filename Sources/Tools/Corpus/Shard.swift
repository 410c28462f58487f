import Core

/// One of several parts of a set of files: those whose names hash to it, whatever files there are beside them.
///
/// Machines that each take one shard of the same set share no file and leave none out, also where files come and go.
public struct Shard: Equatable, Sendable, CustomStringConvertible {
    /// The most parts.
    public static let mostParts = 1_000_000

    /// From 1 to ``count``.
    public let number: Int
    public let count: Int

    /// - Parameter text: number and count, such as `3/16`.
    /// - Returns: nil for any other text.
    public init?(_ text: String) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false).map { Int(digits: $0) }
        guard parts.count == 2, let number = parts[0], let count = parts[1], (1...Self.mostParts).contains(count),
            (1...count).contains(number)
        else { return nil }
        self.number = number
        self.count = count
    }

    public var description: String { "\(number)/\(count)" }

    /// Whether a file of this name, as it was given or found, belongs to the shard.
    public func contains(_ name: String) -> Bool {
        Int(Self.hash(FileName.bytes(name)) % UInt64(count)) == number - 1
    }

    /// FNV-1a with 64 bits, then the finaliser of MurmurHash3, because the lowest bits of FNV-1a mix badly.
    ///
    /// It must never change: machines with different versions share a set.
    static func hash(_ bytes: [UInt8]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash = (hash ^ hash >> 33) &* 0xFF51_AFD7_ED55_8CCD
        hash = (hash ^ hash >> 33) &* 0xC4CE_B9FE_1A85_EC53
        return hash ^ hash >> 33
    }
}
