import Core
private import Glibc

/// A program of the system.
public struct SystemProgram: Sendable {
    public let path: String

    /// Nil if no folder of `PATH` has it.
    public init?(_ name: String) {
        let folders = (OwnEnvironment.variables["PATH"] ?? "").split(separator: ":")
        let programs: [String] = folders.map { "\($0)/\(name)" }
        guard let found = programs.first(where: { access($0, X_OK) == 0 }) else { return nil }
        path = found
    }

    /// Runs it to its end, in the C locale.
    ///
    /// - Returns: its standard output; nil if it failed.
    public func output(_ arguments: [String]) -> String? {
        let environment = OwnEnvironment.variables.merging(["LC_ALL": "C"]) { $1 }
        var launch = ProcessLaunch(path: path, arguments: arguments, environment: environment.map { "\($0)=\($1)" })
        guard let pipe = try? Pipe() else { return nil }
        (launch.input, launch.output, launch.error) = (.null, .descriptor(pipe.write.rawValue), .null)
        guard let process = try? spawn(launch) else { return nil }
        // The read ends only when all writing ends are closed, so this process must close its own.
        let reader = pipe.keepReading()
        let bytes = try? readAll(reader.rawValue)
        guard let status = try? Self.status(of: process) else { return nil }
        return status == 0 ? bytes.map { String(decoding: $0, as: UTF8.self) } : nil
    }

    /// Runs it to its end, without output.
    ///
    /// - Returns: whether it ended well.
    /// - Throws: why it did not start, or could not be waited for.
    public func succeeds(
        _ arguments: [String],
        input: ProcessLaunch.Stream = .null
    ) throws(SystemError) -> Bool {
        var launch = launch(arguments)
        (launch.input, launch.output, launch.error) = (input, .null, .null)
        return try Self.status(of: try spawn(launch)) == 0
    }

    /// Runs it to its end without output, as an isolated program; one that takes longer is killed.
    ///
    /// - Returns: whether it ended well, and in time.
    /// - Throws: why it did not start, or could not be waited for.
    public func succeeds(_ arguments: [String], within time: Duration) throws(SystemError) -> Bool {
        var launch = launch(arguments)
        (launch.input, launch.output, launch.error, launch.isIsolated) = (.null, .null, .null, true)
        let process = try spawn(launch)
        let end = processDescriptor(process)
        var requests = [Poll.request(end.rawValue, POLLIN)]
        // Without such descriptors it is waited for without a limit.
        if end.isOpen {
            Poll.wait(&requests, until: Clock.now + time)
            if requests[0].revents == 0 { kill(process, SIGKILL) }
        }
        return try Self.status(of: process) == 0
    }

    private func launch(_ arguments: [String]) -> ProcessLaunch {
        let environment = OwnEnvironment.variables.map { "\($0.key)=\($0.value)" }
        return ProcessLaunch(path: path, arguments: arguments, environment: environment)
    }

    /// Waits for a program; what it ended with.
    private static func status(of process: Int32) throws(SystemError) -> Int32 {
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { guard errno == EINTR else { throw SystemError("waitpid") } }
        return status
    }
}
