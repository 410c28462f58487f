import Foundation
import TestSupport
import Testing

/// `beckon backup` and `beckon restore`, with archives that GNU tar has changed.
struct BackupTests {
    /// The folders of a user.
    private struct Home {
        let folder: TestFolder
        var environment: [String: String] {
            [
                "XDG_CONFIG_HOME": folder.file("config"), "XDG_STATE_HOME": folder.file("state"),
                "XDG_RUNTIME_DIR": folder.file("run"), "BECKON_WORDS": "", "HOME": folder.path,
            ]
        }

        init() throws {
            folder = try TestFolder()
            for name in ["config", "state", "run"] { try folder.folder(name) }
        }

        func beckon(_ arguments: [String]) throws -> Program { try Program.beckon(arguments, environment: environment) }

        /// Every file with its permissions and content.
        func tree() throws -> [String: String] {
            let names = FileManager.default.enumerator(atPath: folder.path)?.compactMap { $0 as? String } ?? []
            var tree: [String: String] = [:]
            for name in names where !name.hasSuffix(".lock") && !name.contains("/pulse") {
                var status = stat()
                guard lstat(folder.file(name), &status) == 0, status.st_mode & S_IFMT == S_IFREG else { continue }
                let sum = try folder.bytes(name).reduce(into: 5381) { $0 = $0 &* 33 &+ Int($1) }
                tree[name] = "\(String(status.st_mode & 0o777, radix: 8)) \(sum)"
            }
            return tree
        }
    }

    /// A home with two services, a taught word, a wake word and secrets; one file that is named lies elsewhere.
    private static func furnished(elsewhere: String) throws -> Home {
        let home = try Home()
        let password = home.folder.file("config/beckon/mqtt")
        try home.folder.folder("config/beckon")
        try home.folder.folder("state/beckon/wake-words/hey")
        let files = [
            (
                "config/beckon/config.json5",
                "{mqtt: {host: 'localhost', passwordFile: '\(password)', caFile: '\(elsewhere)', tls: true}}", 0o644
            ),
            ("config/beckon/kitchen.json5", "{}", 0o640), ("config/beckon/mqtt", "secret\n", 0o600),
            ("state/beckon/wake-words/hey/manifest.json", "{}", 0o644), ("state/beckon/clips.wav", "not kept", 0o600),
        ]
        for (name, text, mode) in files {
            try home.folder.write(name, bytes: Array(text.utf8))
            chmod(home.folder.file(name), mode_t(mode))
        }
        for arguments in [["web", "token"], ["-i", "kitchen", "web", "token"], ["esphome", "key"]] {
            #expect(try home.beckon(arguments).status == 0)
        }
        let takes = ["Front_Center", "Rear_Center"].map { Voices.path($0) }
        #expect(try home.beckon(["enroll", "center", "--from"] + takes).status == 0)
        return home
    }

    @Test func `a backup that is restored elsewhere has every file with its permissions, and says what lies outside`()
        throws
    {
        let folder = try TestFolder()
        let authority = try folder.write("authority ä.pem", bytes: Array("CERT".utf8))
        let home = try Self.furnished(elsewhere: authority)
        let backup = folder.file("backup.tar.gz")
        let made = try home.beckon(["backup", backup])
        #expect(
            made.status == 0 && made.error.contains("9 files (2 configurations, the taught words, 1 wake word)"),
            "\(made)"
        )
        var status = stat()
        #expect(stat(backup, &status) == 0 && status.st_mode & 0o777 == 0o600)

        let other = try Home()
        try FileManager.default.removeItem(atPath: authority)
        let restored = try other.beckon(["restore", backup])
        #expect(restored.status == 0, "\(restored)")
        #expect(restored.error.contains("\(authority), which a configuration names, is outside of Beckon's folders"))
        var tree = try other.tree()
        #expect(tree.removeValue(forKey: "config/beckon/restored/1-authority ä.pem") != nil)
        var expected = try home.tree()
        expected["state/beckon/clips.wav"] = nil
        #expect(tree == expected)
        #expect(try other.beckon(["words"]).output.contains("center"))

        // A file that is no backup is not replaced by one; an earlier backup is.
        let precious = try folder.write("precious", bytes: Array("text".utf8))
        #expect(try home.beckon(["backup", precious]).error.contains("exists and is no backup"))
        #expect(try home.beckon(["backup", backup]).status == 0)
        #expect(try Home().beckon(["backup", backup]).error.contains("there is nothing to keep"))
    }

    /// Shell commands in a folder with the files of a backup, `good.tar.gz`, that make `bad.tar.gz`.
    static let hostile: [(fault: String, script: String)] = [
        ("an absolute name", "tar czPf bad.tar.gz --transform 's,^configuration/kitchen.json5,/tmp/beckon-evil,' $ALL"),
        (
            "a name that leaves",
            "tar czPf bad.tar.gz --transform 's,^configuration/kitchen.json5,configuration/../../evil,' $ALL"
        ),
        ("an encoded slash", "mv configuration/kitchen.json5 configuration/..%2F..%2Fevil; tar czf bad.tar.gz $ALL"),
        ("an encoded NUL", "mv configuration/kitchen.json5 configuration/a%00; tar czf bad.tar.gz $ALL"),
        ("another place", "tar czf bad.tar.gz --transform 's,^configuration/,elsewhere/,' $ALL"),
        ("another file of the state", "cp beckon-backup.json state/profile; tar czf bad.tar.gz $ALL"),
        ("an instance that leaves", "tar czPf bad.tar.gz --transform 's,^state/,state@../x/,' $ALL"),
        ("another file of words", "cp beckon-backup.json words/other; tar czf bad.tar.gz $ALL"),
        ("a symbolic link", "ln -s /etc/passwd configuration/link; tar czf bad.tar.gz $ALL"),
        (
            "a file behind a link",
            "ln -s /tmp configuration/x; tar cf a.tar beckon-backup.json configuration/x; rm configuration/x; mkdir configuration/x; touch configuration/x/beckon-evil; tar rf a.tar configuration/x/beckon-evil; gzip -c a.tar > bad.tar.gz"
        ),
        ("a hard link", "ln configuration/mqtt configuration/hard; tar czf bad.tar.gz $ALL"),
        ("a pipe", "mkfifo configuration/pipe; tar czf bad.tar.gz $ALL"),
        ("a folder", "tar czf bad.tar.gz beckon-backup.json configuration"),
        ("a name twice", "tar czf bad.tar.gz $ALL configuration/mqtt"),
        (
            "a deep folder",
            "mkdir -p configuration/a/b/c/d/e/f/g/h; touch configuration/a/b/c/d/e/f/g/h/i; tar czf bad.tar.gz $ALL"
        ),
        ("a large file", "truncate -s 80M configuration/large; tar czf bad.tar.gz $ALL"),
        ("a sparse file", "truncate -s 8000G configuration/large; tar czSf bad.tar.gz $ALL"),
        ("many bytes", "for i in 1 2 3 4 5; do truncate -s 60M configuration/$i; done; tar czf bad.tar.gz $ALL"),
        ("no first file", "tar czf bad.tar.gz configuration/mqtt beckon-backup.json"),
        ("another first file", "echo '{}' > beckon-backup.json; tar czf bad.tar.gz $ALL"),
        ("a later version", "echo '{\"beckonBackup\": 2}' > beckon-backup.json; tar czf bad.tar.gz $ALL"),
        ("no compression", "tar cf bad.tar.gz $ALL"), ("a cut", "head -c -9 good.tar.gz > bad.tar.gz"),
        ("a cut in the middle", "head -c 2000 good.tar.gz > bad.tar.gz"), ("nothing", ": > bad.tar.gz"),
        ("something after it", "(cat good.tar.gz; echo x) > bad.tar.gz"),
        ("two of them", "cat good.tar.gz good.tar.gz > bad.tar.gz"),
        ("another sum", "(head -c -8 good.tar.gz; printf 'abcdefgh') > bad.tar.gz"),
        (
            "another byte",
            "cp good.tar.gz bad.tar.gz; printf '\\125\\252' | dd of=bad.tar.gz bs=1 seek=4000 conv=notrunc"
        ),
        ("a text", "echo hello > bad.tar.gz"), ("a folder in its place", "mkdir bad.tar.gz"), ("no file", ":"),
    ]

    @Test func `what is damaged or names anything else is refused on one line, and changes nothing`() throws {
        let folder = try TestFolder()
        let home = try Self.furnished(elsewhere: "/nonexistent/ca.pem")
        let good = folder.file("good.tar.gz")
        #expect(try home.beckon(["backup", good]).status == 0)
        let before = try home.tree()
        for (fault, script) in Self.hostile {
            let place = try TestFolder()
            let all = "ALL=\"beckon-backup.json $(find configuration state words -type f,l,p | sort)\"; "
            // The list is made after the files that a script adds.
            let steps = script.split(separator: ";", omittingEmptySubsequences: true).map(String.init)
            let text =
                "cp \(good) . && tar xzf good.tar.gz; \(steps.dropLast().joined(separator: ";")); \(all)\(steps.last ?? "")"
            _ = try Program.run(URL(fileURLWithPath: "/bin/sh"), ["-c", text], folder: place.path)
            let end = try home.beckon(["restore", place.file("bad.tar.gz")])
            #expect(end.status == 1 && end.output == "", "\(fault): \(end)")
            #expect(
                end.error.split(separator: "\n").count == 1 && end.error.contains("nothing was changed"),
                "\(fault): \(end.error)"
            )
            #expect(try home.tree() == before, "\(fault)")
            #expect(!FileManager.default.fileExists(atPath: "/tmp/beckon-evil"))
        }
        #expect(try home.beckon(["restore", good]).status == 0)
    }

    @Test func `a link in a folder is not followed, and nothing is changed`() throws {
        let folder = try TestFolder()
        let home = try Self.furnished(elsewhere: "/nonexistent/ca.pem")
        try home.folder.folder("config/beckon/sounds")
        try home.folder.write("config/beckon/sounds/ding", bytes: [1])
        let good = folder.file("good.tar.gz")
        #expect(try home.beckon(["backup", good]).status == 0)
        let other = try Home()
        try other.folder.folder("config/beckon")
        try FileManager.default.createSymbolicLink(
            atPath: other.folder.file("config/beckon/sounds"),
            withDestinationPath: folder.path
        )
        let end = try other.beckon(["restore", good])
        #expect(
            end.status == 1 && end.error.contains("config/beckon/sounds/ding: ")
                && end.error.contains("nothing was changed")
        )
        #expect(try other.tree() == [:] && !FileManager.default.fileExists(atPath: folder.file("ding")))
    }

    @Test func `nothing is restored into a service that runs, but by force`() throws {
        let folder = try TestFolder()
        let home = try Self.furnished(elsewhere: "/nonexistent/ca.pem")
        let good = folder.file("good.tar.gz")
        #expect(try home.beckon(["backup", good]).status == 0)
        let serve = Process()
        serve.executableURL = Program.beckonFile
        serve.arguments = ["serve", "--listen", "unix://\(folder.file("socket"))"]
        serve.environment = ProcessInfo.processInfo.environment.merging(home.environment) { $1 }
        serve.standardError = FileHandle.nullDevice
        try serve.run()
        defer { serve.terminate() }
        let socket = home.folder.file("run/beckon-serve/control.socket")
        #expect(comesTrue(within: 20) { FileManager.default.fileExists(atPath: socket) })
        let refused = try home.beckon(["restore", good])
        #expect(refused.status == 1 && refused.error.contains("runs; stop it first"), "\(refused)")
        let forced = try home.beckon(["restore", "--force", good])
        #expect(forced.status == 0 && forced.error.contains("restart it"), "\(forced)")
    }
}
