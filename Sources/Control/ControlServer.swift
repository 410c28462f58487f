public import Configuration
public import Core
public import Events
import Synchronization
public import System

/// The server of the control socket: answers each command with one JSON line, and streams events to clients that ask.
///
/// The answer to `events` is the status, followed by one line for each event.
public final class ControlServer: EventSink {
    /// The result of a command.
    public enum Reply: Equatable, Sendable {
        case done
        /// An object whose members are added to the answer, such as `{"state": "muted"}`.
        case status(JSON)
        case failed(String)

        var json: JSON {
            switch self {
            case .done: return ["ok": true]
            case .status(.object(let members)): return .object([JSON.Member("ok", true)] + members)
            case .status: return ["ok": true]
            case .failed(let reason): return ["ok": false, "error": .string(reason)]
            }
        }
    }

    /// Executes commands; called on the socket's thread, and never with `events`.
    public typealias Performer = @Sendable (ControlCommand) -> Reply

    /// Shared with the socket's thread: holds the performer, which is set only when the service has started.
    private final class Handler: Sendable {
        let performer = Mutex<Performer?>(nil)

        func perform(_ command: ControlCommand) -> Reply {
            performer.withLock { $0 }?(command) ?? .failed("the service is just starting")
        }
    }

    private let server: LineServer
    private let handler: Handler

    /// Opens the socket. Commands fail until ``start(_:)`` is called.
    ///
    /// - Throws: ``ControlError/socket``.
    public init(path: String, settings: LineServer.Settings = LineServer.Settings()) throws(ControlError) {
        let handler = Handler()
        self.handler = handler
        let answer: @Sendable (String) -> LineServer.Answer = { line in
            do throws(ControlError) {
                let command = try ControlCommand(line: line)
                return command == .events ? .listen : .line("\(handler.perform(command).json)")
            } catch {
                return .line("\(Reply.failed(error.description).json)")
            }
        }
        let snapshot: @Sendable (String?) -> String = { _ in "\(handler.perform(.status).json)" }
        do throws(SocketError) {
            server = try LineServer(path: path, settings: settings, snapshot: snapshot, answer: answer)
        } catch {
            throw ControlError(error)
        }
    }

    /// Opens the socket and executes commands from the start.
    public convenience init(path: String, perform: @escaping Performer) throws(ControlError) {
        try self.init(path: path)
        start(perform)
    }

    /// Executes commands from now on. Any thread.
    public func start(_ perform: @escaping Performer) { handler.performer.withLock { $0 = perform } }

    /// Counts of clients and of misuse. Any thread.
    public var counts: LineServer.Counts { server.counts }

    /// Sends an event to all clients that asked for events.
    public func receive(_ event: DetectionEvent) { publish("\(event.json)") }

    /// Sends a line to all clients that asked for events.
    public func publish(_ line: String) { server.publish(line) }

    /// Sends the lines published so far, closes all connections and removes the socket's file.
    public func stop() { server.stop() }

    /// The path of the daemon's socket; nil for `.none`.
    ///
    /// For `.auto`: in systemd's `RUNTIME_DIRECTORY`, else in the user's `XDG_RUNTIME_DIR`, else ``systemPath``.
    public static func path(for socket: Configuration.Socket, environment: [String: String]) -> String? {
        switch socket {
        case .none: return nil
        case .path(let path): return path
        case .auto:
            // systemd separates folders by colons.
            if let folder = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first {
                return "\(folder)/control.socket"
            }
            if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") {
                return folder + "/beckon/control.socket"
            }
            return systemPath
        }
    }

    /// The path of the system service's socket.
    public static let systemPath = "/run/beckon/control.socket"
}
