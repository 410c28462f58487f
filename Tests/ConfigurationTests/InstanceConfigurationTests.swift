import Network
import System
import TestSupport
import Testing

@testable import Configuration

/// The configurations of several services, and where they would disturb each other.
struct InstanceConfigurationTests {
    private func write(_ folder: TestFolder, _ files: [String: String]) throws {
        try folder.folder("beckon")
        for (name, text) in files { try folder.write("beckon/\(name)", bytes: Array(text.utf8)) }
    }

    @Test func `each service finds its own configuration`() {
        let home = ["HOME": "/h"]
        let kitchen = home.merging([Instance.variable: "kitchen"]) { $1 }
        #expect(ConfigurationFile.userPath(environment: kitchen) == "/h/.config/beckon/kitchen.json5")
        #expect(ConfigurationFile.userPath(environment: home) == "/h/.config/beckon/config.json5")
        #expect(ConfigurationFile.systemPath(environment: kitchen) == "/etc/beckon/kitchen.json5")
        #expect(ConfigurationFile.systemPath(environment: [:]) == ConfigurationFile.systemPath)
        // A name that is none names no other file.
        #expect(ConfigurationFile.systemPath(environment: [Instance.variable: "../a"]) == ConfigurationFile.systemPath)
    }

    @Test func `all configurations are found, of the system and of the user`() throws {
        let (system, user) = (try TestFolder(), try TestFolder())
        try write(
            system,
            ["config.json5": "{}", "kitchen.json5": "{}", ".a.json5": "{}", "note.txt": "", "a b.json5": "{}"]
        )
        try write(user, ["desk.json5": "{", "kitchen.json5": "{}"])
        let environment = ["XDG_CONFIG_HOME": user.path, Instance.variable: "kitchen", "XDG_RUNTIME_DIR": "/r"]
        let all = InstanceConfiguration.all(environment: environment, systemFolder: system.file("beckon"))
        #expect(all.map { $0.instance?.name } == [nil, "kitchen", "desk", "kitchen"])
        #expect(all.map(\.path).last == user.file("beckon/kitchen.json5"))
        #expect(all.map(\.isReadable) == [true, true, false, true])
        #expect(
            all.map { $0.socket(environment: environment) } == [
                "/run/beckon/control.socket", "/run/beckon@kitchen/control.socket", "/r/beckon@desk/control.socket",
                "/r/beckon@kitchen/control.socket",
            ]
        )
        #expect(all.allSatisfy { !$0.isRunning(environment: environment) })
    }

    static let table: [(one: String, other: String, says: [String])] = [
        ("{ device: 'hw:CARD=A' }", "{ device: 'hw:CARD=B' }", []),
        (
            "{ device: 'hw:CARD=A' }", "{ device: 'plughw:CARD=A,DEV=0' }",
            ["both the instance a and the instance b use the microphone hw:CARD=A; give each"]
        ),
        // Sound servers share their devices.
        ("{ device: 'pipewire' }", "{ device: 'pipewire' }", []),
        ("{}", "{}", ["both the instance a and the instance b take the first microphone that works; name"]),
        (
            "{}", "{ device: 'hw:CARD=B' }",
            [
                "one of the instance a and the instance b takes the first microphone that works, which may be hw:CARD=B,DEV=0; name"
            ]
        ),
        (
            "{ device: 'a', wyoming: { listen: 'tcp://127.0.0.1:1' } }",
            "{ device: 'b', web: { listen: 'tcp://0.0.0.0:1' }, wyoming: { satellite: 'tcp://127.0.0.1:2' } }",
            ["wyoming.listen of the instance a and web.listen of the instance b are both tcp://127.0.0.1:1; choose"]
        ),
        (
            "{ device: 'a', socket: '/run/x' }", "{ device: 'b', actions: [{ unix: '/run/x' }] }",
            ["socket of the instance a and an action's unix of the instance b are both unix:///run/x; choose"]
        ),
        ("{ device: 'a', mqtt: { host: 'h' } }", "{ device: 'b', mqtt: { host: 'h' } }", []),
        (
            "{ device: 'a', mqtt: { host: 'h', name: 'n' } }", "{ device: 'b', mqtt: { host: 'h', name: 'n' } }",
            ["both the instance a and the instance b are beckon/n at the broker h; set mqtt.name"]
        ),
        ("{ device: 'a', mqtt: { host: 'h', name: 'n' } }", "{ device: 'b', mqtt: { host: 'i', name: 'n' } }", []),
        (
            "{ device: 'a', clips: { dir: '/c' }, misses: { dir: '/m' } }",
            "{ device: 'b', clips: { dir: '/c' }, misses: { dir: '/m' } }",
            ["clips.dir of the instance a and of the instance b is /c; give", "misses.dir of the instance a"]
        ),
    ]

    @Test(arguments: table)
    func `what only one service can have is reported`(_ row: (one: String, other: String, says: [String])) throws {
        let folder = try TestFolder()
        try write(folder, ["a.json5": row.one, "b.json5": row.other])
        let a = InstanceConfiguration(Instance("a"), path: folder.file("beckon/a.json5"))
        let b = InstanceConfiguration(Instance("b"), path: folder.file("beckon/b.json5"))
        let found = a.collisions(with: b, machine: "box")
        #expect(found.count == row.says.count, "\(found)")
        for (line, part) in zip(found, row.says) { #expect(line.hasPrefix(part), "\(line)") }
        #expect(b.collisions(with: a, machine: "box").count == found.count)
    }

    @Test func `a broker knows two services without names by their machine`() throws {
        let folder = try TestFolder()
        try write(
            folder,
            [
                "a.json5": "{ device: 'a', mqtt: { host: 'h' } }",
                "b.json5": "{ device: 'b', mqtt: { host: 'h', name: 'box' } }",
            ]
        )
        let a = InstanceConfiguration(nil, path: folder.file("beckon/a.json5"))
        let b = InstanceConfiguration(Instance("b"), path: folder.file("beckon/b.json5"))
        #expect(
            a.collisions(with: b, machine: "box") == [
                "both the service without a name and the instance b are beckon/box at the broker h; set mqtt.name in one of them"
            ]
        )
    }
}
