import Core
import JSON

// Generic code stays generic here, in one copy: it runs once for each key of a file, and copies for each type of value were a third of this
// module, and of the time that it takes to compile. `@_semantics` says so to the compiler.

/// One key of an object in the configuration, and the property that gets its value.
struct Setting<Root: Sendable>: Sendable {
    let name: String
    /// The key's name in earlier versions: still accepted, with a warning.
    let formerName: String?
    let read: @Sendable (JSONNode, _ key: String, inout Root, inout Findings) -> Void
    let write: @Sendable (Root) -> JSON
    /// Keys below this one, for nested objects.
    let keys: [String]

    @inline(never) @_semantics("optimize.sil.specialize.generic.never")
    init<Value>(
        _ name: String,
        _ path: any WritableKeyPath<Root, Value> & Sendable,
        _ kind: SettingKind<Value>,
        formerly formerName: String? = nil
    ) {
        self.name = name
        self.formerName = formerName
        read = { node, key, root, findings in
            if let value = kind.read(node, key, &findings) { root[keyPath: path] = value }
        }
        write = { kind.write($0[keyPath: path]) }
        keys = kind.keys
    }
}

extension Setting {
    /// A nested object with fixed keys; keys that are missing leave their values unchanged.
    @inline(never) @_semantics("optimize.sil.specialize.generic.never")
    init<Part>(
        _ name: String,
        at path: any WritableKeyPath<Root, Part> & Sendable,
        _ section: Section<Part>
    ) {
        self.name = name
        formerName = nil
        read = { node, key, root, findings in section.read(node, key, &root[keyPath: path], &findings) }
        write = { section.write($0[keyPath: path]) }
        keys = section.keys
    }
}

/// The keys of one object.
struct Section<Root: Sendable>: Sendable {
    let settings: [Setting<Root>]
    /// What to write instead of keys that other programs have, by the key in lower case without `_` and `-`.
    private let foreign: [String: String]
    /// What a value that is no object may have meant.
    private let suggests: @Sendable (JSONNode) -> String?

    init(
        _ settings: [Setting<Root>],
        foreign: [String: String] = [:],
        suggests: @escaping @Sendable (JSONNode) -> String? = { _ in nil }
    ) {
        self.settings = settings
        self.foreign = foreign
        self.suggests = suggests
    }

    /// What to do about an unknown key.
    @inline(never) @_semantics("optimize.sil.specialize.generic.never")
    private func hint(_ name: String) -> String {
        if let advice = foreign[name.lowercased().filter { $0 != "_" && $0 != "-" }] { return advice }
        let names = settings.map(\.name)
        return nearestName(to: name, of: names).map { "did you mean '\($0)'?" } ?? "known here: "
            + names.joined(separator: ", ")
    }

    /// All keys with those below them, each preceded by a dot.
    var keys: [String] {
        settings.flatMap { setting in [".\(setting.name)"] + setting.keys.map { ".\(setting.name)\($0)" } }
    }

    /// Reads the given keys; missing keys leave their values unchanged. Returns false if the node is not an object.
    @discardableResult
    @inline(never) @_semantics("optimize.sil.specialize.generic.never")
    func read(_ node: JSONNode, _ key: String, _ root: inout Root, _ findings: inout Findings) -> Bool {
        guard case .object(let members) = node.value else {
            findings.expected("an object in { }", at: key, not: node, meant: suggests(node))
            return false
        }
        for member in findings.unique(members, of: key) {
            guard !findings.isFull else { break }
            let path = key.isEmpty ? member.name : "\(key).\(member.name)"
            if let setting = settings.first(where: { $0.name == member.name }) {
                setting.read(member.node, path, &root, &findings)
            } else if let setting = settings.first(where: { $0.formerName == member.name }) {
                let isGivenTwice = members.contains { $0.name == setting.name }
                findings.add(
                    isGivenTwice
                        ? "given as '\(setting.name)' too, its new name; leave this one out"
                        : "is now called '\(setting.name)'; rename it",
                    key: path,
                    at: member.place,
                    isWarning: !isGivenTwice
                )
                setting.read(member.node, path, &root, &findings)
            } else {
                findings.add("unknown key; \(hint(member.name))", key: path, at: member.place)
            }
        }
        return true
    }

    @inline(never) @_semantics("optimize.sil.specialize.generic.never")
    func write(_ root: Root) -> JSON { .object(settings.map { JSON.Member($0.name, $0.write(root)) }) }
}

extension SettingKind {
    /// An object with fixed keys; missing keys keep the values of `defaults`.
    @inline(never) @_semantics("optimize.sil.specialize.generic.never")
    static func object(_ defaults: Value, _ section: Section<Value>) -> SettingKind {
        SettingKind(
            read: { node, key, findings in
                var value = defaults
                return section.read(node, key, &value, &findings) ? value : nil
            },
            write: section.write,
            keys: section.keys
        )
    }
}
