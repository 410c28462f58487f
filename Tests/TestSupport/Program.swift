public import Foundation

/// Runs a program as a user would and keeps what it printed.
public struct Program {
    public let status: Int32
    public let output: String
    public let error: String

    /// Lines of standard output.
    public var lines: [Substring] { output.split(separator: "\n") }

    /// The `beckon` that was built beside the tests.
    public static var beckonFile: URL {
        URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("beckon")
    }

    /// Runs the `beckon` that was built beside the tests.
    ///
    /// - Parameters:
    ///   - input: its standard input; nil for an empty one.
    ///   - folder: the folder that it runs in; nil for that of the tests.
    ///   - interrupt: whether it gets SIGINT (Ctrl-C) after its first output.
    public static func beckon(
        _ arguments: [String],
        input: String? = nil,
        environment: [String: String] = [:],
        folder: String? = nil,
        interrupt: Bool = false
    ) throws -> Program {
        try run(beckonFile, arguments, input: input, environment: environment, folder: folder, interrupt: interrupt)
    }

    public static func run(
        _ program: URL,
        _ arguments: [String],
        input: String? = nil,
        environment: [String: String] = [:],
        folder working: String? = nil,
        interrupt: Bool = false
    ) throws -> Program {
        let folder = try TestFolder()
        for name in ["in", "out", "err"] {
            try folder.write(name, bytes: Array((name == "in" ? input ?? "" : "").utf8))
        }
        let process = Process()
        process.executableURL = program
        process.arguments = arguments
        if let working { process.currentDirectoryURL = URL(fileURLWithPath: working) }
        // The user who runs the tests may have taught words.
        let own = ["BECKON_WORDS": "/nonexistent/words"].merging(environment) { $1 }
        process.environment = ProcessInfo.processInfo.environment.merging(own) { $1 }
        // Files, not pipes: a full pipe would block the program.
        process.standardInput = try FileHandle(forReadingFrom: URL(fileURLWithPath: folder.file("in")))
        process.standardOutput = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("out")))
        process.standardError = try FileHandle(forWritingTo: URL(fileURLWithPath: folder.file("err")))
        try process.run()
        // A program that hangs is a failure; it must not stop the test run.
        let deadline = Date(timeIntervalSinceNow: 120)
        var waits = interrupt
        while process.isRunning, Date() < deadline {
            Thread.sleep(forTimeInterval: 0.01)
            if waits, try !folder.bytes("out").isEmpty || !folder.bytes("err").isEmpty {
                waits = false
                process.interrupt()
            }
        }
        if process.isRunning { kill(process.processIdentifier, SIGKILL) }
        process.waitUntilExit()
        // A trap ends the program with a signal: it must not look like an exit status.
        let status =
            process.terminationReason == .uncaughtSignal ? -process.terminationStatus : process.terminationStatus
        return Program(
            status: status,
            output: String(decoding: try folder.bytes("out"), as: UTF8.self),
            error: String(decoding: try folder.bytes("err"), as: UTF8.self)
        )
    }
}
