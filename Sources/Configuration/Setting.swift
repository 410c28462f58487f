import Core

/// One key of an object of the configuration, and where its value goes.
struct Setting<Root: Sendable>: Sendable {
    let name: String
    /// What it was called in earlier versions: still read, with a warning.
    let formerName: String?
    let read: @Sendable (JSON5Node, _ key: String, inout Root, inout Findings) -> Void
    let write: @Sendable (Root) -> JSON
    /// Keys below this one.
    let keys: [String]

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
    /// An object of fixed keys within the root; those that are left out stay as they are.
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

    init(_ settings: [Setting<Root>]) { self.settings = settings }

    /// Every key, each after a dot, and those below it.
    var keys: [String] {
        settings.flatMap { setting in [".\(setting.name)"] + setting.keys.map { ".\(setting.name)\($0)" } }
    }

    /// Reads the keys that are given; the others stay as they are. Returns whether it is an object at all.
    @discardableResult
    func read(_ node: JSON5Node, _ key: String, _ root: inout Root, _ findings: inout Findings) -> Bool {
        guard case .object(let members) = node.value else {
            findings.expected("an object in { }", at: key, not: node)
            return false
        }
        let names = settings.map(\.name)
        for member in findings.unique(members, of: key) {
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
                    line: member.line,
                    isWarning: !isGivenTwice
                )
                setting.read(member.node, path, &root, &findings)
            } else {
                let hint = nearestName(to: member.name, of: names).map { "did you mean '\($0)'?" }
                let known = "known here: " + names.joined(separator: ", ")
                findings.add("unknown key; \(hint ?? known)", key: path, line: member.line)
            }
        }
        return true
    }

    func write(_ root: Root) -> JSON { .object(settings.map { JSON.Member($0.name, $0.write(root)) }) }
}

extension SettingKind {
    /// An object of fixed keys; those that are left out keep the values of `defaults`.
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
