import Core
import Glibc
import System
import Testing

struct ProcessTests {
    /// The standard output of a shell script.
    private func output(of script: String, _ change: (inout ProcessLaunch) -> Void = { _ in }) throws -> String {
        let pipe = try Pipe()
        var launch = ProcessLaunch(path: "/bin/sh", arguments: ["-c", script], environment: ["NAME=a value"])
        launch.output = .descriptor(pipe.write.rawValue)
        change(&launch)
        let pid = try spawn(launch)
        let output = pipe.keepReading()
        let bytes = try readAll(output.rawValue)
        waitpid(pid, nil, 0)
        return String(decoding: bytes, as: UTF8.self)
    }

    @Test func `a program gets its arguments, environment and folder`() throws {
        #expect(try output(of: "echo \"$0 $NAME\"; pwd") { $0.directory = "/usr" } == "/bin/sh a value\n/usr\n")
    }

    @Test func `standard input from /dev/null reads as empty`() throws {
        #expect(try output(of: "wc -c") { $0.input = .null } == "0\n")
    }

    @Test func `an isolated program leads its own process group and gets no other descriptor`() throws {
        let open = try Pipe()
        // Not closed on exec, as if a library had forgotten the flag.
        let leaked = dup(open.read.rawValue)
        defer { close(leaked) }
        // The fifth field of /proc/PID/stat is the process group.
        let script =
            "test -e /proc/self/fd/\(leaked) && echo open; read a b c d group e < /proc/$$/stat; "
            + "test $group = $$ && echo own"
        #expect(try output(of: script) { $0.isIsolated = true } == "own\n")
        #expect(try output(of: script) == "open\n")
    }

    @Test func `a program that is not there gives the system's error`() {
        let launch = ProcessLaunch(path: "/no/such/program", arguments: [], environment: [])
        let error = #expect(throws: SystemError.self) { _ = try spawn(launch) }
        #expect(error?.number == ENOENT && error?.call == "posix_spawn")
    }

    @Test func `a descriptor tells that a process has ended`() throws {
        let pid = try spawn(ProcessLaunch(path: "/bin/sleep", arguments: ["0.05"], environment: []))
        let descriptor = processDescriptor(pid)
        let isOpen = descriptor.isOpen
        #expect(isOpen)
        var requests = [Poll.request(descriptor.rawValue, POLLIN)]
        Poll.wait(&requests, until: Clock.now + .seconds(5))
        #expect(requests[0].revents != 0)
        #expect(waitpid(pid, nil, WNOHANG) == pid)
    }

    @Test func `a program of the system that takes too long is killed`() throws {
        let sleep = try #require(SystemProgram("sleep"))
        let begin = Clock.now
        #expect(try !sleep.succeeds(["60"], within: .milliseconds(50)))
        #expect(try sleep.succeeds(["0"], within: .seconds(30)))
        #expect(try !sleep.succeeds(["x"], within: .seconds(30)))
        #expect(Clock.now - begin < .seconds(25))
        #expect(SystemProgram("no-such-program-anywhere") == nil)
    }
}
