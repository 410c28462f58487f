private import Core
private import System

/// A parsed command line: the options that the command declares, and the operands between them.
///
/// `--name value`, `--name=value`, `-n value` and `-nvalue` are accepted, flags may be joined (`-0q`), and everything
/// after `--` is an operand. A lone `-` is an operand too. Values are checked against the declaration.
struct Arguments {
    /// The command's name as given on the command line.
    let command: String
    /// The task, which is the first operand of a command that has tasks; nil if none was given.
    private(set) var task: String?
    private(set) var operands: [String] = []
    private let options: [Option]
    private var values: [String: [String]] = [:]
    /// The number of operands before the first occurrence of each option.
    private var operandsBefore: [String: Int] = [:]

    /// - Parameter words: the command line after the command's name.
    init(
        _ command: String,
        _ words: some Sequence<String>,
        _ declaration: CommandDeclaration
    ) throws(UsageError) {
        self.command = command
        options = declaration.options
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            if word == "--" {
                operands += rest
                break
            }
            if word.hasPrefix("--") {
                try takeLong(word, &rest)
            } else if word.hasPrefix("-"), word != "-" {
                try takeShort(word, &rest)
            } else {
                try checkDash(word)
                operands.append(word)
            }
        }
        let name = declaration.name(command)
        let tasks = name?.tasks.map(\.name) ?? []
        guard !tasks.isEmpty, !has("--help"), let task = operands.first else { return }
        guard tasks.contains(task) else {
            if name?.operands.isEmpty == false { return }
            throw UsageError("unknown task \(command) \(printable(task))", near: task, of: tasks)
        }
        self.task = task
        operands.removeFirst()
    }

    /// Whether an option was given.
    func has(_ name: String) -> Bool { !all(name).isEmpty }

    /// Whether the command declares an option as one that may be given several times.
    func repeats(_ name: String) -> Bool { options.contains { $0.name == name && $0.repeats } }

    /// The value given for an option that does not repeat.
    func value(_ name: String) -> String? { all(name).last }

    /// All values given for an option, in order; empty for an option that the command does not declare.
    func all(_ name: String) -> [String] { values[name] ?? [] }

    /// The operands before the first occurrence of an option; all of them without it.
    func operands(before name: String) -> ArraySlice<String> { operands.prefix(operandsBefore[name] ?? operands.count) }

    func whole(_ name: String) -> Int? { value(name).flatMap { Int(signedDigits: $0) } }

    /// The value of an option that takes a time, in seconds.
    func number(_ name: String) -> Double? { value(name).flatMap(SecondsText.seconds) }

    /// The value of an option that takes one of a few names.
    func choice<Value: RawRepresentable>(_ name: String) -> Value? where Value.RawValue == String {
        value(name).flatMap(Value.init)
    }

    /// The values of an option that takes a comma-separated list of names, without duplicates.
    func list<Value: RawRepresentable & Equatable>(_ name: String) -> [Value] where Value.RawValue == String {
        let all = (value(name) ?? "").split(separator: ",").compactMap { Value(rawValue: String($0)) }
        return all.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    private mutating func takeLong(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let name = parts.first ?? word
        guard let option = options.first(where: { $0.name == name }) else {
            if let meant = options.first(where: { $0.foreignNames.contains(name) }) {
                let value = parts.count == 2 ? parts[1] : rest.first ?? ""
                let meantValue = meant.value.map { $0.suggests(value) ?? ($0.accepts(value) ? value : $0.placeholder) }
                let text = meant.name + (meantValue.map { " " + $0 } ?? "")
                throw UsageError("unknown option \(printable(name)); did you mean \(printable(text))?")
            }
            let names = options.map(\.name)
            let hyphens = "--" + name.dropFirst(2).replacing("_", with: "-").lowercased()
            if !names.contains(hyphens), let advice = ForeignOptions.advice(on: hyphens, for: names) {
                throw UsageError("unknown option \(printable(name)); \(advice)")
            }
            throw UsageError("unknown option \(printable(name))", near: hyphens, of: names)
        }
        if option.value != nil {
            guard let value = parts.count == 2 ? parts[1] : rest.popFirst() else {
                throw UsageError("\(name) needs a value")
            }
            try put(value, option, next: rest.first)
        } else {
            guard parts.count == 1 else { throw UsageError("\(name) takes no value") }
            try put("", option)
        }
    }

    private mutating func takeShort(_ word: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        let long = "-" + word.prefix { $0 != "=" }
        if word.count > 2, options.contains(where: { $0.name == long }) {
            throw UsageError("unknown option \(printable(word)); did you mean \(long)?")
        }
        var letters = word.dropFirst()
        while let letter = letters.popFirst() {
            guard let option = options.first(where: { $0.short == "-\(letter)" }) else {
                throw UsageError("unknown option -\(printable(String(letter)))")
            }
            guard option.value != nil else {
                try put("", option)
                continue
            }
            guard let value = letters.isEmpty ? rest.popFirst() : String(letters) else {
                throw UsageError("-\(letter) needs a value")
            }
            try put(value, option, next: rest.first)
            return
        }
    }

    /// Refuses a word that a text program has spoiled: an option of the command after an en dash, em dash or minus sign.
    private func checkDash(_ word: String) throws(UsageError) {
        let name = String(word.drop { "\u{2012}\u{2013}\u{2014}\u{2015}\u{2212}".contains($0) })
        guard name.count < word.count,
            let option = options.first(where: {
                name.hasPrefix($0.name.dropFirst(2)) || $0.short?.dropFirst() == name[...]
            })
        else { return }
        throw UsageError("\(printable(word)) begins with a dash, not with hyphens; did you mean \(option.name)?")
    }

    /// - Parameter next: the word after it on the command line, which belongs to it where quotes were forgotten.
    private mutating func put(_ text: String, _ option: Option, next: String? = nil) throws(UsageError) {
        // Only names of files to read may be any bytes; they are operands.
        guard !FileName.isRaw(text) else {
            throw UsageError("\(option.name) takes text in UTF-8, not '\(printable(text))'")
        }
        if let value = option.value, !value.accepts(text) {
            var hint = value.suggests(text).map { "; did you mean \($0)?" } ?? ""
            if let next, case let whole = "\(text) \(next)", value.accepts(whole), !fileExists(next) {
                hint = "; several words need quotes: \(option.name) \(ShellWord.quoted(printable(whole)))"
            }
            throw UsageError("\(option.name) takes \(value.expected), not '\(printable(text))'\(hint)")
        }
        if !option.repeats, let first = values[option.name]?.first, first != text {
            throw UsageError(
                "\(option.name) was given twice, as '\(printable(first))' and '\(printable(text))'; leave one out"
            )
        }
        if values[option.name] == nil { operandsBefore[option.name] = operands.count }
        values[option.name, default: []].append(text)
    }
}

/// An invalid command line; the exit status is 2.
struct UsageError: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) { self.description = description }

    /// Adds "did you mean" if a known name differs in at most two letters.
    init(_ description: String, near name: String, of names: [String]) {
        self.description = description + (nearestName(to: name, of: names).map { "; did you mean \($0)?" } ?? "")
    }
}
