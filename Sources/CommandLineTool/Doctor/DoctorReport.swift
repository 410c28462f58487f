import Configuration
private import Core
import Diagnostics
private import Enrollment
private import Glibc
private import Inference
private import System

/// The file of `beckon doctor --report`: what a report of a fault needs, without personal data.
struct DoctorReport {
    static let path = "beckon-report.txt"

    private let redaction: Redaction
    /// The configuration as it is written; nil for none that can be read.
    private let configuration: String?

    /// - Parameters:
    ///   - configuration: its file; nil for none.
    ///   - modelWords: words that everybody knows.
    init(_ environment: [String: String], configuration path: String?, modelWords: [String]) {
        let file = path.flatMap { try? readFile($0, limit: 1 << 20).bytes }
        configuration = file.map { String(decoding: $0, as: UTF8.self) }
        let taught = TaughtWords(nil)
        let known = Set(modelWords)
        let written = Redaction.texts(in: configuration ?? "") + taught.names + taught.forgotten
        let instances = InstanceConfiguration.all(environment: environment).compactMap { $0.instance?.name }
        let accounts = Self.accounts(environment)
        redaction = Redaction(
            homes: accounts.map(\.home) + [environment["HOME"] ?? ""],
            users: accounts.flatMap { [$0.name] + $0.people },
            machines: [machineName() ?? ""],
            secrets: (written + instances).filter { !known.contains($0) }
        )
    }

    /// Writes the file, whose name is always the same, into the current folder.
    func write(_ diagnoses: [Diagnosis], model: String) throws(Failure) {
        let text = text(diagnoses, model: model)
        do throws(SystemError) {
            try replaceFile(Self.path, mode: 0o644, durable: false, Array(text.utf8))
        } catch {
            throw Failure("\(Self.path): \(error); run it in a folder that may be written to")
        }
        Output.report(
            .info,
            "\(Self.path) is written, without names, addresses and secrets; read it before you send it"
        )
    }

    private func text(_ diagnoses: [Diagnosis], model: String) -> String {
        var lines = ["beckon \(version), report of beckon doctor", ""]
        lines += ["system     \(Self.system)", "processor  \(Self.processor)", "model      \(model)"]
        lines.append("keys       \(keys)")
        lines.append("")
        for diagnosis in diagnoses {
            // Words that were taught are the user's own.
            let text =
                diagnosis.check == "words" ? diagnosis.text.prefix { $0 != ":" && $0 != "'" } : diagnosis.text[...]
            lines.append(
                "\(pad(diagnosis.grade.rawValue, 7))  \(pad(diagnosis.check, 13))  \(printable(redaction(String(text))))"
            )
        }
        return lines.joined(separator: "\n") + "\n"
    }

    /// The first keys of the configuration, without their values; below them are names that the user gave.
    private var keys: String {
        guard let configuration else { return "no configuration" }
        var (names, name, depth): ([String], String, Int) = ([], "", 0)
        for line in configuration.split(whereSeparator: \.isNewline) {
            var mark: Character?
            for character in line {
                if let open = mark {
                    if character == open { mark = nil } else { name.append(character) }
                    continue
                }
                if character == "/" { break }
                switch character {
                case "\"", "'": (mark, name) = (character, "")
                case "{", "[": (depth, name) = (depth + 1, "")
                case "}", "]": (depth, name) = (depth - 1, "")
                case ":":
                    if depth == 1 { names.append(name) }
                    name = ""
                case ",": name = ""
                default: if !character.isWhitespace { name.append(character) }
                }
            }
        }
        return names.map(printable).joined(separator: " ")
    }

    private static var system: String {
        let release = (try? readFile("/etc/os-release", limit: 1 << 16).bytes).map {
            String(decoding: $0, as: UTF8.self)
        }
        let name = release?.split(separator: "\n").first { $0.hasPrefix("PRETTY_NAME=") }?.dropFirst(12)
        var kernel = utsname()
        uname(&kernel)
        func text<Field>(_ field: Field) -> String {
            withUnsafeBytes(of: field) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) }
        }
        return "\(name?.filter { $0 != "\"" } ?? "unknown"), Linux \(text(kernel.release)) \(text(kernel.machine))"
    }

    private static var processor: String {
        let information = kernelText("/proc/cpuinfo")
        let name = information?.split(separator: "\n").first { $0.hasPrefix("model name") || $0.hasPrefix("Model") }
        let model = name?.split(separator: ":").last.map { WordName.trimmed(String($0)) } ?? "unknown"
        return "\(model), \(OwnEnvironment.processors) in use"
    }

    private struct Account {
        var name, home: String
        /// Names of the person.
        var people: [String]
    }

    /// The accounts that may be seen here: the user's own, and who called `sudo`.
    private static func accounts(_ environment: [String: String]) -> [Account] {
        func account(_ entry: UnsafeMutablePointer<passwd>?) -> Account? {
            guard let entry = entry?.pointee, let name = entry.pw_name, let home = entry.pw_dir else { return nil }
            let person = entry.pw_gecos.map { String(cString: $0) } ?? ""
            let people = person.split { $0 == "," || $0 == " " }.map(String.init).filter { $0.count > 2 }
            return Account(name: String(cString: name), home: String(cString: home), people: people)
        }
        let named = ["USER", "LOGNAME", "SUDO_USER"].compactMap { environment[$0] }.filter { !$0.isEmpty }
        return [account(getpwuid(getuid())), account(getpwuid(geteuid()))].compactMap(\.self)
            + named.map { account(getpwnam($0)) ?? Account(name: $0, home: "", people: []) }
    }
}
