public import JSON

/// What Home Assistant needs to know of an encrypted voice satellite, and what shows it to a camera. A pure value.
public struct SatelliteKey: Equatable, Sendable {
    /// The satellite's name.
    public let name: String
    /// As Home Assistant takes it, in base64.
    public let key: String
    /// Whether each module of its QR code is dark, row by row; nil without the library that makes it.
    public let modules: [[Bool]]?

    public init(name: String, key: String, modules: [[Bool]]?) {
        (self.name, self.key, self.modules) = (name, key, modules)
    }

    /// One JSON object.
    public var json: JSON {
        var json: JSON = ["name": .string(name), "key": .string(key)]
        json.append([
            "modules": modules.map {
                .strings($0.map { row in String(row.map { isDark -> Character in isDark ? "1" : "0" }) })
            }
        ])
        return json
    }
}
