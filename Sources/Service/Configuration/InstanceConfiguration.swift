import Core
private import Glibc
import Network
public import System

/// A configuration of a service on this machine.
public struct InstanceConfiguration: Sendable {
    /// Nil for the service without a name.
    public let instance: Instance?
    public let path: String
    /// Nil if it cannot be read.
    let settings: Configuration?
    /// Whether it belongs to the system's service, not to a user's.
    private let isOfSystem: Bool

    /// Whether it can be read.
    public var isReadable: Bool { settings != nil }

    public init(_ instance: Instance?, path: String, systemFolder: String = ConfigurationFile.systemFolder) {
        self.instance = instance
        self.path = path
        isOfSystem = path.hasPrefix(systemFolder + "/")
        settings = (try? ParsedConfiguration(path: path))?.unchecked.settings
    }

    /// What it is called in messages.
    public var title: String { instance.map { "the instance \($0.name)" } ?? "the service without a name" }

    /// The configurations of all services: of the system, and of this user.
    ///
    /// - Parameter systemFolder: for tests.
    public static func all(
        environment: [String: String],
        systemFolder: String = ConfigurationFile.systemFolder
    ) -> [InstanceConfiguration] {
        var user = environment
        user[Instance.variable] = nil
        let own = ConfigurationFile.userPath(environment: user).map { splitPath($0).folder }
        return [systemFolder + "/", own].compactMap { $0 }.flatMap { folder in
            namesInFolder(folder).filter { $0.hasSuffix(".json5") }.sorted().compactMap { file in
                let name = String(file.dropLast(6))
                let instance = Instance(name)
                guard instance != nil || name == "config" else { return nil }
                return InstanceConfiguration(instance, path: folder + file, systemFolder: systemFolder)
            }
        }
    }

    /// The control socket; nil for none.
    public func socket(environment: [String: String]) -> String? {
        switch settings?.socket ?? .auto {
        case .none: return nil
        case .path(let path): return path
        case .auto:
            let folder = isOfSystem ? "/run" : environment["XDG_RUNTIME_DIR"]
            return folder.map { "\($0)/\(instance.unit)/control.socket" }
        }
    }

    /// Whether its service runs, as far as its control socket tells.
    public func isRunning(environment: [String: String]) -> Bool {
        guard let path = socket(environment: environment) else { return false }
        // Whoever may not use it sees that it is there.
        return UnixSocket.connect(path) != nil || errno == EACCES
    }

    /// Where this service and others that run now disturb each other; one line for each thing.
    public func collisions(withRunning environment: [String: String]) -> [String] {
        Self.all(environment: environment).filter { $0.path != path && $0.isRunning(environment: environment) }
            .flatMap { collisions(with: $0, machine: readableMachineName) }
    }

    /// Files that it names and does not work without: password and certificates, and the models of wake words.
    public var namedFiles: [String] {
        guard let settings else { return [] }
        let own = settings.words.values.map(\.actions) + settings.phrases.map(\.actions)
        let ofWords = own.flatMap { $0 ?? [] }
        let ofStates = settings.esphome.actions.values.flatMap(\.self)
        let ofSessions = settings.sessions.flatMap { $0.onStart + $0.onEnd }
        let actions = settings.actions + ofWords + ofSessions + ofStates
        let authorities = actions.compactMap { if case .webhook(_, let file, _) = $0.effect { file } else { nil } }
        return [settings.mqtt.passwordFile, settings.mqtt.caFile].compactMap { $0 } + authorities
            + settings.wakeWords.filter { $0.hasPrefix("/") }
    }

    // MARK: - What only one service can have

    /// Where two services would disturb each other, and what to do; one line for each thing.
    public func collisions(with other: InstanceConfiguration, machine: String) -> [String] {
        guard let own = settings, let others = other.settings else { return [] }
        return devices(own, others, other) + addresses(own, others, other) + broker(own, others, other, machine)
            + places(own, others, other)
    }

    private func devices(_ own: Configuration, _ others: Configuration, _ other: InstanceConfiguration) -> [String] {
        switch (Self.hardware(own.device), Self.hardware(others.device)) {
        case ("auto", "auto"):
            ["both \(title) and \(other.title) take the first microphone that works; name the device in each"]
        case ("auto", let device?), (let device?, "auto"):
            [
                "one of \(title) and \(other.title) takes the first microphone that works, which may be \(device); name its device"
            ]
        case (let device?, let same) where device == same:
            [
                "both \(title) and \(other.title) use the microphone \(own.device); give each its own, or one that can be shared"
            ]
        default: []
        }
    }

    /// What one program alone can have open: `auto`, or a card's device; nil for a device of a sound server or of ALSA's configuration, which
    /// may be shared.
    private static func hardware(_ device: String) -> String? {
        guard device != "auto" else { return device }
        let name = device.hasPrefix("plughw:") ? String(device.dropFirst(4)) : device
        guard name.hasPrefix("hw:") else { return nil }
        // The first device of a card, where none is named.
        return name.contains("DEV=") || !name.contains("CARD=") ? name : name + ",DEV=0"
    }

    private func addresses(_ own: Configuration, _ others: Configuration, _ other: InstanceConfiguration) -> [String] {
        let theirs = Self.addresses(others)
        return Self.addresses(own).flatMap { key, address in
            theirs.filter { $0.address.overlaps(address) }.map { theirKey, _ in
                "\(key) of \(title) and \(theirKey) of \(other.title) are both \(address); choose another port"
            }
        }
    }

    private static func addresses(_ configuration: Configuration) -> [(key: String, address: ListenAddress)] {
        var all = configuration.wyoming.listen.map { (key: "wyoming.listen", address: $0) }
        all += configuration.wyoming.satellite.map { ("wyoming.satellite", $0) }
        all += configuration.esphome.listen.map { ("esphome.listen", $0) }
        all += configuration.web.listen.map { ("web.listen", $0) }
        if case .path(let path) = configuration.socket { all.append(("socket", .unix(path: path))) }
        let actions = configuration.actions + configuration.words.values.flatMap { $0.actions ?? [] }
        for case .unix(let path) in actions.map(\.effect) where !all.contains(where: { $0.1 == .unix(path: path) }) {
            all.append(("an action's unix", .unix(path: path)))
        }
        return all
    }

    private func broker(
        _ own: Configuration,
        _ others: Configuration,
        _ other: InstanceConfiguration,
        _ machine: String
    ) -> [String] {
        let (mine, theirs) = (own.mqtt, others.mqtt)
        func name(_ settings: Configuration.MQTT, _ instance: Instance?) -> String {
            settings.name ?? instance?.name ?? machine
        }
        guard let host = mine.host, host == theirs.host, mine.prefix == theirs.prefix,
            name(mine, instance) == name(theirs, other.instance)
        else { return [] }
        return [
            "both \(title) and \(other.title) are \(mine.prefix)/\(name(mine, instance)) at the broker \(host); set mqtt.name in one of them"
        ]
    }

    private func places(_ own: Configuration, _ others: Configuration, _ other: InstanceConfiguration) -> [String] {
        [
            ("clips.dir", own.clips.dir, others.clips.dir), ("misses.dir", own.misses.dir, others.misses.dir),
            ("metrics.file", own.metrics.file, others.metrics.file),
        ].compactMap { key, mine, theirs in
            guard let mine, mine == theirs else { return nil }
            return "\(key) of \(title) and of \(other.title) is \(mine); give each its own"
        }
    }
}
