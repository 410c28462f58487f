import Core
import JSON

// MARK: - Values without keys of their own

extension SettingKind where Value == Bool {
    static let flag = SettingKind(
        "true or false",
        write: { .bool($0) },
        take: { node in
            if case .bool(let flag) = node.value { flag } else { nil }
        }
    )
}

extension SettingKind where Value == Double {
    /// - Parameter expected: the description in messages, such as "seconds from 0 to 3600".
    static func number(_ range: ClosedRange<Double>, _ expected: String) -> SettingKind {
        SettingKind(
            expected,
            write: { .encoded(shortest($0)) },
            take: { node in
                if case .number(let number) = node.value, range.contains(number) { number } else { nil }
            }
        )
    }
}

extension SettingKind where Value == Float {
    static func number(_ range: ClosedRange<Double>, _ expected: String) -> SettingKind {
        SettingKind(
            expected,
            write: { .shortest($0) },
            take: { node in
                if case .number(let number) = node.value, range.contains(number) { Float(number) } else { nil }
            }
        )
    }

    /// 0 and 1 are excluded, as on the command line: at 0 a word would always fire, at 1 never.
    static let threshold = SettingKind(
        "a confidence between 0 and 1, such as 0.8",
        write: { .shortest($0) },
        take: { node in
            // Checked as the float that is kept: 1e-60 becomes 0, and 0.999999999999 becomes 1.
            guard case .number(let number) = node.value else { return nil }
            let value = Float(number)
            return value > 0 && value < 1 ? value : nil
        }
    )
}

extension SettingKind where Value == Int {
    static func whole(_ range: ClosedRange<Int>) -> SettingKind {
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return SettingKind(
            expected,
            write: { .number($0) },
            take: { node in
                guard case .number(let number) = node.value, let whole = Int(exactly: number) else { return nil }
                return range.contains(whole) ? whole : nil
            }
        )
    }
}

extension SettingKind where Value == String {
    /// Text that `isValid` accepts.
    static func text(_ expected: String, isValid: @escaping @Sendable (String) -> Bool = { !$0.isEmpty }) -> SettingKind
    {
        SettingKind(
            expected,
            write: { .string($0) },
            take: { node in
                guard case .string(let text) = node.value, isValid(text), !text.contains("\0") else { return nil }
                return text
            }
        )
    }

    static func absolutePath(_ example: String) -> SettingKind {
        text("a path that begins with /, such as \"\(example)\"") { $0.hasPrefix("/") }
    }

    /// The folder of a model, or the name of one that comes with the program.
    static var model: SettingKind {
        text("a path that begins with /, or the name of a model that comes with the program, such as \"commands\"") {
            $0.hasPrefix("/") || !$0.isEmpty && !$0.contains("/")
        }
    }
}

extension SettingKind where Value: RawRepresentable & CaseIterable, Value.RawValue == String {
    /// Any case of an enumeration, by its raw value.
    static var choice: SettingKind { choice(among: Array(Value.allCases)) }

    /// One of these cases, by its raw value.
    static func choice(among values: [Value]) -> SettingKind {
        let names = values.map(\.rawValue)
        let expected = "one of " + names.map { "\"\($0)\"" }.joined(separator: ", ")
        return SettingKind(
            read: { node, key, findings in
                guard case .string(let name) = node.value else {
                    findings.expected(expected, at: key, not: node)
                    return nil
                }
                if let value = values.first(where: { $0.rawValue == name }) { return value }
                let hint = nearestName(to: name, of: names).map { "; did you mean '\($0)'?" } ?? ""
                findings.add("expected \(expected), not \(node.description)\(hint)", key: key, at: node.place)
                return nil
            },
            write: { .string($0.rawValue) }
        )
    }
}
