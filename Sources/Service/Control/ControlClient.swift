import Core
import Glibc
import JSON
import Network
import System

/// A connection to the daemon's control socket. Used by one thread.
public struct ControlClient: ~Copyable {
    private let path: String
    private let descriptor: FileDescriptor
    private var input: [UInt8] = []

    /// The path in `BECKON_SOCKET`, else the socket of the user's own service if it exists, else the system service's; where only a wake-word
    /// server runs, that one's.
    ///
    /// - Parameter systemPath: nil for that of the instance that the environment names, if it names one.
    public static func findPath(environment: [String: String], systemPath: String? = nil) -> String {
        if let path = environment["BECKON_SOCKET"], !path.isEmpty { return path }
        if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") {
            let own = "\(folder)/\(Instance.named(in: environment).unit)/control.socket"
            if fileExists(own) { return own }
        }
        let system = systemPath ?? ControlServer.systemPath(environment: environment)
        guard !fileExists(system), Instance.named(in: environment) == nil else { return system }
        return findWakeServer(environment: environment) ?? system
    }

    /// The socket of a wake-word server without a microphone, the user's or the system's; nil where there is none.
    public static func findWakeServer(environment: [String: String]) -> String? {
        let user = environment["XDG_RUNTIME_DIR"].map { ["XDG_RUNTIME_DIR": $0] } ?? [:]
        let paths = [
            ControlServer.wakeServerPath(environment: user), "/run/\(ControlServer.wakeServerUnit)/control.socket",
        ]
        return paths.compactMap { $0 }.first { fileExists($0) }
    }

    /// Connects.
    ///
    /// - Throws: ``ControlError/notRunning`` if no service listens at the path, ``ControlError/socket`` for any other
    ///   error, such as missing permission.
    public init(path: String) throws(ControlError) {
        if let connection = UnixSocket.connect(path) {
            self.init(path, connection)
            return
        }
        switch errno {
        case ENOENT, ECONNREFUSED, ENOTDIR:
            throw .notRunning.saying(
                "no service is running: nothing listens at \(path); start it with systemctl start \(Self.unit(path)), or name its "
                    + "socket with --socket"
            )
        case EACCES, EPERM:
            throw .socket.saying("\(path): permission denied; run this as root or as a member of the service's group")
        case let number:
            throw .socket.saying("cannot connect to \(path): \(SystemError.text(number))")
        }
    }

    /// The unit whose socket is at a path.
    private static func unit(_ path: String) -> String {
        let folder = path.split(separator: "/").dropLast().last ?? ""
        return folder.hasPrefix("beckon@") ? String(folder) : "beckon"
    }

    /// Apart, because where the `init` of a noncopyable type throws, Swift 6.2 releases twice what its properties have as defaults.
    private init(_ path: String, _ descriptor: consuming FileDescriptor) {
        self.path = path
        self.descriptor = descriptor
    }

    /// The user of the service; nil if the system does not say.
    public var user: UInt32? { UnixSocket.user(of: descriptor.rawValue) }

    /// Sends a command and waits for the reply.
    ///
    /// - Returns: the reply, and its line.
    /// - Throws: ``ControlError/timedOut``, ``ControlError/socket``; ``ControlError/refused`` with the service's reason.
    public mutating func ask(_ command: ControlCommand) throws(ControlError) -> (reply: ControlReply, line: String) {
        try send(command)
        guard let line = try nextLine() else {
            throw .socket.saying("\(path): the service closed the connection; try again")
        }
        let reply = try ControlReply(line: line, to: command)
        if case .failed(let reason) = reply { throw .refused.saying(reason) }
        return (reply, line)
    }

    /// Sends a command.
    ///
    /// - Parameter seconds: the timeout.
    /// - Throws: ``ControlError/timedOut``, ``ControlError/socket``.
    public mutating func send(_ command: ControlCommand, within seconds: Double = 5) throws(ControlError) {
        let deadline = Clock.now + .seconds(seconds)
        var rest = Array(command.json.line.utf8)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes {
                Glibc.send(descriptor.rawValue, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count > 0 {
                rest = rest.dropFirst(count)
            } else if errno == EAGAIN {
                try wait(POLLOUT, until: deadline)
            } else if errno == EPIPE || errno == ECONNRESET {
                // The daemon closed the connection. It sent the reason before that; nextLine(within:) returns it.
                return
            } else if errno != EINTR {
                throw .socket.saying("cannot send to \(path): \(SystemError.text(errno))")
            }
        }
    }

    /// The next line from the daemon; nil when it closed the connection.
    ///
    /// - Parameter seconds: the timeout; nil for none.
    /// - Throws: ``ControlError/timedOut``, ``ControlError/socket``.
    public mutating func nextLine(within seconds: Double? = 5) throws(ControlError) -> String? {
        let deadline = seconds.map { Clock.now + .seconds($0) }
        while true {
            if let end = input.firstIndex(of: 10) {
                defer { input.removeSubrange(...end) }
                return String(decoding: input[..<end], as: UTF8.self)
            }
            guard input.count < 1 << 20 else { throw .socket.saying("\(path): not the control socket of beckon") }
            var piece = [UInt8](repeating: 0, count: 4096)
            let count = recv(descriptor.rawValue, &piece, piece.count, 0)
            if count > 0 {
                input += piece.prefix(count)
            } else if count == 0 || errno == ECONNRESET {
                return nil
            } else if errno == EAGAIN {
                try wait(POLLIN, until: deadline)
            } else if errno != EINTR {
                throw .socket.saying("cannot read from \(path): \(SystemError.text(errno))")
            }
        }
    }

    private func wait(_ events: Int32, until deadline: Instant?) throws(ControlError) {
        var requests = [Poll.request(descriptor.rawValue, events)]
        Poll.wait(&requests, until: deadline)
        guard requests[0].revents != 0 else {
            throw .timedOut.saying("\(path): the service does not answer; see systemctl status beckon")
        }
    }
}
