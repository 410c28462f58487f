import CSystem
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
        guard let standardInput = Pipe.make(), let standardError = Pipe.make() else { throw failure("pipe2", errno) }
        standardInput.write.setNonBlocking()
        let written = input.withUnsafeBytes { write(standardInput.write.number, $0.baseAddress, $0.count) }
        guard written == input.count else { throw failure("write", written < 0 ? errno : EMSGSIZE) }

        let pid = try spawn(input: standardInput.read.number, error: standardError.write.number)
        let watch = Descriptor(CSystem_watch(pid))
        // From here on only the child has its ends, so that it sees the end of its input, and we that of its output.
        close(standardInput)
        let output = standardError.read
        close(standardError.write)
        output.setNonBlocking()
        var supervision = Supervision(pid: pid, timeout: timeout, grace: grace, stop: stop)
        supervision.run(watch: watch.number, output: output.number, ended: ended)
    }

    private func close(_ pipe: consuming Pipe) {}

    private func close(_ end: consuming Descriptor) {}

    private func failure(_ function: String, _ number: Int32) -> ServiceError {
        .program.saying(
            "cannot start \(arguments.first ?? ""): \(function): \(SystemError.text(number)); check the path and "
                + "its permissions"
        )
    }

    private func spawn(input: Int32, error: Int32) throws(ServiceError) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, error, STDERR_FILENO)
        CSystem_closeFrom(&actions, 3)
        CSystem_changeFolder(&actions, directory)

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        sigfillset(&signals)
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setpgroup(&attributes, 0)
        // A service that captures in real time does not hand its priority on.
        var parameters = sched_param()
        posix_spawnattr_setschedpolicy(&attributes, SCHED_OTHER)
        posix_spawnattr_setschedparam(&attributes, &parameters)
        let flags =
            POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSCHEDULER
        posix_spawnattr_setflags(&attributes, Int16(flags))

        var pid = pid_t()
        let result = withCStrings(arguments) { arguments in
            withCStrings(environment) { environment in
                arguments[0].map { posix_spawn(&pid, $0, &actions, &attributes, arguments, environment) } ?? EINVAL
            }
        }
        guard result == 0 else { throw failure("posix_spawn", result) }
        return pid
    }
}
