import Core
import JSON

/// A type of value in the configuration: how to read it and how to write it.
///
/// Reading, error messages, `config show` and the test that the sample file has every key all use this one description.
struct SettingKind<Value: Sendable>: Sendable {
    /// Reads a value; adds its mistakes to the findings, and returns nil if the value is unusable.
    var read: @Sendable (JSONNode, _ key: String, inout Findings) -> Value?
    let write: @Sendable (Value) -> JSON
    /// Keys below this one, each preceded by a dot; those of a list begin with `[]`, those of a table with `.*`.
    var keys: [String] = []
}

extension SettingKind {
    /// A value without keys of its own. `take` returns nil if the node is not what `expected` describes; then `suggests` may return
    /// what was meant, as a configuration has it.
    @inline(never) @_semantics("optimize.sil.specialize.generic.never")
    init(
        _ expected: String,
        suggests: @escaping @Sendable (JSONNode) -> String? = { _ in nil },
        write: @escaping @Sendable (Value) -> JSON,
        take: @escaping @Sendable (JSONNode) -> Value?
    ) {
        read = { node, key, findings in
            if let value = take(node) { return value }
            findings.expected(expected, at: key, not: node, meant: suggests(node))
            return nil
        }
        self.write = write
    }

    /// Text that `parse` makes a value of, or says what is wrong with it.
    @inline(never) @_semantics("optimize.sil.specialize.generic.never")
    static func parsed<Failure: Error & CustomStringConvertible>(
        _ expected: String,
        _ text: @escaping @Sendable (Value) -> String,
        _ parse: @escaping @Sendable (String) throws(Failure) -> Value
    ) -> SettingKind {
        SettingKind(
            read: { node, key, findings in
                guard let text = node.text else {
                    findings.expected(expected, at: key, not: node)
                    return nil
                }
                do throws(Failure) {
                    return try parse(text)
                } catch {
                    findings.add(error.description, key: key, at: node.place)
                    return nil
                }
            },
            write: { .string(text($0)) }
        )
    }

    /// The same kind; each value that is read is also appended to a list of the findings, with its key.
    @inline(never) @_semantics("optimize.sil.specialize.generic.never")
    func noting(in list: any WritableKeyPath<Findings, [(key: String, value: Value)]> & Sendable) -> SettingKind {
        let read = read
        var noting = self
        noting.read = { node, key, findings in
            let value = read(node, key, &findings)
            if let value { findings[keyPath: list].append((key, value)) }
            return value
        }
        return noting
    }

    /// The same kind, with null as nil.
    var optional: SettingKind<Value?> {
        let (read, write) = (read, write)
        return SettingKind<Value?>(
            read: { node, key, findings in node.value == .null ? .some(nil) : read(node, key, &findings) },
            write: { $0.map(write) ?? .null },
            keys: keys
        )
    }

    /// A list of any number of these values.
    var list: SettingKind<[Value]> {
        let (read, write) = (read, write)
        return SettingKind<[Value]>(
            read: { node, key, findings in
                guard case .array(let elements) = node.value else {
                    // One value in the place of a list of one.
                    var trial = findings
                    let fits = node.text != nil && read(node, key, &trial) != nil
                    let meant = fits ? node.text.map { "[\(JSON.string($0))]" } : nil
                    findings.expected("a list in [ ]", at: key, not: node, meant: meant)
                    return nil
                }
                return elements.enumerated().compactMap { index, element in
                    guard !findings.isFull else { return nil }
                    findings.note("\(key)[\(index)]", element.place)
                    return read(element, "\(key)[\(index)]", &findings)
                }
            },
            write: { .array($0.map(write)) },
            keys: keys.map { "[]" + $0 }
        )
    }

    /// An object whose keys are the user's choice, with these values.
    var table: SettingKind<[String: Value]> {
        let (read, write) = (read, write)
        return SettingKind<[String: Value]>(
            read: { node, key, findings in
                guard case .object(let members) = node.value else {
                    findings.expected("an object in { }", at: key, not: node)
                    return nil
                }
                var table: [String: Value] = [:]
                for member in findings.unique(members, of: key) where !findings.isFull {
                    table[member.name] = read(member.node, "\(key).\(member.name)", &findings)
                }
                return table
            },
            write: { table in
                .object(table.sorted { $0.key < $1.key }.map { JSON.Member($0.key, write($0.value)) })
            },
            keys: keys.map { ".*" + $0 }
        )
    }
}

extension Findings {
    /// The members of an object, each name once; a repeated name is reported with the line of the first.
    mutating func unique(_ members: [JSONNode.Member], of key: String) -> [JSONNode.Member] {
        var first: [String: TextPlace] = [:]
        return members.filter { member in
            guard !isFull else { return false }
            let path = key.isEmpty ? member.name : "\(key).\(member.name)"
            if let place = first[member.name] {
                add("given twice, on line \(place.line) already; leave one of them out", key: path, at: member.place)
                return false
            }
            first[member.name] = member.place
            note(path, member.place)
            return true
        }
    }
}
