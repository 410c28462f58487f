import Core
import JSON
private import Network

// MARK: - Values without keys of their own

extension SettingKind where Value == Bool {
    static let flag = SettingKind(
        "true or false",
        suggests: { node in
            switch node.text?.lowercased() ?? node.integer.map(String.init) {
            case "true", "yes", "on", "1": "true"
            case "false", "no", "off", "0": "false"
            default: nil
            }
        },
        write: { .bool($0) },
        take: { $0.flag }
    )
}

extension SettingKind where Value == Double {
    /// - Parameter expected: the description in messages, such as "seconds from 0 to 3600".
    static func number(_ range: ClosedRange<Double>, _ expected: String) -> SettingKind {
        SettingKind(
            expected,
            suggests: { $0.quotedNumber(in: range) },
            write: { .encoded(shortest($0)) },
            take: { node in node.number.flatMap { range.contains($0) ? $0 : nil } }
        )
    }
}

extension SettingKind where Value == Double {
    /// Seconds, of which more than `usual` are questioned: many programs take milliseconds.
    static func seconds(_ range: ClosedRange<Double>, usual: Double) -> SettingKind {
        var kind = number(range, "seconds from \(shortest(range.lowerBound)) to \(shortest(range.upperBound))")
        let read = kind.read
        kind.read = { node, key, findings in
            let value = read(node, key, &findings)
            if let value, value > usual {
                let length = value < 7200 ? "\(decimal(value / 60, 1)) minutes" : "\(decimal(value / 3600, 1)) hours"
                findings.add(
                    "is in seconds, so that this is \(length); if milliseconds are meant, write \(shortest(value / 1000))",
                    key: key,
                    at: node.place,
                    isWarning: true
                )
            }
            return value
        }
        return kind
    }
}

extension SettingKind where Value == Float {
    static func number(_ range: ClosedRange<Double>, _ expected: String) -> SettingKind {
        SettingKind(
            expected,
            suggests: { $0.quotedNumber(in: range) },
            write: { .shortest($0) },
            take: { node in node.number.flatMap { range.contains($0) ? Float($0) : nil } }
        )
    }

    /// 0 and 1 are excluded, as on the command line: at 0 a word would always fire, at 1 never.
    static let threshold = SettingKind(
        "a confidence between 0 and 1, such as 0.8",
        suggests: \.confidenceMeant,
        write: { .shortest($0) },
        take: { node in
            // Checked as the float that is kept: 1e-60 becomes 0, and 0.999999999999 becomes 1.
            node.number.map { Float($0) }.flatMap { $0 > 0 && $0 < 1 ? $0 : nil }
        }
    )
}

extension SettingKind where Value == Int {
    static func whole(_ range: ClosedRange<Int>) -> SettingKind {
        let expected = "a whole number from \(range.lowerBound) to \(range.upperBound)"
        return SettingKind(
            expected,
            suggests: { $0.quotedNumber(in: Double(range.lowerBound)...Double(range.upperBound)) },
            write: { .number($0) },
            take: { node in node.integer.flatMap { range.contains($0) ? $0 : nil } }
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
            take: { node in node.text.flatMap { isValid($0) && !$0.contains("\0") ? $0 : nil } }
        )
    }

    static func absolutePath(_ example: String) -> SettingKind {
        text("a path that begins with /, such as \"\(example)\"") { $0.hasPrefix("/") }
    }

    /// The address or the name of another machine, without a port.
    static func host(like example: String) -> SettingKind {
        SettingKind(
            "an address such as \"\(example)\", or the name of a machine, without a port",
            suggests: { node in
                guard let text = node.text, let host = ListenAddress.host(meantBy: text) else { return nil }
                return "\"\(host)\""
            },
            write: { .string($0) },
            take: { node in node.text.flatMap { IPAddress($0) != nil || HostName.isValid($0) ? $0 : nil } }
        )
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
    @inline(never) @_semantics("optimize.sil.specialize.generic.never")
    static func choice(among values: [Value]) -> SettingKind {
        let names = values.map(\.rawValue)
        let expected = "one of " + names.map { "\"\($0)\"" }.joined(separator: ", ")
        return SettingKind(
            read: { node, key, findings in
                // Other detectors have sensitivities in numbers.
                if Value.self == Sensitivity.self,
                    let number = node.number.flatMap({ $0 > 0 && $0 < 1 ? shortest($0) : nil }) ?? node.confidenceMeant
                {
                    findings.expected(
                        expected,
                        at: key,
                        not: node,
                        meant: "threshold: \(number), where higher is stricter"
                    )
                    return nil
                }
                guard let name = node.text else {
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

// MARK: - What was meant

extension JSONNode {
    /// The number of a text that a number should be: quotes are not for numbers.
    fileprivate func quotedNumber(in range: ClosedRange<Double>) -> String? {
        text.flatMap { text in Double(decimal: text).flatMap { range.contains($0) ? text : nil } }
    }

    /// The confidence that a percentage, a decimal comma or a quoted number stands for.
    var confidenceMeant: String? {
        text.flatMap { ConfidenceText.meant(by: $0) } ?? number.flatMap { ConfidenceText.meant(by: $0) }
    }
}
