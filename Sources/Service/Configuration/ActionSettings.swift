import Core
import JSON

/// An action as it is written in the configuration: an object with exactly one of six effect keys, and options.
struct ActionSettings: Equatable, Sendable {
    var run: [String]?
    var directory: String?
    var print: Template?
    var journal: LogLevel?
    var unix: String?
    var webhook: WebAddress?
    var caFile: String?
    var followRedirects: Bool?
    var play: String?
    var timeout: Double?

    init() {}

    init(_ action: Action) {
        timeout = action.timeout
        switch action.effect {
        case .run(let arguments, let directory): (run, self.directory) = (arguments, directory)
        case .print(let template): print = template
        case .journal(let priority): journal = priority
        case .unix(let path): unix = path
        case .webhook(let address, let caFile, let followsRedirects):
            (webhook, self.caFile, followRedirects) = (address, caFile, followsRedirects ? true : nil)
        case .play(let path): play = path
        }
    }

    /// The effects given in the file; a valid action has exactly one.
    var effects: [(key: String, effect: Action.Effect)] {
        let all: [(String, Action.Effect?)] = [
            ("run", run.map { .run($0, directory: directory ?? "/") }), ("print", print.map { .print($0) }),
            ("journal", journal.map { .journal($0) }), ("unix", unix.map { .unix($0) }),
            ("webhook", webhook.map { .webhook($0, caFile: caFile, followsRedirects: followRedirects ?? false) }),
            ("play", play.map { .play($0) }),
        ]
        return all.compactMap { key, effect in effect.map { (key, $0) } }
    }

    static let section = Section<ActionSettings>([
        Setting("run", \.run, SettingKind<[String]>.command.optional),
        Setting("directory", \.directory, SettingKind<String>.absolutePath("/var/lib/beckon").optional),
        Setting("print", \.print, SettingKind<Template>.template.optional),
        Setting("journal", \.journal, SettingKind<LogLevel>.choice.optional),
        Setting("unix", \.unix, SettingKind<String>.socketPath.optional),
        Setting("webhook", \.webhook, SettingKind<WebAddress>.webAddress.optional),
        Setting("caFile", \.caFile, SettingKind<String>.absolutePath("/etc/ssl/certs/home.pem").optional),
        Setting("followRedirects", \.followRedirects, SettingKind<Bool>.flag.optional),
        Setting("play", \.play, SettingKind<String>.sound.optional),
        Setting("timeout", \.timeout, SettingKind<Double>.timeout.optional),
    ])
}

extension SettingKind where Value == Action {
    static let action: SettingKind = {
        let object = SettingKind<ActionSettings>.object(ActionSettings(), ActionSettings.section)
        return SettingKind(
            read: { node, key, findings in
                let before = findings.problems.count
                guard let settings = object.read(node, key, &findings) else { return nil }
                let effects = settings.effects
                guard effects.count == 1, let only = effects.first else {
                    // A key that could not be read is reported already.
                    guard findings.problems.count == before || effects.count > 1 else { return nil }
                    let given = effects.isEmpty ? "none" : effects.map(\.key).joined(separator: " and ")
                    let wanted = "an action needs one of run, print, journal, unix, webhook, play"
                    findings.add("\(wanted), and has \(given)", key: key, at: node.place)
                    return nil
                }
                for (name, isGiven, effects) in [
                    ("directory", settings.directory != nil, ["run"]), ("caFile", settings.caFile != nil, ["webhook"]),
                    ("followRedirects", settings.followRedirects != nil, ["webhook"]),
                    ("timeout", settings.timeout != nil, ["run", "webhook"]),
                ] where isGiven && !effects.contains(only.key) {
                    findings.add("only goes with \(effects.joined(separator: " or "))", key: "\(key).\(name)")
                }
                return Action(only.effect, timeout: settings.timeout)
            },
            write: { action in
                // Leaves out the unused effect keys, which are null.
                let value = ActionSettings(action)
                let members = ActionSettings.section.settings.map { JSON.Member($0.name, $0.write(value)) }
                return .object(members.filter { $0.value != .null })
            },
            keys: object.keys
        ).noting(in: \.actions)
    }()
}

extension SettingKind where Value == [String] {
    /// A program and its arguments.
    static let command: SettingKind = {
        let expected =
            "a list of a program's absolute path and its arguments, such as [\"/usr/bin/aplay\", \"ding.wav\"]"
        return SettingKind(
            read: { node, key, findings in
                guard case .array(let elements) = node.value, !elements.isEmpty else {
                    let given = node.value == .array([]) ? "an empty list" : node.description
                    findings.add("expected \(expected), not \(given)", key: key, at: node.place)
                    return nil
                }
                var words: [String] = []
                for element in elements {
                    guard let word = element.text, !word.contains("\0") else {
                        findings.expected("text in quotes", at: "\(key)[\(words.count)]", not: element)
                        return nil
                    }
                    words.append(word)
                }
                guard let program = words.first, !program.hasPrefix("/") else { return words }
                let place = ProgramFile.find(program).map { "write \"\($0)\"" }
                findings.add(
                    "expected a program's absolute path, not '\(program)'; "
                        + (place ?? "no shell is involved, which would look for it"),
                    key: "\(key)[0]",
                    at: elements[0].place
                )
                return nil
            },
            write: { .strings($0) }
        )
    }()
}

extension SettingKind where Value == Double {
    static let timeout = seconds(0.01...86_400, usual: 900)
}

extension SettingKind where Value == String {
    /// An audio file.
    static let sound = absolutePath("/usr/share/sounds/alsa/Front_Center.wav")

    /// Linux limits a socket's path to 108 bytes, including the final NUL.
    static let socketPath = text("a socket's path that begins with / and has at most 107 bytes") {
        $0.hasPrefix("/") && $0.utf8.count <= 107
    }
}

extension SettingKind where Value == Template {
    static let template = parsed("text such as \"{word} {confidence}\"", \.text, Template.init)
}

extension SettingKind where Value == WebAddress {
    static let webAddress = parsed("an address such as \"http://127.0.0.1:8123/beckon\"", \.text, WebAddress.init)
}
