import Glibc
import System

/// A program that an action runs: started without a shell, in a process group of its own, and seen through to its end.
///
/// It gets the input on standard input, no other descriptor, default signal dispositions and the ordinary scheduling
/// policy. What it leaves running in the background when it ends may go on until the time-out.
struct Program: Sendable {
    /// The absolute path and the arguments.
    let arguments: [String]
    let directory: String
    /// `NAME=value`.
    let environment: [String]
    /// At most 4096 bytes, as much as any pipe takes without a reader.
    let input: [UInt8]
    /// Seconds.
    let timeout: Double
    /// Seconds between asking it to end and ending it.
    var grace = 1.0

    /// Starts it and waits.
    ///
    /// - Parameters:
    ///   - stop: ends it early.
    ///   - ended: called once the program itself has ended; the group may go on.
    /// - Throws: ``ServiceError/program`` where it cannot be started.
    func run(stop: EventFD?, ended: (ProgramEnd) -> Void) throws(ServiceError) {
        do throws(SystemError) {
            let standardInput = try Pipe()
            let standardError = try Pipe()
            standardInput.write.setNonBlocking()
            let written = input.withUnsafeBytes { write(standardInput.write.rawValue, $0.baseAddress, $0.count) }
            guard written == input.count else { throw SystemError("write", written < 0 ? errno : EMSGSIZE) }

            var launch = ProcessLaunch(
                path: arguments.first ?? "",
                arguments: Array(arguments.dropFirst()),
                environment: environment
            )
            launch.directory = directory
            launch.input = .descriptor(standardInput.read.rawValue)
            launch.output = .null
            launch.error = .descriptor(standardError.write.rawValue)
            launch.isIsolated = true
            let pid = try spawn(launch)
            let watch = processDescriptor(pid)
            // From here on only the child has its ends, so that it sees the end of its input, and we that of its output.
            standardInput.close()
            let output = standardError.keepReading()
            output.setNonBlocking()
            var supervision = Supervision(pid: pid, timeout: timeout, grace: grace, stop: stop)
            supervision.run(watch: watch.rawValue, output: output.rawValue, ended: ended)
        } catch {
            throw .program.saying(
                "cannot start \(arguments.first ?? ""): \(error); check the path and its permissions"
            )
        }
    }
}
