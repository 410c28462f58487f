import Glibc

/// Runs this program once more, with other arguments, and waits for its end. Returns what it printed.
///
/// - Parameter environment: `NAME=value`.
public func runOwnCopy(_ arguments: [String], environment: [String]) throws(SystemError) -> [UInt8] {
    var ends: [Int32] = [-1, -1]
    guard pipe(&ends) == 0 else { throw SystemError("pipe") }
    defer { close(ends[0]) }
    let pid = try spawn("/proc/self/exe", arguments, environment, output: ends)
    defer { while waitpid(pid, nil, 0) < 0, errno == EINTR {} }
    return try readAll(ends[0])
}

private func spawn(
    _ path: String,
    _ arguments: [String],
    _ environment: [String],
    output: [Int32]
) throws(SystemError) -> pid_t {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_addclose(&actions, output[0])
    posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO)
    var pid = pid_t()
    let result = withCStrings([path] + arguments) { arguments in
        withCStrings(environment) { posix_spawn(&pid, path, &actions, nil, arguments, $0) }
    }
    // The end of what is printed comes when nobody is left who might print more.
    close(output[1])
    guard result == 0 else { throw SystemError("posix_spawn", result) }
    return pid
}
