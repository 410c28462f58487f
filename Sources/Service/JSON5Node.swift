/// A value of a JSON5 text and the line on which it begins.
struct JSON5Node: Equatable, Sendable {
    indirect enum Value: Equatable, Sendable {
        case null
        case bool(Bool)
        case number(Double)
        case string(String)
        case array([JSON5Node])
        /// In the order of the text; a name may come twice.
        case object([Member])
    }

    struct Member: Equatable, Sendable {
        let name: String
        /// Where its name stands.
        let line: Int
        let node: JSON5Node
    }

    let value: Value
    /// From 1.
    let line: Int

    /// The value as an error message quotes it.
    var description: String {
        switch value {
        case .null: "null"
        case .bool(let flag): flag ? "true" : "false"
        case .number(let number): shortest(number)
        case .string(let text): text.count <= 40 ? "'\(text)'" : "'\(text.prefix(40))…'"
        case .array: "a list"
        case .object: "an object"
        }
    }
}

/// A number as a person would write it: without a fraction where it has none.
func shortest(_ number: Double) -> String {
    guard let whole = Int(exactly: number), whole.magnitude < 1 << 53 else { return "\(number)" }
    return String(whole)
}

/// Where a text stops being JSON5, and why.
struct JSON5Error: Error, Equatable {
    let line: Int
    let reason: String
}
