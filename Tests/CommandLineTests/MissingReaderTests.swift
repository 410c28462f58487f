import Foundation
import Glibc
import TestSupport
import Testing

/// Commands whose output nobody reads any more.
struct MissingReaderTests {
    private static let left = "/usr/share/sounds/alsa/Front_Left.wav"

    /// Reads a line, and is gone.
    private static func readLine(of pipe: Pipe) throws {
        try pipe.fileHandleForWriting.close()
        while let byte = try pipe.fileHandleForReading.read(upToCount: 1), byte != Data([10]) {}
        try pipe.fileHandleForReading.close()
    }

    @Test(arguments: [[], ["--json"]])
    func `listening to a microphone ends with its reader, at once and without a word`(_ options: [String]) throws {
        let pipe = Pipe()
        let live = try LiveProgram(playing: Self.left, options, output: pipe.fileHandleForWriting)
        try Self.readLine(of: pipe)
        #expect(live.waits(60) { live.hasEnded })
        #expect(live.end(0) == -SIGPIPE)
        #expect(!live.error.contains("dropped") && !live.error.contains("reader"), "\(live.error)")
    }

    @Test(arguments: [
        #""$0" listen --file "$1""#, #""$0" listen --json --file "$1""#,
        #"while tail -c +45 "$1"; do :; done 2> /dev/null | "$0" listen --raw 48000,1,s16 -"#,
    ])
    func `listening to a file or a stream ends with its reader`(_ command: String) throws {
        let script = "set -o pipefail; (\(command)) | head -1 > /dev/null"
        let bash = URL(fileURLWithPath: "/bin/bash")
        let longer = try TestFolder()
        let voice = try Voices.samples(at: Self.left) + [Float](repeating: 0, count: 480_000)
        let file = try longer.write("long.wav", format: 0x10002, rate: 48_000, voice + voice)
        let program = try Program.run(bash, ["-c", script, Program.beckonFile.path, file])
        #expect(program.status == 128 + SIGPIPE, "\(program.error)")
        #expect(!program.error.contains("dropped"), "\(program.error)")
    }

    @Test func `with an action it goes on, and says so once`() throws {
        let folder = try TestFolder()
        let heard = folder.file("heard")
        let tee = "{ run: ['/usr/bin/tee', '-a', '\(heard)'] }"
        let pipe = Pipe()
        let live = try LiveProgram(
            playing: Self.left,
            configuration: "{ words: { left: { threshold: 0.6, actions: [\(tee), { print: 'x' }] } } }",
            output: pipe.fileHandleForWriting
        )
        try Self.readLine(of: pipe)
        func count() -> Int { (try? folder.bytes("heard"))?.count(where: { $0 == 10 }) ?? 0 }
        #expect(live.waits(60) { live.error.contains("standard output: its reader has gone; ") })
        let before = count()
        #expect(live.waits(60) { count() >= before + 3 })
        #expect(live.end() == 0)
        #expect(
            live.error.matches(of: /its reader has gone/).count == 1 && !live.error.contains("dropped"),
            "\(live.error)"
        )
    }

    @Test(arguments: [["words"], ["classify", left], ["inspect", left], ["devices"], ["--help"], ["config", "show"]])
    func `a command whose parent ignores SIGPIPE ends with its reader all the same`(_ arguments: [String]) throws {
        let folder = try TestFolder()
        let environment = try DevicesTests.environment("pcm.mic { type fake file \"\(Self.left)\" }", in: folder)
        // The reader is gone before the command begins.
        let script = #"trap "" PIPE; exec 3> >(exec true); sleep 1; "$0" "$@" >&3"#
        let bash = URL(fileURLWithPath: "/bin/bash")
        let program = try Program.run(
            bash,
            ["-c", script, Program.beckonFile.path] + arguments,
            environment: environment
        )
        #expect(program.status == 128 + SIGPIPE, "\(arguments): \(program.error)")
    }
}
