private import Capture
private import Configuration
private import Core
private import Enrollment
private import Glibc
private import Spotting
private import System

/// `beckon config init [FILE]`: writes a configuration with comments, after three questions. An existing file is not replaced.
struct ConfigInit {
    private let path: String
    private let asks: Bool
    /// The user named no file and did not say --system, and the file is one for all users of the machine.
    private let mustConfirm: Bool
    /// What uses what was written.
    private let start: ServiceStart
    /// Whether the system's service reads it.
    private let isForService: Bool

    /// Standard output in place of a file.
    private static let standardOutput = "-"

    /// - Parameters:
    ///   - file: nil for the one that the service of this user reads.
    ///   - isForSystem: whether it is to be the one of the system's service.
    ///   - yes: whether to take the default of every answer.
    init(file: String?, isForSystem: Bool, yes: Bool) throws(UsageError) {
        let environment = OwnEnvironment.variables
        let (isRoot, system) = (geteuid() == 0, ConfigurationFile.systemPath(environment: environment))
        guard file == nil || !isForSystem else {
            throw UsageError("--system writes \(system); it does not go with a file")
        }
        guard isRoot || !isForSystem else {
            throw UsageError("--system writes \(system), which only root may; put sudo before the command")
        }
        let usual = isRoot ? system : ConfigurationFile.userPath(environment: environment)
        guard let path = file ?? usual else {
            throw UsageError("there is no home folder to write a configuration to; name a file")
        }
        let mustConfirm = isRoot && file == nil && !isForSystem
        let needed = mustConfirm ? ", with --system for the whole system's \(system), or with a file" : ""
        guard yes || isatty(STDIN_FILENO) == 1 && Terminal.errorIsTerminal else {
            throw UsageError("config init asks three questions on a terminal; --yes takes the default of each\(needed)")
        }
        guard !yes || !mustConfirm else {
            throw UsageError(
                "config init --yes would write the whole system's \(system); give --system if that is meant, or a file"
            )
        }
        self.path = path
        self.mustConfirm = mustConfirm
        asks = !yes
        let instance = Instance.named(in: environment)
        isForService = path.hasPrefix(ConfigurationFile.systemFolder + "/")
        if let file {
            start = ServiceStart(command: "beckon listen --config \(ShellWord.quoted(printable(file)))")
        } else {
            let program = OwnEnvironment.program ?? "/usr/bin/beckon"
            start = ServiceStart(instance, isRoot: isRoot, environment: environment, program: program)
        }
    }

    /// Asks and writes. Returns the exit status.
    func run() throws -> Int32 {
        if path != Self.standardOutput, let status = try? FileStatus(path: path) {
            let remedy = status.isRegular ? "edit it, move it away, or name another file" : "name another file"
            throw Failure("\(printable(path)): exists already and is not replaced; \(remedy)")
        }
        if asks, path != Self.standardOutput { try confirm() }
        let text = try answers().text
        // A name with a quote, or a word that is not known any more, must not give a file that the service refuses.
        do {
            let file = try ParsedConfiguration(text: text, file: path).validated { KnownWords($0.namedWords()) }
            for warning in file.warnings { Output.report(.warning, "\(warning)") }
        } catch {
            throw Failure("these answers give no valid configuration; nothing was written: \(error)")
        }
        guard path != Self.standardOutput else {
            Output.write(text)
            return 0
        }
        try write(text, to: path)
        Output.write("\(printable(path))\n")
        if let unit = start.unit {
            try write(unit.text, to: unit.path)
            Output.write("\(printable(unit.path))\n")
        }
        Output.writeErrorText("Next: \(start.command)\n")
        return 0
    }

    // MARK: - Questions

    /// Says which file it will be; for one that all users of the machine get, who may not know it, it asks.
    private func confirm() throws {
        guard mustConfirm else { return say("This writes \(printable(path)), after three questions.") }
        let question =
            "This writes the configuration of the whole system, \(printable(path)). Go on: y for yes, or Enter for no?"
        let goesOn = try ask(question) { answer in
            switch answer.lowercased() {
            case "y", "yes": .success(true)
            case "", "n", "no": .success(false)
            default: .failure(.init("y or n is needed"))
            }
        }
        guard goesOn else {
            throw Failure("nothing was written; for a file of your own, name it: beckon config init FILE")
        }
    }

    private func answers() throws -> StarterConfiguration {
        var answers = StarterConfiguration()
        guard asks else { return answers }
        answers.device = try device()
        answers.disabled = try disabledWords()
        answers.receiver = try receiver()
        return answers
    }

    private func device() throws -> String {
        // Without any, the first that is plugged in will do.
        let devices = ((try? DeviceList.scan()) ?? []).map { (name: $0.name, description: $0.description) }
        let list = devices.enumerated().map { number, device in
            "  \(number + 1)  \(printable(device.name))  \(printable(device.description))\n"
        }
        if devices.isEmpty { say("No microphone was found; auto takes the first that is plugged in.") }
        Output.writeError(list.joined())
        return try ask("Which microphone: a number, a name, or Enter for auto?") { answer in
            guard !answer.isEmpty else { return .success("auto") }
            guard let number = Int(digits: answer) else { return .success(answer) }
            guard devices.indices.contains(number - 1) else {
                return .failure(.init("there is no microphone \(number)"))
            }
            return .success(devices[number - 1].name)
        }
    }

    private func disabledWords() throws -> [String] {
        let known = try Labels(
            VocabularyLoader(modelFolder: nil, confirms: false, words: TaughtWords(nil)).load().vocabulary.labels
        )
        .words
        say("Words: \(known.map(printable).joined(separator: ", "))")
        return try ask("Which of them may fire: some, with commas between, or Enter for all?") { answer in
            guard !answer.isEmpty else { return .success([]) }
            var kept: Set<String> = []
            for name in answer.split(separator: ",").map({ WordName.trimmed(String($0)) }) {
                guard let word = WordName.match(name, in: known) else {
                    let hint = nearestName(to: name, of: known).map { "; did you mean \($0)?" } ?? ""
                    return .failure(.init("'\(name)' is not one of these words\(hint)"))
                }
                kept.insert(word)
            }
            return .success(known.filter { !kept.contains($0) })
        }
    }

    private func receiver() throws -> StarterConfiguration.Receiver {
        let question =
            "Which program gets each word, or which MQTT broker: a path, a host, or Enter for nothing?"
        return try ask(question) { answer in
            guard !answer.isEmpty else { return .success(.nobody) }
            guard answer.contains("/") || answer.hasPrefix("~") else { return .success(.broker(answer)) }
            let path = wholePath(answer)
            if let problem = programProblem(path) { return .failure(.init(problem)) }
            return .success(.program(path))
        }
    }

    /// An answer as a shell would take it.
    private func wholePath(_ answer: String) -> String {
        let home = OwnEnvironment.variables["HOME"] ?? ""
        if answer.hasPrefix("~/"), home.hasPrefix("/") { return home + answer.dropFirst() }
        return answer.hasPrefix("/") ? answer : "\(OwnEnvironment.folder)/\(answer)"
    }

    /// Why the service could not run a program; nil if it can.
    private func programProblem(_ path: String) -> String? {
        if let problem = ProgramFile.problem(path) { return problem }
        if isForService, ProgramFile.isHiddenFromService(path) {
            return "the system's service does not see \(path): copy it to /usr/local/bin, and name that"
        }
        // Its user is nobody's group.
        guard isForService, let status = try? FileStatus(path: path), status.permissions & 0o005 != 0o005 else {
            return nil
        }
        return "the system's service may not run \(path); try chmod o+rx"
    }

    /// Why an answer cannot be used.
    private struct Refusal: Error, CustomStringConvertible {
        let description: String
        init(_ description: String) { self.description = description }
    }

    /// Asks until an answer can be used.
    private func ask<Value>(_ question: String, _ take: (String) -> Result<Value, Refusal>) throws -> Value {
        while true {
            Output.writeError(wrapped(question, columns: Terminal.width) + " ")
            guard let line = readLine() else {
                Output.writeError("\n")
                throw Failure("there was no answer; nothing was written")
            }
            switch take(WordName.trimmed(line)) {
            case .success(let value): return value
            case .failure(let refusal): say(printable(refusal.description))
            }
        }
    }

    private func say(_ text: String) { Output.writeError(wrapped(text, columns: Terminal.width) + "\n") }

    // MARK: - The file

    /// Writes the file whole or not at all.
    private func write(_ text: String, to path: String) throws(Failure) {
        let (folder, _) = splitPath(path)
        if folder.count > 1 { try makeFolder(String(folder.dropLast())) }
        let name = FileName.cString(path)
        let file = FileDescriptor(open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o644))
        guard file.isOpen else { throw problem(path, errno) }
        guard writeAll(Array(text.utf8), to: file.rawValue), fsync(file.rawValue) == 0 else {
            let number = errno
            unlink(name)
            throw problem(path, number)
        }
    }

    private func problem(_ path: String, _ number: Int32) -> Failure {
        Failure("\(printable(path)): cannot write the configuration: \(SystemError.text(number)); name another file")
    }
}
