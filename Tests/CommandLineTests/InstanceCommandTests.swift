import Foundation
import TestSupport
import Testing

@testable import CommandLineTool

/// Two microphones on one machine: two services, each with a name.
struct InstanceCommandTests {
    private static let left = Voices.path("Front_Left")

    /// An instance on a fake card, whose sockets and configurations lie in a folder.
    private func start(_ name: String, _ voice: String, _ keys: String, in folder: TestFolder) throws -> LiveProgram {
        try folder.folder("config/beckon")
        try folder.write("config/beckon/\(name).json5", bytes: Array("{ device: 'mic', \(keys) }".utf8))
        return try LiveProgram(
            playing: voice,
            ["-i", name],
            configuration: "{ device: 'mic', \(keys) }",
            variables: [
                "XDG_RUNTIME_DIR": folder.path, "XDG_CONFIG_HOME": folder.file("config"), "BECKON_SOCKET": "/nowhere",
                "XDG_STATE_HOME": folder.file("state"),
            ],
            shell: "unset RUNTIME_DIRECTORY"
        )
    }

    private func ask(_ folder: TestFolder, _ arguments: String...) throws -> Program {
        try Program.beckon(
            arguments,
            environment: [
                "XDG_RUNTIME_DIR": folder.path, "XDG_CONFIG_HOME": folder.file("config"), "BECKON_SOCKET": "/nowhere",
                "ALSA_CONFIG_PATH": "/nonexistent",
            ]
        )
    }

    @Test func `two services listen at once, and commands reach the one that is named`() throws {
        let folder = try TestFolder()
        let action =
            "actions: [{ run: ['/bin/sh', '-c', 'echo $BECKON_INSTANCE $BECKON_WORD >> \(folder.file("words"))'] }]"
        let kitchen = try start("kitchen", Self.left, "threshold: 0.6, \(action)", in: folder)
        let office = try start("office", Voices.path("Rear_Right"), "threshold: 0.6", in: folder)
        #expect(kitchen.waits { kitchen.output.contains("left") } && office.waits { office.output.contains("right") })
        #expect(!kitchen.output.contains("right") && !office.output.contains("left"))
        // Before and behind the command, joined, and by the variable.
        for arguments in [
            ["-i", "kitchen", "status"], ["--instance=kitchen", "status"], ["-ikitchen", "status"],
            ["status", "-i", "kitchen"],
        ] {
            let status = try Program.beckon(arguments, environment: ["XDG_RUNTIME_DIR": folder.path])
            #expect(status.status == 0, "\(arguments): \(status.error)")
            #expect(status.output.hasPrefix("instance   kitchen\nstate      listening"), "\(status.output)")
        }
        let variable = try Program.beckon(
            ["mute"],
            environment: ["XDG_RUNTIME_DIR": folder.path, "BECKON_INSTANCE": "kitchen"]
        )
        #expect(variable.status == 0, "\(variable.error)")
        #expect(kitchen.waits { kitchen.error.contains("muted: the device is closed") })
        #expect(try ask(folder, "-i", "kitchen", "status").output.contains("muted"))
        #expect(try ask(folder, "-i", "office", "status").output.contains("listening"))
        // Programs of actions know which service started them.
        #expect(try String(decoding: folder.bytes("words"), as: UTF8.self).hasPrefix("kitchen left\n"))
        let doctor = try ask(folder, "doctor", "-i", "office")
        for line in ["instances      kitchen: muted", "instances      office: running, mic"] {
            #expect(doctor.output.contains(line), "\(doctor.output)")
        }
        #expect(office.end() == 0)
        let gone = try ask(folder, "-i", "office", "status")
        #expect(
            gone.status == 1
                && gone.error.contains("/beckon@office/control.socket; start it with systemctl start beckon@office")
        )
        #expect(kitchen.end() == 0)
    }

    @Test func `services that would disturb each other say so, in the log and in doctor`() throws {
        let folder = try TestFolder()
        let metrics = folder.file("metrics.prom")
        let one = try start("one", Self.left, "metrics: { file: '\(metrics)' }", in: folder)
        #expect(one.waits { one.error.contains("listening to mic") })
        #expect(!one.error.contains("metrics.file"))
        let two = try start("two", Self.left, "metrics: { file: '\(metrics)' }", in: folder)
        #expect(two.waits { two.error.contains("listening to mic") })
        let line = "metrics.file of the instance two and of the instance one is \(metrics); give each its own"
        #expect(two.error.contains("beckon: \(line)\n"), "\(two.error)")
        let doctor = try ask(folder, "doctor")
        #expect(doctor.output.contains("metrics.file of the instance one and of the instance two is \(metrics)\n"))
        #expect(doctor.output.contains("→ give each its own\n"))
        #expect(one.end() == 0 && two.end() == 0)
    }

    @Test(arguments: [
        (["-i", "kitchen", "listen"], 78, "the instance kitchen has no configuration at"),
        (["listen", "-i", "kitchen"], 78, "beckon -i kitchen config init writes one"),
        (["-i", "kitchen", "config", "check"], 1, "the instance kitchen has no configuration at"),
        (
            ["-i", "a/b", "status"], 2,
            "--instance takes a name such as kitchen: letters, digits, - and _, 32 at most, not 'a/b'"
        ),
        (["-i", "kitchen"], 2, "needs the name of an instance and a command, as in beckon -i kitchen status"),
        (["-i"], 2, "needs the name of an instance and a command"),
        (["-i", "kitchen", "classify", "a.wav"], 2, "classify speaks to no service, and takes no instance"),
        (["status", "-i", "a", "--socket", "/s"], 2, "--socket and --instance both name a service; give one of them"),
        (["-i", "kitchen", "status"], 1, "start it with systemctl start beckon@kitchen"),
        (["-i", "kitchen", "frobnicate"], 2, "unknown command frobnicate"),
    ])
    func `mistakes are one line`(_ arguments: [String], status: Int32, part: String) throws {
        let folder = try TestFolder()
        let program = try Program.beckon(
            arguments,
            environment: ["XDG_CONFIG_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path]
        )
        #expect(program.status == status && program.output == "", "\(program.error)")
        #expect(program.error.contains(part) && program.error.split(separator: "\n").count == 1, "\(program.error)")
    }

    @Test func `a variable that names no instance is refused`() throws {
        let program = try Program.beckon(["status"], environment: ["BECKON_INSTANCE": "../x"])
        #expect(
            program.status == 2 && program.error.contains("BECKON_INSTANCE is '../x'; it takes a name such as kitchen")
        )
    }

    @Test func `the shells know the names of instances`() throws {
        let folder = try TestFolder()
        try folder.folder("beckon")
        for name in ["kitchen", "config", "office"] {
            try folder.write("beckon/\(name).json5", bytes: Array("{}".utf8))
        }
        let program = try Program.beckon(["generate", "instances"], environment: ["XDG_CONFIG_HOME": folder.path])
        let names = program.lines.map(String.init)
        #expect(
            program.status == 0 && names.contains("kitchen") && names.contains("office") && !names.contains("config")
        )
    }

    /// The template units, with a program that exists.
    @Test(arguments: ["system", "user"])
    func `systemd accepts the units of instances`(_ kind: String) throws {
        let tool = URL(fileURLWithPath: "/usr/bin/systemd-analyze")
        guard FileManager.default.isExecutableFile(atPath: tool.path) else {
            print("systemd-analyze is not installed: the units were not checked")
            return
        }
        let folder = try TestFolder()
        let unit = try String(contentsOfFile: "\(Checkout.path)/systemd/\(kind)/beckon@.service", encoding: .utf8)
        try folder.write(
            "beckon@kitchen.service",
            bytes: Array(unit.replacing("/usr/bin/beckon", with: "/bin/true").utf8)
        )
        let program = try Program.run(
            tool,
            ["--man=no", "--\(kind)", "verify", folder.file("beckon@kitchen.service")],
            environment: ["XDG_RUNTIME_DIR": folder.path]
        )
        #expect(program.status == 0 && program.error == "", "\(program.error)")
    }

    /// An instance may do what the service without a name may, and has the same settings but for its name.
    @Test(arguments: ["system", "user"])
    func `the units of instances differ by the name alone`(_ kind: String) throws {
        func lines(_ file: String) throws -> [String] {
            let text = try String(contentsOfFile: "\(Checkout.path)/systemd/\(kind)/\(file)", encoding: .utf8)
            return text.split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
        }
        let (plain, named) = (try lines("beckon.service"), try lines("beckon@.service"))
        let different = Set(plain).symmetricDifference(named).compactMap { $0.split(separator: "=").first }
        #expect(
            Set(different).isSubset(of: [
                "Description", "ExecStart", "ExecReload", "User", "StateDirectory", "RuntimeDirectory",
            ]),
            "\(different)"
        )
        for line in named where ["StateDirectory=", "RuntimeDirectory="].contains(where: line.hasPrefix) {
            #expect(line.contains("beckon@%i"), "\(line)")
        }
    }
}
