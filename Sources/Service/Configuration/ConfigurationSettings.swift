import Core
import Echo
import JSON
import Network
import Spotting

extension SettingKind where Value == Configuration {
    /// All keys of the configuration file.
    static let configuration = object(
        Configuration(),
        Section([
            Setting("model", \.model, SettingKind<String>.model.optional),
            Setting("confirm", \.confirms, .flag),
            Setting("wakeWords", \.wakeWords, SettingKind<String>.wakeWord.list),
            Setting("device", \.device, .text("a device's name, or \"auto\"")),
            Setting("channel", \.channel, .channels),
            Setting("echo", at: \.echo, echo),
            Setting("speaker", \.speaker, SettingKind<String>.text("a device's name, such as \"default\"").optional),
            Setting("mode", \.gate.mode, .choice),
            Setting("trigger", \.gate.trigger, .choice),
            Setting("sensitivity", \.sensitivity, .choice),
            Setting("threshold", \.threshold, SettingKind<Float>.threshold.optional),
            Setting("cooldown", \.cooldown, .cooldown),
            Setting("words", \.words, SettingKind<Configuration.Word>.word.table),
            Setting("phrases", \.phrases, SettingKind<Configuration.Phrase>.phrase.list),
            Setting("sessions", \.sessions, SettingKind<Configuration.Session>.session.list),
            Setting("actions", \.actions, SettingKind<Action>.action.list),
            Setting("webhookHosts", \.webhookHosts, SettingKind<String>.text("a host's name or address").list),
            Setting("clips", at: \.clips, clips),
            Setting("misses", at: \.misses, misses),
            Setting("limits", at: \.limits, limits),
            Setting("wyoming", at: \.wyoming, .wyoming),
            Setting("esphome", at: \.esphome, .esphome),
            Setting("socket", \.socket, .socket),
            Setting("mqtt", at: \.mqtt, .mqtt),
            Setting("group", at: \.group, .group),
            Setting("web", at: \.web, .web),
            Setting("metrics", at: \.metrics, .metrics),
            Setting("log", \.log, .choice(among: [.error, .warning, .info, .debug])),
            Setting("gate", at: \.gate, gate),
        ])
    )

    /// The keys of `gate`; `mode` and `trigger` are keys of the file itself.
    private static let gate = Section<GateSettings>([
        Setting("smoothing", \.smoothing, .whole(1...20)),
        Setting("startMargin", \.startMargin, .number(0...1, "a number from 0 to 1")),
        Setting("endMargin", \.endMargin, .number(0...1, "a number from 0 to 1")),
        Setting("stability", \.stability, .whole(1...20)),
        Setting("refractory", \.refractory, .number(0...60, "seconds from 0 to 60")),
        Setting("quietBefore", \.quietBefore, .number(0...10, "seconds from 0 to 10")),
        Setting("trailingSilence", \.trailingSilence, .number(0...10, "seconds from 0 to 10"), formerly: "breath"),
        Setting("quietAfter", \.quietAfter, .number(0...10, "seconds from 0 to 10")),
        Setting("longestUtterance", \.longestUtterance, .number(0.2...60, "seconds from 0.2 to 60")),
    ])

    private static let echo = Section<Configuration.Echo>([
        Setting("reference", \.reference, SettingKind<Configuration.Echo.Reference>.echoReference.optional),
        Setting("filter", \.filter, .number(EchoSettings.filters, "seconds from 0.05 to 0.5")),
    ])

    private static let limits = Section<Configuration.Limits>([
        Setting("queue", \.queue, .whole(1...10_000)),
        Setting("atOnce", \.atOnce, .whole(1...64)),
        Setting("timeout", \.timeout, .timeout),
    ])

    private static let clips = Section<Configuration.Clips>([
        Setting("dir", \.dir, SettingKind<String>.absolutePath("/var/lib/beckon/clips").optional),
        Setting("keep", \.keep, .whole(1...100_000)),
        Setting("quota", \.quota, .whole(1...1_000_000)),
        Setting("before", \.before, .number(0...5, "seconds from 0 to 5")),
        Setting("after", \.after, .number(0...5, "seconds from 0 to 5")),
    ])

    private static let misses = Section<Configuration.Misses>([
        Setting("dir", \.dir, SettingKind<String>.absolutePath("/var/lib/beckon/misses").optional),
        // Few enough for one answer of the control socket.
        Setting("keep", \.keep, .whole(1...100)),
        Setting("quota", \.quota, .whole(1...1_000_000)),
        Setting("margin", \.margin, .number(0.01...0.5, "a number from 0.01 to 0.5")),
    ])
}

extension SettingKind where Value == Configuration.Echo.Reference {
    fileprivate static let echoReference = SettingKind(
        "a channel from 0 to 63, \"speaker\", or a device's name, such as \"hw:Loopback,1\" or \"pipewire:monitor\"",
        suggests: { node in node.text.flatMap { Int(digits: $0) }.map(String.init) },
        write: { reference in
            switch reference {
            case .channel(let number): .number(number)
            case .device(let name): .string(name)
            case .speaker: "speaker"
            }
        },
        take: { node in
            if let number = node.integer { return (0...63).contains(number) ? .channel(number) : nil }
            return node.text.flatMap { Int(digits: $0) == nil ? Value($0) : nil }
        }
    )
}

extension SettingKind where Value == Configuration.Word {
    static let word = object(
        Configuration.Word(),
        Section([
            Setting("enabled", \.enabled, .flag),
            Setting("sensitivity", \.sensitivity, SettingKind<Sensitivity>.choice.optional),
            Setting("threshold", \.threshold, SettingKind<Float>.threshold.optional),
            Setting("cooldown", \.cooldown, SettingKind<Double>.cooldown.optional),
            Setting("actions", \.actions, SettingKind<Action>.action.list.optional),
            Setting("typed", \.typed, .flag),
            Setting("sounds", \.sounds, SettingKind<String>.sounds.list),
        ]) { node in
            if let flag = node.flag { return "{ enabled: \(flag) }" }
            if let name = node.text.flatMap({ Sensitivity(rawValue: $0) }) {
                return "{ sensitivity: \"\(name.rawValue)\" }"
            }
            let isConfidence = node.number.map { $0 > 0 && $0 < 1 } ?? false
            return (isConfidence ? node.description : node.confidenceMeant).map { "{ threshold: \($0) }" }
        }
    )
}

extension SettingKind where Value == Configuration.Phrase {
    static let phrase = object(
        Configuration.Phrase(),
        Section([
            Setting("phrase", \.phrase, .phraseText),
            Setting("maximumGap", \.maximumGap, .number(0.1...10, "seconds from 0.1 to 10")),
            Setting("cooldown", \.cooldown, SettingKind<Double>.cooldown.optional),
            Setting("actions", \.actions, SettingKind<Action>.action.list.optional),
        ]) { node in
            node.text.map { "{ phrase: \"\(printable($0))\" }" }
        }
    ).noting(in: \.phrases)
}

extension SettingKind where Value == String {
    fileprivate static let wakeWord = text("a wake word's name, such as \"okay_nabu\", or the file of its model") {
        !$0.isEmpty && $0.utf8.count <= 1000 && !$0.contains("\0")
    }

    fileprivate static let sounds = text("how the word is said, in IPA or ARPAbet, such as \"h eɪ h aʊ s\"") {
        !$0.isEmpty && $0.utf8.count <= 600
    }

    /// Bounded, because the time to split a phrase into words grows with its length.
    fileprivate static let phraseText = text("two words or more, such as \"go left\", in 1000 bytes at most") {
        !$0.isEmpty && $0.utf8.count <= 1000
    }
}

extension SettingKind where Value == Double {
    static let cooldown = seconds(0...86_400, usual: 300)
}

extension SettingKind where Value == Configuration.Channels {
    static let channels: SettingKind = {
        let expected = "\"mix\", a channel such as 0, or a list such as [0, 1]"
        return SettingKind(
            expected,
            suggests: { node in
                guard let text = node.text, Configuration.Channels(text) != nil else { return nil }
                return text.contains(",") ? "[\(text.replacing(",", with: ", "))]" : text
            },
            write: { channels in
                switch channels {
                case .mix: "mix"
                case .only(let numbers) where numbers.count == 1: .number(numbers[0])
                case .only(let numbers): .array(numbers.map { .number($0) })
                }
            },
            take: { node in
                if node.text == "mix" { return .mix }
                let nodes = node.elements.isEmpty ? [node] : node.elements
                let numbers = nodes.compactMap(\.integer)
                return numbers.count == nodes.count ? Configuration.Channels(numbers) : nil
            }
        )
    }()
}

extension SettingKind where Value == Configuration.Socket {
    static let socket = SettingKind(
        "\"auto\", \"none\", or a socket's path that begins with / and has at most 107 bytes",
        write: { socket in
            switch socket {
            case .auto: "auto"
            case .none: "none"
            case .path(let path): .string(path)
            }
        },
        take: { node in
            guard let text = node.text, !text.contains("\0") else { return nil }
            switch text {
            case "auto": return .auto
            case "none": return Configuration.Socket.none
            default: return text.hasPrefix("/") && text.utf8.count <= 107 ? .path(text) : nil
            }
        }
    )
}

extension SettingKind where Value == [ListenAddress] {
    /// One address, a list of them, or `none`.
    static func addresses(like example: String) -> SettingKind {
        let one = SettingKind<ListenAddress>.parsed(
            "an address such as \"\(example)\", a list, or \"none\"",
            \.description,
            ListenAddress.init
        )
        return SettingKind(
            read: { node, key, findings in
                if node.text == "none" { return [] }
                guard case .array(let elements) = node.value else { return one.read(node, key, &findings).map { [$0] } }
                var addresses: [ListenAddress] = []
                for element in elements {
                    guard let address = one.read(element, key, &findings) else { return nil }
                    addresses.append(address)
                }
                return addresses
            },
            write: { addresses in
                switch addresses.count {
                case 0: "none"
                case 1: .string(addresses[0].description)
                default: .strings(addresses.map(\.description))
                }
            }
        )
    }
}
