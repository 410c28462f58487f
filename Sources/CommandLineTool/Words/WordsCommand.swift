private import Core
import Enrollment
private import Glibc
import Inference
private import JSON
private import System

/// `beckon words` and `beckon forget`: lists, shows, exports, imports, renames and removes taught words.
struct WordsCommand {
    private enum Task {
        case list
        case show(String)
        case forgetNegative(Int, of: String)
        case forget([String])
        case export(String, [String])
        case `import`(String, replaces: Bool)
        case rename(String, to: String)
    }

    /// What a file is called that is standard input or standard output.
    private static let standardStream = "-"

    private let task: Task
    private let words: String?
    private let json: Bool
    private let listening: ListeningOptions

    init(_ arguments: Arguments) throws(UsageError) {
        words = arguments.value("--words")
        json = arguments.has("--json")
        listening = try ListeningOptions(arguments)
        let operands = arguments.operands
        guard !arguments.has("--replace") || arguments.task == "import" else {
            throw UsageError("--replace goes with words import")
        }
        guard !arguments.has("--forget-negative") || arguments.command == "words" && arguments.task == nil else {
            throw UsageError("--forget-negative goes with one word: beckon words computer --forget-negative 1")
        }
        if arguments.command == "forget" {
            guard !operands.isEmpty else {
                throw UsageError("forget needs the name of a word; beckon words lists them")
            }
            task = .forget(operands)
            return
        }
        switch arguments.task {
        case "export":
            guard let file = operands.first else { throw UsageError("words export needs the file to write") }
            task = .export(file, Array(operands.dropFirst()))
        case "import":
            guard operands.count == 1 else { throw UsageError("words import takes one file") }
            task = .import(operands[0], replaces: arguments.has("--replace"))
        case "rename":
            guard operands.count == 2 else {
                throw UsageError(
                    "words rename takes a word and its new name; a name of several words needs quotes: beckon words rename \"hey house\" home"
                )
            }
            task = .rename(operands[0], to: operands[1])
        default: task = try Self.shown(operands, negative: arguments.value("--forget-negative"))
        }
    }

    private static var tasks: [String] { declaration.name("words")?.tasks.map(\.name) ?? [] }

    /// What `words` does without a task: the list, or one word.
    private static func shown(_ operands: [String], negative: String?) throws(UsageError) -> Task {
        guard let name = operands.first else {
            guard negative == nil else {
                throw UsageError("--forget-negative needs its word: beckon words computer --forget-negative 1")
            }
            return .list
        }
        guard operands.count == 1 else {
            guard nearestName(to: name, of: tasks) == nil else {
                throw UsageError("unknown task words \(printable(name))", near: name, of: tasks)
            }
            let name = operands.joined(separator: " ")
            throw UsageError(
                "words shows one word; a name of several words needs quotes: beckon words \(ShellWord.quoted(printable(name)))"
            )
        }
        guard let negative else { return .show(name) }
        guard let number = Int(digits: negative), number > 0 else {
            throw UsageError(
                "--forget-negative '\(printable(negative))': a number from 1 on is needed; beckon words "
                    + "\(ShellWord.quoted(printable(name))) lists them"
            )
        }
        return .forgetNegative(number, of: name)
    }

    /// Runs the command. Returns the exit status.
    func run() throws -> Int32 {
        let taught = TaughtWords(words)
        switch task {
        case .list, .show, .export: break
        case .forgetNegative, .forget, .import, .rename: SystemWords.announce(words)
        }
        switch task {
        case .list: list(try taught.read())
        case .show(let name): try show(name, taught)
        case .forgetNegative(let number, let name): try forgetNegative(number, of: name, taught)
        case .forget(let names):
            try ForgetWords(names: names, taught: taught, listening: listening, json: json).run()
        case .export(let path, let names): try export(path, names, taught)
        case .import(let path, let replaces): try importWords(path, replaces: replaces, taught)
        case .rename(let name, let new):
            try RenamedWord(name: name, new: new, taught: taught, listening: listening, json: json).run()
        }
        return 0
    }

    private func list(_ store: WordStore?) {
        let words = store?.words ?? []
        if json {
            for word in words {
                let seconds = word.takes.reduce(0) { $0 + $1.audio.count }
                let object: JSON = [
                    "word": .string(word.name), "takes": .number(word.takes.count), "sounds": word.soundsAsJSON,
                    "negatives": .number(word.negatives.count),
                    "threshold": .number(word.threshold, places: 3), "boundary": .number(word.boundary, places: 4),
                    "thresholds": word.thresholdsByMode,
                    "recordedSeconds": .number(Double(seconds) / Double(Utterance.sampleRate), places: 2),
                ]
                Output.write(object.line)
            }
            return
        }
        guard !words.isEmpty else {
            Output.writeText("No words were taught yet; beckon enroll WORD teaches one.\n")
            return
        }
        let modes = DetectionMode.allCases.map { "IN \($0.rawValue.uppercased())" }
        var table = TextTable(["WORD", "TAKES", "NEGATIVES"] + modes + ["RECORDINGS"], names: [0])
        for word in words {
            let recorded = word.takes.count { !$0.audio.isEmpty }
            table.add(
                [printable(word.name), word.takesText, "\(word.negatives.count)"]
                    + DetectionMode.allCases.map { decimal(Double(word.threshold(in: $0)), 2) }
                    + [recorded == 0 ? "–" : "\(recorded)"]
            )
        }
        Output.write(Terminal.outputRoom.map { table.text(columns: $0) } ?? table.text)
        Output.writeText(
            "The threshold of a word in each mode, with the sensitivity balanced; said alone, it needs that of mode command in "
                + "mode spot too.\n"
        )
    }

    private func show(_ name: String, _ taught: TaughtWords) throws {
        let store = try taught.read() ?? WordStore()
        if store[name] == nil, let task = nearestName(to: name, of: Self.tasks) {
            throw Failure("no word '\(printable(name))' was taught; did you mean beckon words \(task)?")
        }
        ShownWord(word: try store.word(name), json: json).run()
    }

    private func forgetNegative(_ number: Int, of name: String, _ taught: TaughtWords) throws {
        let file = try taught.file()
        var left = 0
        try file.update(.announced(file.path)) { store throws(EnrollmentError) in
            var word = try (store ?? WordStore()).word(name)
            try word.removeNegative(number)
            left = word.negatives.count
            try store?.put(word)
        }
        if !json {
            let name = printable(name)
            Output.write("Forgotten: negative example \(number) of \(name); left: \(left)\n")
        }
    }

    private func export(_ path: String, _ names: [String], _ taught: TaughtWords) throws {
        guard var store = try taught.read(), !store.words.isEmpty else {
            throw Failure("no words were taught yet; beckon enroll WORD teaches one")
        }
        if !names.isEmpty {
            let all = store
            try UnquotedName.check(names, all)
            store.words = []
            for name in names { try store.put(try all.word(name)) }
        }
        if names.isEmpty, store[path] != nil {
            throw Failure(
                "'\(printable(path))' is a word, and export needs the file first; did you mean beckon words export FILE "
                    + "\(ShellWord.quoted(printable(path)))?"
            )
        }
        guard path != Self.standardStream else {
            guard !Terminal.outputIsTerminal else {
                throw Failure("words cannot be printed; send them to a file or a pipe: beckon words export - > FILE")
            }
            return Output.write(bytes: try store.encoded())
        }
        try WordStoreFile(path: path).create(store)
        if !json { Output.write("\(printable(path)): words: \(store.words.count)\n") }
    }

    /// The words that `beckon words export` wrote to a file, or to standard input.
    private func exported(_ path: String) throws -> WordStore {
        guard path == Self.standardStream else {
            if let store = try WordStoreFile(path: path).read() { return store }
            throw Failure("\(printable(path)): no such file; name one that beckon words export wrote")
        }
        guard isatty(STDIN_FILENO) == 0 else {
            throw Failure("standard input is a terminal; pipe in what beckon words export - writes, or name a file")
        }
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try readAll(STDIN_FILENO, most: WordStore.Limit.bytes)
        } catch {
            throw Failure("standard input: \(error); name a file that beckon words export wrote")
        }
        return try WordStore(bytes: bytes, file: "standard input")
    }

    private func importWords(_ path: String, replaces: Bool, _ taught: TaughtWords) throws {
        var new = try exported(path)
        let (model, negatives) = try listening.loadModelWithNegatives()
        new.renew(for: model, negatives, .partial)
        if let lost = new.unusable(by: model).first {
            throw Failure("\(printable(path)): \(TaughtWords.lostLine(lost)); nothing was imported")
        }
        let file = try taught.file()
        try file.update(.announced(file.path)) { store throws(EnrollmentError) in
            var merged = store ?? WordStore()
            merged.renew(for: model, negatives, .complete)
            let clashes = new.words.map(\.name).filter { merged[$0] != nil }
            guard clashes.isEmpty || replaces else { throw .taken(clashes) }
            for word in new.words { try merged.put(word) }
            store = merged
        }
        if !json { Output.write("Imported: \(new.words.map { printable($0.name) }.joined(separator: ", "))\n") }
    }
}
