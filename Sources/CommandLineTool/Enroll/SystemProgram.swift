private import Glibc
import System

/// A program of the system.
struct SystemProgram {
    let path: String

    /// Nil if no folder of `PATH` has it.
    init?(_ name: String) {
        let folders = (OwnEnvironment.variables["PATH"] ?? "").split(separator: ":")
        let programs: [String] = folders.map { "\($0)/\(name)" }
        guard let found = programs.first(where: { access($0, X_OK) == 0 }) else { return nil }
        path = found
    }

    /// Runs it to its end, in the C locale.
    ///
    /// - Returns: its standard output; nil if it failed.
    func output(_ arguments: [String]) -> String? {
        let environment = OwnEnvironment.variables.merging(["LC_ALL": "C"]) { $1 }
        var launch = ProcessLaunch(path: path, arguments: arguments, environment: environment.map { "\($0)=\($1)" })
        guard let pipe = try? Pipe() else { return nil }
        (launch.input, launch.output, launch.error) = (.null, .descriptor(pipe.write.rawValue), .null)
        guard let process = try? spawn(launch) else { return nil }
        // The read ends only when all writing ends are closed, so this process must close its own.
        let reader = pipe.keepReading()
        let bytes = try? readAll(reader.rawValue)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { guard errno == EINTR else { return nil } }
        return status == 0 ? bytes.map { String(decoding: $0, as: UTF8.self) } : nil
    }

    /// Runs it to its end, without output.
    ///
    /// - Returns: whether it ended well.
    /// - Throws: why it did not start, or could not be waited for.
    func succeeds(_ arguments: [String], input: ProcessLaunch.Stream = .null) throws(SystemError) -> Bool {
        let environment = OwnEnvironment.variables.map { "\($0.key)=\($0.value)" }
        var launch = ProcessLaunch(path: path, arguments: arguments, environment: environment)
        (launch.input, launch.output, launch.error) = (input, .null, .null)
        let process = try spawn(launch)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 { guard errno == EINTR else { throw SystemError("waitpid") } }
        return status == 0
    }
}
