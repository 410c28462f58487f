import Foundation
import Glibc
import TestSupport
import Testing

/// Commands that cannot end by themselves.
struct InterruptTests {
    @Test(arguments: ["classify", "inspect", "listen --mode spot --file"])
    func `SIGTERM ends a command in which a library does not return`(_ command: String) throws {
        let folder = try TestFolder()
        let process = Process()
        process.executableURL = Program.beckonFile
        process.arguments = command.split(separator: " ").map(String.init) + [Voices.path("Front_Left")]
        process.environment = ProcessInfo.processInfo.environment.merging([
            "LD_PRELOAD": LiveProgram.fakeSystem, "FAKE_DECODER": folder.file("opened"),
            "BECKON_WORDS": "/nonexistent/words", "XDG_CONFIG_HOME": folder.path,
        ]) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        defer { if process.isRunning { kill(process.processIdentifier, SIGKILL) } }
        #expect(comesTrue(within: 20) { access(folder.file("opened"), F_OK) == 0 })
        kill(process.processIdentifier, SIGTERM)
        #expect(comesTrue(within: 15) { !process.isRunning })
        if process.isRunning { return }
        #expect(process.terminationReason == .uncaughtSignal && process.terminationStatus == SIGTERM)
    }
}
