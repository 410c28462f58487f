private import Core

/// The words of a command line taken apart: options that a command declared, and the operands between them.
///
/// `--name value`, `--name=value`, `-n value` and `-nvalue` are all understood, flags may be joined (`-0q`), and
/// everything after `--` is an operand. A lone `-` is an operand too.
struct Arguments {
    /// An option a command takes.
    struct Option {
        /// With its dashes, such as `--jobs`.
        let name: String
        /// One letter with its dash, such as `-j`.
        let short: String?
        let takesValue: Bool

        init(_ name: String, short: String? = nil, takesValue: Bool = false) {
            self.name = name
            self.short = short
            self.takesValue = takesValue
        }
    }

    private(set) var operands: [String] = []
    private var values: [String: [String]] = [:]

    init(_ words: some Sequence<String>, options: [Option]) throws(UsageError) {
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                break
            }
            if word.hasPrefix("--") {
                try takeLong(word, &rest, options)
            } else if word.hasPrefix("-"), word != "-" {
                try takeShort(word, &rest, options)
            } else {
                operands.append(word)
            }
        }
    }

    /// Whether a flag was given.
    func has(_ name: String) -> Bool { values[name] != nil }

    /// The last value given for an option.
    func value(_ name: String) -> String? { values[name]?.last }

    /// Every value given for an option, in order.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// The value of an option that takes one of a few names.
    func choice<Value: RawRepresentable & CaseIterable>(
        _ text: String,
        _ option: String
    ) throws(UsageError) -> Value where Value.RawValue == String {
        if let value = Value(rawValue: text) { return value }
        let names = Value.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError("\(option) takes one of \(names), not '\(text)'")
    }

    private mutating func takeLong(
        _ word: String,
        _ rest: inout ArraySlice<String>,
        _ options: [Option]
    ) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard let name = parts.first, let option = options.first(where: { $0.name == name }) else {
            throw UsageError(
                "unknown option \(parts.first ?? word)",
                near: parts.first ?? word,
                of: options.map(\.name)
            )
        }
        if option.takesValue {
            guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                throw UsageError("\(name) needs a value")
            }
            values[name, default: []].append(value)
        } else {
            guard parts.count == 1 else { throw UsageError("\(name) takes no value") }
            values[name, default: []].append("")
        }
    }

    private mutating func takeShort(
        _ word: String,
        _ rest: inout ArraySlice<String>,
        _ options: [Option]
    ) throws(UsageError) {
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = options.first(where: { $0.short == "-\(letter)" }) else {
                throw UsageError("unknown option -\(letter)")
            }
            guard option.takesValue else {
                values[option.name, default: []].append("")
                continue
            }
            guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
                throw UsageError("-\(letter) needs a value")
            }
            values[option.name, default: []].append(value)
            return
        }
    }
}

/// A command line that cannot be understood: exit status 2.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// Adds "did you mean" where a known name differs in at most two letters.
    init(_ description: String, near name: String, of names: [String]) {
        self.description = description + (nearestName(to: name, of: names).map { "; did you mean \($0)?" } ?? "")
    }
}
