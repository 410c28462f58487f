private import Core

/// One of several services of a machine, each with a microphone and a configuration of its own: `beckon -i kitchen`.
///
/// The places of the service without a name are called `beckon`, those of an instance `beckon@NAME`, as its unit is.
public struct Instance: Hashable, Sendable, Comparable {
    public let name: String

    /// The variable that names the instance of a program, and of the programs that it starts.
    public static let variable = "BECKON_INSTANCE"
    /// Names that ``init(_:)`` takes, for messages.
    public static let expected = "a name such as kitchen: letters, digits, - and _, 32 at most"

    /// Nil unless it has ASCII letters, digits, `-` and `_` alone, 1 to 32 of them, and begins with a letter or a digit. `config` is the
    /// configuration of the service without a name.
    public init?(_ name: String) {
        guard (1...32).contains(name.utf8.count), name != "config", name.first != "-", name.first != "_",
            name.utf8.allSatisfy({ byte in
                (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
                    || byte == UInt8(ascii: "-") || byte == UInt8(ascii: "_")
            })
        else { return nil }
        self.name = name
    }

    /// The instance of a program; nil for the service without a name.
    public static func named(in environment: [String: String]) -> Instance? {
        environment[variable].flatMap { Instance($0) }
    }

    /// The name of its unit, and of the folders of its socket and its state.
    public var folder: String { "beckon@\(name)" }

    public static func < (left: Instance, right: Instance) -> Bool { left.name < right.name }
}

extension Instance? {
    /// The name of the unit, and of the folders of its socket and its state: `beckon` or `beckon@kitchen`.
    public var unit: String { map(\.folder) ?? "beckon" }

    /// The name of the configuration without its ending: `config` or `kitchen`.
    public var configuration: String { map(\.name) ?? "config" }
}
