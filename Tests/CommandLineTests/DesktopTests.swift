import Foundation
import TestSupport
import Testing

/// The example that controls media players, with players on a bus of their own; and the mute key of the recipe.
struct DesktopTests {
    private static let media = Checkout.path + "/Examples/media"
    private static let player = Checkout.path + "/Tests/FakePlayer/player"
    private static let tools = ["/usr/bin/dbus-daemon", "/usr/bin/busctl", "/usr/bin/python3"]

    /// Runs a script on a bus with two players: `one` with this status, and `two` with the other.
    ///
    /// `$0` is beckon, `$1` the example, `$2` and `$3` are files with what the players were asked for, `$4` and so on the arguments.
    ///
    /// - Returns: nil where a tool is not installed.
    private static func onBus(_ one: String, _ two: String, _ script: String, _ arguments: String...) throws -> (
        program: Program, one: [String], two: [String]
    )? {
        guard tools.allSatisfy(FileManager.default.isExecutableFile) else {
            print("dbus-daemon, busctl or python3 is not installed: the desktop was not tried")
            return nil
        }
        let folder = try TestFolder()
        for name in ["one", "two"] { try folder.write(name, bytes: []) }
        // A notification is kept as a line; there is nobody to show it.
        try folder.write("notify-send", bytes: Array("#!/bin/sh\necho \"$*\" >> \(folder.file("shown"))\n".utf8))
        chmod(folder.file("notify-send"), 0o755)
        // Killed with SIGKILL, as the tests' process may have blocked SIGTERM.
        let whole = """
            "\(tools[0])" --session --nofork --address="$DBUS_SESSION_BUS_ADDRESS" & bus=$!
            trap 'kill -KILL $bus $first $second' EXIT
            waited=0
            later() { waited=$((waited + 1)); [ $waited -ge 600 ] && exit 9; sleep 0.1; }
            until [ -S "${DBUS_SESSION_BUS_ADDRESS#unix:path=}" ]; do later; done
            "\(player)" one \(one) > "$2" & first=$!
            "\(player)" two \(two) > "$3" & second=$!
            until grep -q ready "$2" && grep -q ready "$3"; do later; done
            \(script)
            """
        let program = try Program.run(
            URL(fileURLWithPath: "/bin/sh"),
            ["-c", whole, Program.beckonFile.path, media, folder.file("one"), folder.file("two")] + arguments,
            environment: [
                "PATH": "\(folder.path):/usr/bin:/bin", "XDG_CONFIG_HOME": folder.path, "XDG_RUNTIME_DIR": folder.path,
                "DBUS_SESSION_BUS_ADDRESS": "unix:path=\(folder.file("bus"))",
            ]
        )
        func lines(_ name: String) throws -> [String] {
            try String(decoding: folder.bytes(name), as: UTF8.self).split(separator: "\n").dropFirst().map(String.init)
        }
        return (program, try lines("one"), try lines("two"))
    }

    @Test func `the player that plays gets each command`() throws {
        let script =
            #"for command in next pause toggle previous louder louder quieter; do sh "$1" $command || exit 1; done"#
        guard let found = try Self.onBus("Paused", "Playing", script) else { return }
        #expect(found.program.status == 0, "\(found.program.error)")
        #expect(found.one == [])
        #expect(found.two == ["Next", "Pause", "PlayPause", "Previous", "Volume 0.6", "Volume 0.7", "Volume 0.6"])
    }

    @Test func `where none plays, one that is paused goes on`() throws {
        guard let found = try Self.onBus("Stopped", "Paused", #"sh "$1" play"#) else { return }
        #expect(found.program.status == 0 && found.one == [] && found.two == ["Play"], "\(found.program.error)")
    }

    @Test func `a word that Beckon hears reaches the player`() throws {
        let folder = try TestFolder()
        let words = "{ left: { actions: [{ run: ['\(Self.media)', 'previous'], timeout: 9 }] } }"
        let config = try folder.write("config.json5", bytes: Array("{ mode: 'spot', words: \(words) }".utf8))
        let script = #""$0" listen --once --config "$4" --file "$5""#
        guard let found = try Self.onBus("Playing", "Stopped", script, config, Voices.path("Front_Left")) else {
            return
        }
        #expect(found.program.status == 0 && found.program.output == "left\n", "\(found.program.error)")
        #expect(found.one == ["Previous"] && found.two == [])
    }

    @Test(arguments: [
        ("bogus", "media: give it play, pause, toggle, stop, next, previous, louder or quieter, not 'bogus'\n"),
        ("next", "media: no bus of a session; run it as the user of the desktop\n"),
    ])
    func `mistakes are one line`(_ argument: String, says: String) throws {
        guard FileManager.default.isExecutableFile(atPath: Self.tools[1]) else { return }
        let program = try Program.run(
            URL(fileURLWithPath: "/bin/sh"),
            [Self.media, argument],
            environment: ["DBUS_SESSION_BUS_ADDRESS": "unix:path=/nonexistent", "XDG_RUNTIME_DIR": "/nonexistent"]
        )
        #expect(program.status == 1 && program.error == says, "\(program.error)")
    }

    @Test func `the key of the recipe mutes, and unmutes when it is pressed again`() throws {
        let page = try String(contentsOfFile: Checkout.path + "/docs/recipes.md", encoding: .utf8)
        let line = try #require(page.split(separator: "\n").first { $0.contains("beckon unmute || beckon mute") })
        let live = try LiveProgram(playing: Voices.path("Front_Left"))
        #expect(live.waits { live.error.contains("listening to mic") })
        func press() throws {
            let bin = try TestFolder()
            try FileManager.default.createSymbolicLink(
                atPath: bin.file("beckon"),
                withDestinationPath: Program.beckonFile.path
            )
            let program = try Program.run(
                URL(fileURLWithPath: "/bin/sh"),
                ["-c", String(line)],
                environment: ["PATH": "\(bin.path):/usr/bin:/bin", "BECKON_SOCKET": live.folder.file("control.socket")]
            )
            #expect(program.status == 0 && program.error == "", "\(program.error)")
        }
        try press()
        #expect(try live.waits { try live.status().contains("state: muted\n") })
        try press()
        #expect(try live.waits { try live.status().contains("state: running\n") })
        #expect(live.end() == 0)
    }
}
