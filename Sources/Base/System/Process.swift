import CSystem
import Glibc

/// How a program is started, without a shell.
public struct ProcessLaunch: Sendable {
    /// What a standard stream of the program is connected to.
    public enum Stream: Equatable, Sendable {
        /// The same as in this process.
        case inherited
        /// `/dev/null`.
        case null
        case descriptor(Int32)
    }

    /// The absolute path.
    public var path: String
    /// The arguments after the program's own name.
    public var arguments: [String]
    /// `NAME=value`.
    public var environment: [String]
    /// The working directory; nil: that of this process.
    public var directory: String?
    public var input = Stream.inherited
    public var output = Stream.inherited
    public var error = Stream.inherited
    /// Whether it gets a process group of its own, default signal handling, no blocked signals, the normal scheduling
    /// policy and no descriptors except the three streams. Without this it may inherit real-time priority.
    public var isIsolated = false

    public init(path: String, arguments: [String], environment: [String]) {
        self.path = path
        self.arguments = arguments
        self.environment = environment
    }
}

/// Starts a program.
///
/// - Returns: its process ID; the caller must wait for the process (`waitpid`).
/// - Throws: the errno, if it cannot be started or does not exist.
public func spawn(_ launch: ProcessLaunch) throws(SystemError) -> Int32 {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, stream) in [launch.input, launch.output, launch.error].enumerated() {
        switch stream {
        case .inherited: break
        case .null: posix_spawn_file_actions_addopen(&actions, Int32(number), "/dev/null", O_RDWR, 0)
        case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
    }
    if launch.isIsolated { CSystem_closeFrom(&actions, 3) }
    if let directory = launch.directory { CSystem_changeFolder(&actions, directory) }

    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    if launch.isIsolated { isolate(&attributes) }

    var pid = pid_t()
    let result = withCStrings([launch.path] + launch.arguments) { arguments in
        withCStrings(launch.environment) { environment in
            posix_spawn(&pid, launch.path, &actions, &attributes, arguments, environment)
        }
    }
    guard result == 0 else { throw SystemError("posix_spawn", result) }
    return pid
}

private func isolate(_ attributes: inout posix_spawnattr_t) {
    var signals = sigset_t()
    sigemptyset(&signals)
    posix_spawnattr_setsigmask(&attributes, &signals)
    sigfillset(&signals)
    posix_spawnattr_setsigdefault(&attributes, &signals)
    posix_spawnattr_setpgroup(&attributes, 0)
    var parameters = sched_param()
    posix_spawnattr_setschedpolicy(&attributes, SCHED_OTHER)
    posix_spawnattr_setschedparam(&attributes, &parameters)
    let flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSCHEDULER
    posix_spawnattr_setflags(&attributes, Int16(flags))
}

/// A descriptor that becomes readable when a process ends (pidfd); not open where the system has none.
public func processDescriptor(_ pid: Int32) -> FileDescriptor { FileDescriptor(CSystem_watch(pid)) }

/// Runs this program again, with other arguments, and waits until it ends.
///
/// - Parameter environment: `NAME=value`.
/// - Returns: its standard output.
/// - Throws: if it cannot be started or its output cannot be read; its exit status is ignored.
public func runOwnCopy(_ arguments: [String], environment: [String]) throws(SystemError) -> [UInt8] {
    let pipe = try Pipe()
    var launch = ProcessLaunch(path: "/proc/self/exe", arguments: arguments, environment: environment)
    launch.output = .descriptor(pipe.write.rawValue)
    let pid = try spawn(launch)
    defer { while waitpid(pid, nil, 0) < 0, errno == EINTR {} }
    // The read ends only when all writing ends are closed, so this process must close its own.
    let output = pipe.keepReading()
    return try readAll(output.rawValue)
}

/// Passes the texts as C does: an array of pointers that ends with a null pointer, valid inside `body` only.
private func withCStrings<Result>(
    _ texts: [String],
    _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
    let pointers = UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>.allocate(capacity: texts.count + 1)
    for (index, text) in texts.enumerated() { pointers[index] = strdup(text) }
    pointers[texts.count] = nil
    defer {
        for index in texts.indices { free(pointers[index]) }
        pointers.deallocate()
    }
    return body(pointers)
}
