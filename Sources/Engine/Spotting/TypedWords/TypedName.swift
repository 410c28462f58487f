/// A word of the configuration that is made from its name.
public struct TypedName: Sendable, Equatable {
    public let name: String
    /// Pronunciations in IPA or ARPAbet; none for what the spelling gives.
    public let sounds: [String]

    public init(_ name: String, sounds: [String] = []) { (self.name, self.sounds) = (name, sounds) }
}
