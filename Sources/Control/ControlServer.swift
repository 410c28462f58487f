public import Configuration
public import Core
public import Events
import Synchronization
public import System

/// The control socket: commands in, one JSON line back for each; and the stream of events for every client that asks for it.
///
/// One socket serves both. `events` is answered with the status, and then with one line for each event.
public final class ControlServer: EventSink {
    /// What became of a command.
    public enum Reply: Equatable, Sendable {
        case done
        /// An object whose members the answer gets, such as `{"state": "muted"}`.
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

    /// Carries commands out; called on the socket's thread, and never with `events`.
    public typealias Performer = @Sendable (ControlCommand) -> Reply

    /// Shared with the socket's thread, so that commands have somewhere to go once the service has started.
    private final class Handler: Sendable {
        let performer = Mutex<Performer?>(nil)

        func perform(_ command: ControlCommand) -> Reply {
            performer.withLock { $0 }?(command) ?? .failed("the service is just starting")
        }
    }

    private let server: LineServer
    private let handler: Handler

    /// Opens the socket. Commands fail until ``start(_:)``.
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

    /// Opens the socket and serves it at once.
    public convenience init(path: String, perform: @escaping Performer) throws(ControlError) {
        try self.init(path: path)
        start(perform)
    }

    /// From here on commands are carried out.
    public func start(_ perform: @escaping Performer) { handler.performer.withLock { $0 = perform } }

    public var counts: LineServer.Counts { server.counts }

    /// Sends an event to all clients that asked for events.
    public func receive(_ event: DetectionEvent) { publish("\(event.json)") }

    /// Sends a line to all clients that asked for events.
    public func publish(_ line: String) { server.publish(line) }

    public func stop() { server.stop() }

    /// Where the daemon makes its socket: in the folder that systemd made for it, else in the user's run-time folder.
    public static func path(for socket: Configuration.Socket, environment: [String: String]) -> String? {
        switch socket {
        case .none: return nil
        case .path(let path): return path
        case .auto:
            // systemd separates several folders by colons.
            if let folder = environment["RUNTIME_DIRECTORY"]?.split(separator: ":").first {
                return "\(folder)/control.socket"
            }
            if let folder = environment["XDG_RUNTIME_DIR"], folder.hasPrefix("/") {
                return folder + "/beckon/control.socket"
            }
            return systemPath
        }
    }

    /// Where the system's service has its socket.
    public static let systemPath = "/run/beckon/control.socket"
}
