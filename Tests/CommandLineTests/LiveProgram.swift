import Foundation
import JSON
import TestSupport

/// `beckon listen` on a fake card, in its own folder; killed when this object is released.
final class LiveProgram {
    let folder: TestFolder
    private let process = Process()

    /// - Parameters:
    ///   - voice: file that the card plays, by default in a loop.
    ///   - keys: settings of the card; `FakeCard.h` explains them.
    ///   - second: file that a second card plays; the card's name is `second`.
    ///   - configuration: text of the configuration file; nil for the defaults with the first card.
    ///   - output, error: standard output and standard error; nil for the files that ``output`` and ``error`` read.
    ///   - variables: environment variables beside ``environment``.
    ///   - fault: a fault of the card from the start.
    ///   - shell: a shell script that runs before the program, in its process.
    init(
        playing voice: String,
        _ arguments: [String] = [],
        keys: String = "loop 1",
        second: String? = nil,
        configuration: String? = nil,
        output: FileHandle? = nil,
        error: FileHandle? = nil,
        variables: [String: String] = [:],
        fault: String = "",
        shell: String? = nil
    ) throws {
        let folder = try TestFolder()
        self.folder = folder
        let library = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let card = "type fake file \"\(voice)\" control \"\(folder.file("control"))\" \(keys)"
        let other = second.map { "pcm.second { type fake file \"\($0)\" loop 1 }\n" } ?? ""
        try folder.write("control", bytes: Array(fault.utf8))
        try folder.write(
            "asound.conf",
            bytes: Array("pcm_type.fake { lib \"\(library.path)/libFakeCard.so\" }\npcm.mic { \(card) }\n\(other)".utf8)
        )
        for name in ["out", "err"] { try folder.write(name, bytes: []) }
        if let configuration { try folder.write("config.json5", bytes: Array(configuration.utf8)) }
        let beckon = library.appendingPathComponent("beckon")
        let configured = configuration == nil ? [] : ["--config", folder.file("config.json5")]
        let device = configuration?.contains("device:") == true ? [] : ["--device", "mic"]
        let words = ["listen", "--mode", "spot"] + device + configured + arguments
        process.executableURL = shell == nil ? beckon : URL(fileURLWithPath: "/bin/sh")
        process.arguments = shell.map { ["-c", "\($0); exec \"$0\" \"$@\"", beckon.path] + words } ?? words
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }.merging(variables) { $1 }
        process.standardInput = FileHandle.nullDevice
        process.standardOutput =
            try output ?? FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("out")))
        process.standardError = try error ?? FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("err")))
        try process.run()
    }

    deinit {
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
    }

    /// Environment with the fake card and without the user's configuration; the socket is `control.socket`.
    var environment: [String: String] {
        [
            "ALSA_CONFIG_PATH": folder.file("asound.conf"), "RUNTIME_DIRECTORY": folder.path,
            "XDG_CONFIG_HOME": folder.path, "BECKON_WORDS": folder.file("words"),
        ]
    }

    /// The value of `LD_PRELOAD` with the library of fake system calls, and with what the tests have preloaded themselves.
    static let fakeSystem: String = {
        let library = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
            .appendingPathComponent("libFakeSystem.so").path
        return ProcessInfo.processInfo.environment["LD_PRELOAD"].map { "\(library):\($0)" } ?? library
    }()

    /// The process's number.
    var identifier: Int32 { process.processIdentifier }

    var output: String { text("out") }
    var error: String { text("err") }

    func text(_ name: String) -> String {
        (try? folder.bytes(name)).map { String(decoding: $0, as: UTF8.self) } ?? ""
    }

    func fail(_ text: String) throws { try folder.write("control", bytes: Array(text.utf8)) }

    /// Changes a limit of the running program, an option of prlimit(1) such as `--fsize=30000`.
    func limit(_ option: String) throws {
        let tool = URL(fileURLWithPath: "/usr/bin/prlimit")
        let program = try Program.run(tool, ["--pid", "\(process.processIdentifier)", option])
        guard program.status == 0 else { throw POSIXError(.EPERM) }
    }

    /// Whether it has ended by itself.
    var hasEnded: Bool { !process.isRunning }

    func send(_ signal: Int32) { kill(process.processIdentifier, signal) }

    /// Runs a client command on the running service.
    func ask(_ arguments: String...) throws -> Program {
        try Program.beckon(arguments + ["--socket", folder.file("control.socket")])
    }

    /// All values of the service's status, one line each: `state: running`.
    func status() throws -> String {
        let program = try ask("status", "--json")
        return try JSONNode.parse(program.output).members.flatMap { Self.lines($0.node, under: $0.name) }.joined()
    }

    private static func lines(_ node: JSONNode, under name: String) -> [String] {
        switch node.value {
        case .object(let members): members.flatMap { lines($0.node, under: "\(name).\($0.name)") }
        case .array(let elements): elements.enumerated().flatMap { lines($1, under: "\(name)[\($0)]") }
        default: ["\(name): \(node.text ?? node.description)\n"]
        }
    }

    /// Waits up to `seconds` until `condition` holds, while the program runs; returns whether it holds.
    func waits(_ seconds: Double = 20, until condition: () throws -> Bool) rethrows -> Bool {
        let end = Date(timeIntervalSinceNow: seconds)
        while Date() < end, process.isRunning {
            if try condition() { return true }
            Thread.sleep(forTimeInterval: 0.02)
        }
        return try condition()
    }

    /// Sends SIGTERM; returns the exit status and the seconds until the end. A program that does not end in 10 s is
    /// killed.
    func endInTime() -> (status: Int32, seconds: Double) {
        let begun = Date()
        send(SIGTERM)
        while process.isRunning, Date().timeIntervalSince(begun) < 10 { Thread.sleep(forTimeInterval: 0.005) }
        let seconds = Date().timeIntervalSince(begun)
        return (end(SIGKILL), seconds)
    }

    /// Sends a signal, 0 for none, and waits; returns the exit status, or the negative number of the signal that killed it.
    func end(_ signal: Int32 = SIGTERM) -> Int32 {
        send(signal)
        process.waitUntilExit()
        return process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
    }
}
