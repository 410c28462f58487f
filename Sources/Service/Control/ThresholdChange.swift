import Configuration
import Core
import Spotting

extension ThresholdChange {
    private static let example = "such as yes=0.7 or yes=strict"
    private static let names = Sensitivity.allCases.map(\.rawValue)

    /// Parses `[sensitivity NAME] [WORD=THRESHOLD|WORD=NAME]…`, split at blanks. A word may contain blanks, because the name
    /// of a taught word may. `sensitivity=NAME` is the same as `sensitivity NAME`.
    ///
    /// - Throws: ``ControlError/command``.
    init(parts: ArraySlice<String>) throws(ControlError) {
        self.init()
        var rest = parts
        let second = rest.dropFirst().first
        if rest.first == "sensitivity", second?.contains("=") != true {
            guard let second else {
                throw .command.saying("sensitivity needs a name: one of \(Self.names.joined(separator: ", "))")
            }
            all = try Self.sensitivity(second)
            rest = rest.dropFirst(2)
        }
        // The parts up to each `=` belong to one word.
        var open: [String] = []
        for part in rest {
            open.append(part)
            guard part.contains("=") else { continue }
            try add(open.joined(separator: " "))
            open = []
        }
        if !open.isEmpty { try add(open.joined(separator: " ")) }
        guard self != ThresholdChange() else {
            throw .command.saying("set needs a word and its threshold, \(Self.example), or sensitivity and its name")
        }
    }

    /// Adds `WORD=THRESHOLD` or `WORD=NAME`.
    private mutating func add(_ text: String) throws(ControlError) {
        let parts = text.split(separator: "=", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 else {
            throw .command.saying(
                "'\(text.prefix(40))' is not a word and its threshold\(Self.meant(by: text) ?? ", " + Self.example)"
            )
        }
        if parts[0] == "sensitivity", Double(decimal: parts[1]) == nil {
            all = try Self.sensitivity(parts[1])
        } else if let number = Double(decimal: parts[1]) {
            try add(parts[0], number: number)
        } else {
            try add(parts[0], name: parts[1])
        }
    }

    /// What was meant if a blank stands for the equals sign: `yes 0.7`.
    private static func meant(by text: String) -> String? {
        guard !text.contains("="), let blank = text.lastIndex(of: " ") else { return nil }
        let (word, choice) = (text[..<blank], text[text.index(after: blank)...])
        guard Double(decimal: choice) != nil || names.contains(String(choice)) else { return nil }
        return "; did you mean \(ShellWord.quoted("\(word)=\(choice)"))?"
    }

    /// Adds a threshold.
    mutating func add(_ word: String, number: Double) throws(ControlError) {
        try check(word)
        // As a float, which is what is kept: 1e-60 becomes 0, and 0.999999999999 becomes 1.
        let value = Float(number)
        guard value > 0, value < 1 else {
            let hint =
                ConfidenceText.meant(by: number).map { "did you mean \(ShellWord.quoted("\(word.prefix(40))=\($0)"))?" }
                ?? "such as 0.7"
            throw .command.saying("the threshold of '\(word.prefix(40))' lies between 0 and 1; \(hint)")
        }
        words[word] = .confidence(value)
    }

    /// Adds a sensitivity.
    mutating func add(_ word: String, name: String) throws(ControlError) {
        try check(word)
        guard let sensitivity = Sensitivity(rawValue: name) else {
            let meant = ConfidenceText.meant(by: name).map { ShellWord.quoted("\(word.prefix(40))=\($0)") }
            let hint =
                (meant ?? nearestName(to: name, of: Self.names).map { "'\($0)'" }).map { "; did you mean \($0)?" } ?? ""
            throw .command.saying(
                "the threshold of '\(word.prefix(40))' is '\(name.prefix(40))', neither a number nor one of "
                    + Self.names.joined(separator: ", ") + hint
            )
        }
        words[word] = .sensitivity(sensitivity)
    }

    private func check(_ word: String) throws(ControlError) {
        guard !word.isEmpty else { throw .command.saying("a threshold needs a word before it, \(Self.example)") }
    }

    /// - Throws: ``ControlError/command`` for an unknown name.
    static func sensitivity(_ name: String) throws(ControlError) -> Sensitivity {
        if let sensitivity = Sensitivity(rawValue: name) { return sensitivity }
        let number = ConfidenceText.meant(by: name).map { "a number is a threshold, of one word: WORD=\($0)" }
        let hint = number ?? nearestName(to: name, of: names).map { "did you mean '\($0)'?" }
        throw .command.saying(
            "unknown sensitivity '\(name.prefix(40))'; \(hint ?? "there are " + names.joined(separator: ", "))"
        )
    }
}
