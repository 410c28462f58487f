import Configuration
import Core
private import Spotting
private import System

/// What an option `--run WORD=PROGRAM` asks for: a program that a word, a phrase or every word runs, as an action of the configuration does.
struct WordProgram: Equatable {
    /// The word or the phrase as it was written; nil for all.
    let word: String?
    /// The absolute path of the program, then its arguments.
    let command: [String]

    /// Stands for all words.
    private static let all = "*"

    /// - Parameters:
    ///   - text: the value of the option.
    ///   - folder: the absolute path of the folder that a relative path begins in.
    ///   - path: the folders of programs, as in the variable `PATH`.
    /// - Throws: a ``Misconfiguration`` if there is no such program, or it may not be executed.
    init(_ text: String, folder: String, path: String) throws(Misconfiguration) {
        let parts = text.split(separator: "=", maxSplits: 1).map { WordName.trimmed(String($0)) }
        let (word, line) = (parts.first ?? "", parts.count == 2 ? parts[1] : "")
        self.word = word == Self.all ? nil : word
        func place(_ program: String) -> String? {
            guard program.contains("/") else { return ProgramFile.find(program, in: path) }
            return program.hasPrefix("/")
                ? program : "\(folder)/\(program.hasPrefix("./") ? String(program.dropFirst(2)) : program)"
        }
        func refusal(_ reason: String) -> Misconfiguration {
            Misconfiguration(description: "--run \(printable(word)): \(reason)")
        }
        // A path may have blanks.
        if let whole = place(line), ProgramFile.problem(whole) == nil {
            command = [whole]
            return
        }
        let words = line.split(separator: " ").map(String.init)
        let name = words.first ?? ""
        guard let program = place(name) else {
            throw refusal("no such program: \(printable(name)); give its path, such as \(Self.example(for: word))")
        }
        if let problem = ProgramFile.problem(program) { throw refusal(problem) }
        guard !words.dropFirst().joined().contains(where: Self.shellMarks.contains) else {
            throw refusal(
                "no shell is involved, so quotes and \(Self.shellMarks.filter { $0 != "'" && $0 != "\"" }) have no meaning; "
                    + "write a small program, and name that"
            )
        }
        command = [program] + words.dropFirst()
    }

    /// What a shell would do something with.
    private static let shellMarks = "'\"`$|&;<>\\"

    /// Programs of all options of the command line.
    static func all(_ arguments: Arguments) throws(Misconfiguration) -> [WordProgram] {
        let path = OwnEnvironment.variables["PATH"] ?? ""
        return try arguments.all("--run").map { text throws(Misconfiguration) in
            try WordProgram(text, folder: Self.folder, path: path)
        }
    }

    /// Where the program began.
    private static let folder = OwnEnvironment.folder

    fileprivate var action: Action { Action(.run(command, directory: Self.folder.hasPrefix("/") ? Self.folder : "/")) }

    /// An option as messages show it.
    static func example(for word: String) -> String { ShellWord.quoted("\(printable(word))=/path/program") }
}

extension [WordProgram] {
    /// Checks that the words and phrases that are named exist and may fire.
    func check(_ settings: ServiceSettings) throws(Misconfiguration) {
        let known = Labels(settings.vocabulary.labels).words
        let phrases = settings.configuration.phrases.map(\.name)
        for name in compactMap(\.word) where WordName.match(name, in: phrases) == nil {
            guard let word = WordName.match(name, in: known) else {
                throw Misconfiguration(
                    description: "--run \(printable(name)): \(SpottingError.unknownWord(printable(name), known: known))"
                )
            }
            guard settings.choices.disables(word) else { continue }
            throw Misconfiguration(
                description:
                    "--run \(printable(name)): the word may not fire; add it to --words, or enable it in the configuration"
            )
        }
    }

    /// Replaces the actions of the words and phrases that are named; those for all words replace what the configuration has.
    func override(_ configuration: inout Configuration) {
        let general = filter { $0.word == nil }.map(\.action)
        if !general.isEmpty {
            configuration.actions = general
            for word in configuration.words.keys { configuration.words[word]?.actions = nil }
            for phrase in configuration.phrases.indices { configuration.phrases[phrase].actions = nil }
        }
        var own: [String: [Action]] = [:]
        for program in self {
            if let word = program.word { own[WordName.folded(word), default: []].append(program.action) }
        }
        for (name, actions) in own {
            let phrases = configuration.phrases.indices.filter {
                WordName.folded(configuration.phrases[$0].name) == name
            }
            for phrase in phrases { configuration.phrases[phrase].actions = actions }
            let sessions = configuration.sessions.indices.filter {
                WordName.folded(configuration.sessions[$0].wake) == name
            }
            for session in sessions { configuration.sessions[session].onStart = actions }
            guard phrases.isEmpty, sessions.isEmpty else { continue }
            let word = WordName.match(name, in: configuration.words.keys) ?? name
            configuration.words[word, default: Configuration.Word()].actions = actions
        }
    }
}
